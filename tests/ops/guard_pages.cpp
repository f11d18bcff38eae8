// An allocator of CPU tensors for tests: each tensor ends (MODEWISE_GUARD=after) or begins (before) at a page
// that cannot be accessed, so that an access beyond it ends the process with SIGSEGV. New memory is NaN.

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <string_view>
#include <unordered_map>

namespace {

class GuardPages final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return {nullptr, nullptr, &release, c10::Device(c10::kCPU)};
    const size_t inside = (bytes + page_ - 1) / page_ * page_;
    void* all = mmap(nullptr, inside + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) throw std::bad_alloc();
    std::byte* first = static_cast<std::byte*>(all) + page_;
    if (mprotect(first, inside, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    std::memset(first, 0xFF, inside);
    // The alignment is that of the number of bytes: an odd number of floats ends at the page, too.
    std::byte* data = after_ ? first + inside - bytes : first;
    const std::lock_guard lock(mutex());
    mappings()[data] = {all, inside + 2 * page_};
    return {data, data, &release, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

 private:
  struct Mapping {
    void* begin;
    size_t bytes;
  };
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  static std::unordered_map<void*, Mapping>& mappings() {
    static auto& all = *new std::unordered_map<void*, Mapping>;  // tensors may live until the process ends
    return all;
  }
  static void release(void* data) {
    if (data == nullptr) return;
    const std::lock_guard lock(mutex());
    const auto found = mappings().find(data);
    munmap(found->second.begin, found->second.bytes);
    mappings().erase(found);
  }

  const size_t page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const char* const guard_ = std::getenv("MODEWISE_GUARD");
  const bool after_ = guard_ == nullptr || std::string_view(guard_) != "before";
};

const bool installed = [] {
  static GuardPages pages;
  c10::SetCPUAllocator(&pages, /*priority=*/200);
  return true;
}();

}  // namespace
