/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dpu.hpp: sets of DPUs for C++11 and later, on top of dpu.h.
 *
 * Errors are DpuError exceptions. A DpuSet that was allocated frees its DPUs when it is destroyed;
 * those of dpus() and ranks() belong to it. What async() gives does the same things behind one
 * another in the background, until its sync().
 */
#ifndef DPU_HPP
#define DPU_HPP

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "dpu.h"
#include "dpu_log.h"
#include "dpu_management.h"

namespace dpu
{

const unsigned ALLOCATE_ALL = DPU_ALLOCATE_ALL;

class DpuError : public std::exception
{
  public:
    explicit DpuError(dpu_error_t code) : code_(code)
    {
        const char *text = dpu_error_to_string(code);
        text_ = text != nullptr ? text : "unknown error";
        std::free(const_cast<char *>(text));
    }
    const char *what() const noexcept override
    {
        return text_.c_str();
    }
    dpu_error_t code() const noexcept
    {
        return code_;
    }

  private:
    dpu_error_t code_;
    std::string text_;
};

namespace detail
{
inline void check(dpu_error_t code)
{
    if (code != DPU_OK)
        throw DpuError(code);
}
} // namespace detail

/* A place in a DPU's memories; a string is looked up in the program that is loaded. */
class DpuSymbol
{
  public:
    DpuSymbol(unsigned address, unsigned size)
    {
        symbol_.address = address;
        symbol_.size = size;
    }
    explicit DpuSymbol(struct dpu_symbol_t symbol) : symbol_(symbol)
    {
    }
    struct dpu_symbol_t get() const
    {
        return symbol_;
    }

  private:
    struct dpu_symbol_t symbol_;
};

class DpuProgram
{
  public:
    explicit DpuProgram(struct dpu_program_t *program) : program_(program)
    {
    }
    DpuSymbol get(const std::string &name) const
    {
        struct dpu_symbol_t symbol;
        detail::check(dpu_get_symbol(program_, name.c_str(), &symbol));
        return DpuSymbol(symbol);
    }

  private:
    struct dpu_program_t *program_;
};

class DpuSet;
class DpuSetAsync;

using CallbackFn = std::function<void(DpuSet &, unsigned)>;

/*
 * Operations that run now or in the background.
 *
 * As with the vendor's, a size that the caller states is not compared with that of a vector: what
 * is transferred is rounded up to 8 bytes, and vectors may be shorter than that. It has to be in
 * memory that is the caller's. There may be more vectors than DPUs; the further ones are left out.
 */
class DpuSetOps
{
  public:
    /* The same data to all DPUs: copy(symbol, [offset,] data [, size in bytes]). */
    template <typename T>
    void copy(const std::string &to, unsigned offset, const std::vector<T> &from, unsigned size)
    {
        detail::check(dpu_broadcast_to(set_, to.c_str(), offset, from.data(), size, flags()));
    }
    template <typename T>
    void copy(const DpuSymbol &to, unsigned offset, const std::vector<T> &from, unsigned size)
    {
        detail::check(dpu_broadcast_to_symbol(set_, to.get(), offset, from.data(), size, flags()));
    }
    /* One vector for each DPU. */
    template <typename T>
    void copy(const std::string &to, unsigned offset, const std::vector<std::vector<T>> &from,
              unsigned size)
    {
        prepare(from);
        detail::check(dpu_push_xfer(set_, DPU_XFER_TO_DPU, to.c_str(), offset, size, flags()));
    }
    template <typename T>
    void copy(const DpuSymbol &to, unsigned offset, const std::vector<std::vector<T>> &from,
              unsigned size)
    {
        prepare(from);
        detail::check(dpu_push_xfer_symbol(set_, DPU_XFER_TO_DPU, to.get(), offset, size, flags()));
    }
    /* From each DPU to its vector: copy(data, [size in bytes,] symbol [, offset]). */
    template <typename T>
    void copy(std::vector<std::vector<T>> &to, unsigned size, const std::string &from,
              unsigned offset = 0)
    {
        prepare(to);
        detail::check(dpu_push_xfer(set_, DPU_XFER_FROM_DPU, from.c_str(), offset, size, flags()));
    }
    template <typename T>
    void copy(std::vector<std::vector<T>> &to, unsigned size, const DpuSymbol &from,
              unsigned offset = 0)
    {
        prepare(to);
        detail::check(
            dpu_push_xfer_symbol(set_, DPU_XFER_FROM_DPU, from.get(), offset, size, flags()));
    }

