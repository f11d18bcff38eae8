// Loaded with LD_PRELOAD: counts the allocations of the process, not of its children, by `new` and of
// tensors, in the 8 bytes of the file $FAULTS_ALLOCATIONS. Number $FAULTS_FAILS of them fails, if that is
// set. An exception that nothing catches prints the calls.
#include <execinfo.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <new>

namespace {

using Counter = std::atomic<int64_t>;

Counter* open_counter() {
  const char* path = getenv("FAULTS_ALLOCATIONS");
  const int file = path == nullptr ? -1 : open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  unsetenv("FAULTS_ALLOCATIONS");
  void* const memory = mmap(nullptr, sizeof(Counter), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<Counter*>(memory);
}

bool fails() {
  static Counter* const counter = open_counter();
  static const char* const number = getenv("FAULTS_FAILS");
  static const int64_t failing = number == nullptr ? -1 : atoll(number);
  return counter != nullptr && ++*counter == failing;
}

void* allocate(size_t size) {
  return fails() ? nullptr : malloc(size == 0 ? 1 : size);
}

void* allocate(size_t size, std::align_val_t alignment) {
  const size_t unit = static_cast<size_t>(alignment);
  return fails() ? nullptr : aligned_alloc(unit, (size + unit - 1) / unit * unit);
}

void* or_throw(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void print_calls() {
  void* calls[64];
  backtrace_symbols_fd(calls, backtrace(calls, 64), STDERR_FILENO);
  abort();
}

const std::terminate_handler before = std::set_terminate(print_calls);

}  // namespace

void* operator new(size_t size) {
  return or_throw(allocate(size));
}
void* operator new[](size_t size) {
  return or_throw(allocate(size));
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return allocate(size);
}
void* operator new[](size_t size, const std::nothrow_t&) noexcept {
  return allocate(size);
}
void* operator new(size_t size, std::align_val_t alignment) {
  return or_throw(allocate(size, alignment));
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return or_throw(allocate(size, alignment));
}
void operator delete(void* memory) noexcept {
  free(memory);
}
void operator delete[](void* memory) noexcept {
  free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  free(memory);
}
void operator delete[](void* memory, size_t) noexcept {
  free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  free(memory);
}
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  free(memory);
}
void operator delete[](void* memory, size_t, std::align_val_t) noexcept {
  free(memory);
}

// The storage of CPU tensors.
extern "C" void* memalign(size_t, size_t);
extern "C" int posix_memalign(void** memory, size_t alignment, size_t size) noexcept {
  *memory = fails() ? nullptr : memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}
