/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arithmetic configurations: which types are combined, and which ones convert into each other. Here
 * they only say which pairs a program allows; the engine knows its arithmetic.
 */
#ifndef ACCL_CPP_ARITHCONFIG_HPP
#define ACCL_CPP_ARITHCONFIG_HPP

#include <map>
#include <utility>
#include <vector>

#include "errors.hpp"

namespace ACCL
{

class ArithConfig
{
  public:
    const unsigned int uncompressed_elem_bytes;
    const unsigned int compressed_elem_bytes;
    const unsigned int elem_ratio_log;
    const unsigned int compressor_tdest;
    const unsigned int decompressor_tdest;
    const bool arith_is_compressed;
    const std::vector<unsigned int> arith_tdest;

    /* Bytes of an element of both types, logarithm of elements per element, numbers of the plugins
     * that convert, whether arithmetic is on compressed elements, and numbers of its functions. */
    ArithConfig(unsigned int uncompressed, unsigned int compressed, unsigned int ratio_log,
                unsigned int compressor, unsigned int decompressor, bool is_compressed,
                std::vector<unsigned int> functions)
        : uncompressed_elem_bytes(uncompressed), compressed_elem_bytes(compressed),
          elem_ratio_log(ratio_log), compressor_tdest(compressor), decompressor_tdest(decompressor),
          arith_is_compressed(is_compressed), arith_tdest(std::move(functions))
    {
    }
    void set_exchmem(addr_t address)
    {
        address_ = address;
        is_set_ = true;
    }
    /* Returns its address in exchange memory. */
    addr_t addr() const
    {
        if (!is_set_)
            detail::fail(ACCL_NOT_READY, "the arithmetic configuration is not in exchange memory: "
                                         "only kernels of an FPGA look for it there");
        return address_;
    }

  private:
    addr_t address_ = 0;
    bool is_set_ = false;
};

/* By type of the elements, and type that they are sent as. */
typedef std::map<std::pair<dataType, dataType>, ArithConfig> arithConfigMap;

const arithConfigMap DEFAULT_ARITH_CONFIG = {
    {{dataType::float16, dataType::float16}, {2, 2, 0, 0, 0, false, {4, 9}}},
    {{dataType::float32, dataType::float16}, {4, 2, 0, 0, 1, true, {4, 9}}},
    {{dataType::float32, dataType::float32}, {4, 4, 0, 0, 0, false, {0, 5}}},
    {{dataType::float64, dataType::float64}, {8, 8, 0, 0, 0, false, {1, 6}}},
    {{dataType::int32, dataType::int32}, {4, 4, 0, 0, 0, false, {2, 7}}},
    {{dataType::int64, dataType::int64}, {8, 8, 0, 0, 0, false, {3, 8}}},
};

} // namespace ACCL

#endif