    template <typename T>
    void copy(const std::string &to, unsigned offset, const std::vector<T> &from)
    {
        copy(to, offset, from, bytes(from));
    }
    template <typename T>
    void copy(const DpuSymbol &to, unsigned offset, const std::vector<T> &from)
    {
        copy(to, offset, from, bytes(from));
    }
    template <typename T>
    void copy(const std::string &to, const std::vector<T> &from, unsigned size)
    {
        copy(to, 0, from, size);
    }
    template <typename T> void copy(const DpuSymbol &to, const std::vector<T> &from, unsigned size)
    {
        copy(to, 0, from, size);
    }
    template <typename T> void copy(const std::string &to, const std::vector<T> &from)
    {
        copy(to, 0, from, bytes(from));
    }
    template <typename T> void copy(const DpuSymbol &to, const std::vector<T> &from)
    {
        copy(to, 0, from, bytes(from));
    }
    template <typename T>
    void copy(std::vector<std::vector<T>> &to, const std::string &from, unsigned offset = 0)
    {
        copy(to, bytes(to), from, offset);
    }
    template <typename T>
    void copy(std::vector<std::vector<T>> &to, const DpuSymbol &from, unsigned offset = 0)
    {
        copy(to, bytes(to), from, offset);
    }

    void exec()
    {
        detail::check(dpu_launch(set_, async_ ? DPU_ASYNCHRONOUS : DPU_SYNCHRONOUS));
    }

    /* The set for functions of dpu.h. */
    struct dpu_set_t cSet() const
    {
        return set_;
    }

  protected:
    DpuSetOps(struct dpu_set_t set, bool async) : set_(set), async_(async)
    {
    }

    struct dpu_set_t set_;

  private:
    bool async_;

    dpu_xfer_flags_t flags() const
    {
        return async_ ? DPU_XFER_ASYNC : DPU_XFER_DEFAULT;
    }
    static void need(bool condition)
    {
        if (!condition)
            throw DpuError(DPU_ERR_INVALID_MEMORY_TRANSFER);
    }
    template <typename T> static unsigned bytes(const std::vector<T> &data)
    {
        return static_cast<unsigned>(data.size() * sizeof(T));
    }
    /* All the same size. */
    template <typename T> static unsigned bytes(const std::vector<std::vector<T>> &data)
    {
        need(!data.empty());
        for (const std::vector<T> &one : data)
            need(one.size() == data[0].size());
        return bytes(data[0]);
    }
    template <typename T> void prepare(const std::vector<std::vector<T>> &data)
    {
        uint32_t count = 0;
        detail::check(dpu_get_nr_dpus(set_, &count));
        need(data.size() >= count);
        struct dpu_set_t dpu;
        uint32_t index;
        DPU_FOREACH(set_, dpu, index)
        detail::check(dpu_prepare_xfer(
            dpu, const_cast<void *>(static_cast<const void *>(data[index].data()))));
    }
};

class DpuSet : public DpuSetOps
{
    friend class DpuSetAsync;

  public:
    static DpuSet allocate(unsigned count = ALLOCATE_ALL, const std::string &profile = "")
    {
        struct dpu_set_t set;
        detail::check(dpu_alloc(count, profile.c_str(), &set));
        return DpuSet(set, true);
    }
    static DpuSet allocateRanks(unsigned count = ALLOCATE_ALL, const std::string &profile = "")
    {
        struct dpu_set_t set;
        detail::check(dpu_alloc_ranks(count, profile.c_str(), &set));
        return DpuSet(set, true);
    }

    DpuSet(DpuSet &&other) noexcept
        : DpuSetOps(other), owned_(other.owned_), children_(std::move(other.children_)),
          dpus_(std::move(other.dpus_)), ranks_(std::move(other.ranks_))
    {
        other.owned_ = false;
        replace(&other);
    }
    DpuSet(const DpuSet &) = delete;
    DpuSet &operator=(const DpuSet &) = delete;
    DpuSet &operator=(DpuSet &&) = delete;
    ~DpuSet()
    {
        if (owned_)
            dpu_free(set_);
    }

    std::vector<DpuSet *> &dpus()
    {
        return dpus_;
    }
    std::vector<DpuSet *> &ranks()
    {
        return ranks_;
    }

    DpuProgram load(const std::string &path)
    {
        struct dpu_program_t *program = nullptr;
        detail::check(dpu_load(set_, path.c_str(), &program));
        return DpuProgram(program);
    }

