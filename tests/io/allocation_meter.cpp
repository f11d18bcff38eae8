#include "tests/io/allocation_meter.h"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

bool measuring = false, failing = false, failed = false;  // one thread at a time
int64_t allocated = 0, max_allocated = 0, successes_left = 0;

void* allocate(size_t size) {
  if (failing && successes_left-- <= 0) {
    failing = false;
    failed = true;
    throw std::bad_alloc();
  }
  void* block = std::malloc(size == 0 ? 1 : size);
  if (block == nullptr) throw std::bad_alloc();
  if (measuring) {
    allocated += static_cast<int64_t>(malloc_usable_size(block));
    max_allocated = std::max(max_allocated, allocated);
  }
  return block;
}

void* allocate_or_null(size_t size) noexcept {
  try {
    return allocate(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void release(void* block) {
  if (measuring && block != nullptr) allocated -= static_cast<int64_t>(malloc_usable_size(block));
  std::free(block);
}

}  // namespace

void* operator new(size_t size) {
  return allocate(size);
}
void* operator new[](size_t size) {
  return allocate(size);
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return allocate_or_null(size);
}
void* operator new[](size_t size, const std::nothrow_t&) noexcept {
  return allocate_or_null(size);
}
void operator delete(void* block) noexcept {
  release(block);
}
void operator delete[](void* block) noexcept {
  release(block);
}
void operator delete(void* block, size_t) noexcept {
  release(block);
}
void operator delete[](void* block, size_t) noexcept {
  release(block);
}

namespace modewise::io {

AllocationMeter::AllocationMeter() {
  allocated = max_allocated = 0;
  measuring = true;
}
AllocationMeter::~AllocationMeter() {
  measuring = false;
}
int64_t AllocationMeter::peak() const {
  return max_allocated;
}

AllocationFailure::AllocationFailure(int64_t successes) {
  successes_left = successes;
  failed = false;
  failing = true;
}
AllocationFailure::~AllocationFailure() {
  failing = false;
}
bool AllocationFailure::happened() const {
  return failed;
}

}  // namespace modewise::io
