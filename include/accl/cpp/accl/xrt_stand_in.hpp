/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stands in for the classes of XRT that programs for ACCL name, where XRT is not installed: devices
 * and their parts by name, and buffer objects, whose device side is memory of this process. A
 * kernel is code of an FPGA: objects for it can be made, and whoever starts it or reads its
 * registers gets a std::runtime_error.
 */
#ifndef ACCL_XRT_STAND_IN
#define ACCL_XRT_STAND_IN

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

enum xclBOSyncDirection { XCL_BO_SYNC_BO_TO_DEVICE = 0, XCL_BO_SYNC_BO_FROM_DEVICE = 1 };

namespace xrt
{

namespace stand_in
{

[[noreturn]] inline void refuse(const std::string &what)
{
    throw std::runtime_error(what + " needs an FPGA: this program was built without XRT, and calls "
                                    "of ACCL run on the engine of libaccl");
}

/* The device side of a buffer object. */
class pages
{
  public:
    virtual ~pages()
    {
    }
    virtual void write(size_t offset, const void *data, size_t bytes) = 0;
    virtual void read(size_t offset, void *data, size_t bytes) = 0;
    virtual uint64_t address() const = 0;
};

class own_pages : public pages
{
  public:
    explicit own_pages(size_t bytes) : memory_(bytes)
    {
    }
    void write(size_t offset, const void *data, size_t bytes) override
    {
        std::memcpy(memory_.data() + offset, data, bytes);
    }
    void read(size_t offset, void *data, size_t bytes) override
    {
        std::memcpy(data, memory_.data() + offset, bytes);
    }
    uint64_t address() const override
    {
        return reinterpret_cast<uintptr_t>(memory_.data());
    }

  private:
    std::vector<char> memory_;
};

struct object {
    size_t bytes;
    std::unique_ptr<void, void (*)(void *)> own; /* unless the host side is the caller's */
    char *host;
    std::shared_ptr<pages> device;
};

} // namespace stand_in

class uuid
{
  public:
    bool operator==(const uuid &) const
    {
        return true;
    }
    explicit operator bool() const
    {
        return false;
    }
    std::string to_string() const
    {
        return "00000000-0000-0000-0000-000000000000";
    }
};

class device
{
  public:
    device() = default;
    explicit device(unsigned index) : index_(static_cast<int>(index))
    {
    }
    explicit device(const std::string &bdf) : index_(0)
    {
        (void)bdf;
    }
    /* Notes the path of a bit stream, for the vendor's driver; nothing is loaded. */
    uuid load_xclbin(const std::string &path)
    {
        *xclbin_ = path;
        return uuid();
    }
    uuid get_xclbin_uuid() const
    {
        return uuid();
    }
    explicit operator bool() const
    {
        return index_ >= 0;
    }

    int index() const
    {
        return index_;
    }
    const std::string &xclbin() const
    {
        return *xclbin_;
    }

  private:
    int index_ = -1;
    std::shared_ptr<std::string> xclbin_ = std::make_shared<std::string>();
};

using memory_group = uint32_t;

class bo
{
  public:
    enum class flags : uint32_t {
        normal = 0,
        cacheable = 1u << 24,
        device_only = 1u << 28,
        host_only = 1u << 29,
        p2p = 1u << 30,
        svm = 1u << 27
    };

    bo() = default;
    bo(const device &, size_t bytes, flags kind, memory_group) : kind_(kind), bytes_(bytes)
    {
        void *host = nullptr;

        // Whole pages, as the driver gives them.
        if (posix_memalign(&host, 4096, bytes + (bytes == 0)) != 0)
            throw std::bad_alloc();
        std::memset(host, 0, bytes);
        make({host, std::free}, static_cast<char *>(host));
    }
    bo(const device &card, size_t bytes, memory_group group) : bo(card, bytes, flags::normal, group)
    {
    }
    bo(const device &, void *array, size_t bytes, flags kind, memory_group)
        : kind_(kind), bytes_(bytes)
    {
        make({nullptr, std::free}, static_cast<char *>(array));
    }
    bo(const device &card, void *array, size_t bytes, memory_group group)
        : bo(card, array, bytes, flags::normal, group)
    {
    }
    /* BYTES of PARENT from OFFSET on. */
    bo(const bo &parent, size_t bytes, size_t offset)
        : object_(parent.object_), kind_(parent.kind_), bytes_(bytes),
          offset_(parent.offset_ + offset)
    {
        parent.within(bytes, offset);
    }