    /* Writes what each DPU printed, after a line with its id. */
    void log(std::ostream &stream)
    {
        for (DpuSet *dpu : dpus_) {
            char *text = nullptr;
            std::size_t size = 0;
            std::FILE *file = open_memstream(&text, &size);
            if (file == nullptr)
                throw DpuError(DPU_ERR_SYSTEM);
            dpu_error_t status = dpu_log_read(dpu->set_, file);
            std::fclose(file);
            stream.write(text, static_cast<std::streamsize>(size));
            std::free(text);
            detail::check(status);
        }
    }

    DpuSetAsync async();

  private:
    bool owned_;
    std::vector<std::unique_ptr<DpuSet>> children_;
    std::vector<DpuSet *> dpus_;
    std::vector<DpuSet *> ranks_;

    DpuSet(struct dpu_set_t set, bool owned) : DpuSetOps(set, false), owned_(owned)
    {
        if (set.kind == DPU_SET_DPU) {
            dpus_.push_back(this);
            return;
        }
        struct dpu_set_t rank;
        DPU_RANK_FOREACH(set, rank)
        {
            DpuSet *of_rank = this;
            if (owned || set.list.nr_ranks != 1) {
                children_.emplace_back(new DpuSet(rank));
                of_rank = children_.back().get();
                of_rank->ranks_.push_back(of_rank);
            }
            ranks_.push_back(of_rank);
            struct dpu_set_t dpu;
            DPU_FOREACH(rank, dpu)
            {
                children_.emplace_back(new DpuSet(dpu));
                DpuSet *of_dpu = children_.back().get();
                of_dpu->dpus_.push_back(of_dpu);
                of_dpu->ranks_.push_back(of_rank);
                if (of_rank != this)
                    of_rank->dpus_.push_back(of_dpu);
                dpus_.push_back(of_dpu);
            }
        }
    }
    explicit DpuSet(struct dpu_set_t set) : DpuSetOps(set, false), owned_(false)
    {
    }
    /* After a move: where the other set was meant, this one is. */
    void replace(DpuSet *other)
    {
        std::replace(dpus_.begin(), dpus_.end(), other, this);
        std::replace(ranks_.begin(), ranks_.end(), other, this);
        for (std::unique_ptr<DpuSet> &child : children_)
            std::replace(child->ranks_.begin(), child->ranks_.end(), other, this);
    }
};

class DpuSetAsync : public DpuSetOps
{
    friend class DpuSet;

  public:
    /* Calls the function for each rank, or once for the whole set; by another thread. */
    void call(const CallbackFn &function, bool isBlocking = true, bool isSingleCall = false)
    {
        unsigned flags = DPU_CALLBACK_ASYNC;
        flags |= isBlocking ? 0u : static_cast<unsigned>(DPU_CALLBACK_NONBLOCKING);
        flags |= isSingleCall ? static_cast<unsigned>(DPU_CALLBACK_SINGLE_CALL) : 0u;
        uint32_t count = 1;
        if (!isSingleCall && set_.kind == DPU_SET_RANKS)
            detail::check(dpu_get_nr_ranks(set_, &count));
        Call *call = new Call(function, count);
        dpu_error_t status =
            dpu_callback(set_, called, call, static_cast<dpu_callback_flags_t>(flags));
        if (status != DPU_OK) {
            delete call;
            throw DpuError(status);
        }
    }

    void sync()
    {
        detail::check(dpu_sync(set_));
    }

  private:
    struct Call {
        Call(const CallbackFn &to_call, unsigned times) : function(to_call), left(times)
        {
        }
        CallbackFn function;
        std::atomic<unsigned> left;
    };

    explicit DpuSetAsync(struct dpu_set_t set) : DpuSetOps(set, true)
    {
    }

    static dpu_error_t called(struct dpu_set_t set, uint32_t index, void *argument)
    {
        Call *call = static_cast<Call *>(argument);
        dpu_error_t status = DPU_OK;
        try {
            DpuSet view(set, false);
            call->function(view, index);
        } catch (const DpuError &error) {
            status = error.code();
        } catch (...) {
            /* C cannot pass it on. */
            status = DPU_ERR_INTERNAL;
        }
        if (call->left.fetch_sub(1) == 1)
            delete call;
        return status;
    }
};

inline DpuSetAsync DpuSet::async()
{
    return DpuSetAsync(set_);
}

} // namespace dpu

#endif