    void sync(xclBOSyncDirection direction, size_t bytes, size_t offset)
    {
        within(bytes, offset);
        offset += offset_;
        if (direction == XCL_BO_SYNC_BO_TO_DEVICE)
            object_->device->write(offset, object_->host + offset, bytes);
        else
            object_->device->read(offset, object_->host + offset, bytes);
    }
    void sync(xclBOSyncDirection direction)
    {
        sync(direction, bytes_, 0);
    }
    template <typename pointer> pointer map()
    {
        return reinterpret_cast<pointer>(map());
    }
    void *map()
    {
        within(0, 0);
        return object_->host + offset_;
    }
    void write(const void *data, size_t bytes, size_t seek)
    {
        within(bytes, seek);
        std::memcpy(object_->host + offset_ + seek, data, bytes);
    }
    void write(const void *data)
    {
        write(data, bytes_, 0);
    }
    void read(void *data, size_t bytes, size_t skip)
    {
        within(bytes, skip);
        std::memcpy(data, object_->host + offset_ + skip, bytes);
    }
    void read(void *data)
    {
        read(data, bytes_, 0);
    }
    /* Device memory of SOURCE to that of this object. */
    void copy(const bo &source, size_t bytes, size_t from = 0, size_t to = 0)
    {
        source.within(bytes, from);
        within(bytes, to);
        std::vector<char> data(bytes);
        source.object_->device->read(source.offset_ + from, data.data(), bytes);
        object_->device->write(offset_ + to, data.data(), bytes);
    }
    void copy(const bo &source)
    {
        copy(source, bytes_);
    }
    size_t size() const
    {
        return bytes_;
    }
    uint64_t address() const
    {
        within(0, 0);
        return object_->device->address() + offset_;
    }
    flags get_flags() const
    {
        return kind_;
    }
    memory_group get_memory_group() const
    {
        return 0;
    }
    explicit operator bool() const
    {
        return object_ != nullptr;
    }

    std::shared_ptr<stand_in::object> get_handle() const
    {
        within(0, 0);
        return object_;
    }
    size_t get_offset() const
    {
        return offset_;
    }

  private:
    std::shared_ptr<stand_in::object> object_;
    flags kind_ = flags::normal;
    size_t bytes_ = 0, offset_ = 0;

    void make(std::unique_ptr<void, void (*)(void *)> own, char *host)
    {
        object_ = std::make_shared<stand_in::object>(stand_in::object{
            bytes_, std::move(own), host, std::make_shared<stand_in::own_pages>(bytes_)});
    }
    void within(size_t bytes, size_t offset) const
    {
        if (object_ == nullptr)
            throw std::runtime_error("xrt::bo: the object has no memory");
        if (offset > bytes_ || bytes > bytes_ - offset)
            throw std::runtime_error("xrt::bo: " + std::to_string(bytes) + " bytes at " +
                                     std::to_string(offset) + " of " + std::to_string(bytes_));
    }
};

class ip
{
  public:
    ip() = default;
    ip(const device &, const uuid &, const std::string &name) : name_(name)
    {
    }
    uint32_t read_register(uint32_t) const
    {
        stand_in::refuse("a register of " + name_);
    }
    void write_register(uint32_t, uint32_t)
    {
        stand_in::refuse("a register of " + name_);
    }

  private:
    std::string name_ = "a core";
};

class kernel;

/* A run of a kernel, which does not start. */
class run
{
  public:
    run() = default;
    explicit run(const kernel &started);
    template <typename value> void set_arg(int, value &&)
    {
    }
    void start()
    {
        stand_in::refuse("the kernel " + name_);
    }
    int wait(unsigned = 0) const
    {
        stand_in::refuse("the kernel " + name_);
    }

  private:
    std::string name_ = "of no name";
};

class kernel
{
  public:
    enum class cu_access_mode : uint8_t { exclusive = 0, shared = 1, none = 2 };

    kernel() = default;
    kernel(const device &, const uuid &, const std::string &name,
           cu_access_mode = cu_access_mode::shared)
        : name_(name)
    {
    }
    int group_id(int) const
    {
        return 0;
    }
    std::string get_name() const
    {
        return name_;
    }
    uint32_t read_register(uint32_t) const
    {
        stand_in::refuse("a register of " + name_);
    }
    void write_register(uint32_t, uint32_t)
    {
        stand_in::refuse("a register of " + name_);
    }
    template <typename... values> run operator()(values &&...)
    {
        run started(*this);
        started.start();
        return started;
    }

  private:
    std::string name_ = "of no name";
};

inline run::run(const kernel &started) : name_(started.get_name())
{
}

} // namespace xrt

#endif
