#include "modewise/io/images/png_handle.h"

#include <cstdio>
#include <cstring>

#include "modewise/core/error.h"

namespace modewise::io {

PngHandle::PngHandle(std::span<const std::byte> bytes) : rest_(bytes) {
  png_ = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, this, on_error, on_warning, this, allocate, release);
  info_ = png_ != nullptr ? png_create_info_struct(png_) : nullptr;
  require_handles();
  png_set_read_fn(png_, this, read);
}

PngHandle::PngHandle(std::string& out) : out_(&out), writes_(true) {
  png_ =
      png_create_write_struct_2(PNG_LIBPNG_VER_STRING, this, on_error, on_warning, this, allocate, release);
  info_ = png_ != nullptr ? png_create_info_struct(png_) : nullptr;
  require_handles();
  png_set_write_fn(png_, this, write, flush);
}

PngHandle::~PngHandle() {
  destroy();
}

void PngHandle::destroy() {
  if (writes_)
    png_destroy_write_struct(&png_, &info_);
  else
    png_destroy_read_struct(&png_, &info_, nullptr);
}

void PngHandle::require_handles() {
  if (png_ != nullptr && info_ != nullptr) return;
  destroy();
  if (out_of_memory_) throw std::bad_alloc();
  fail(ErrorKind::internal, "libpng gives no handle: {}", reason_.data());
}

void PngHandle::on_error(png_structp png, const char* message) {
  auto& self = *static_cast<PngHandle*>(png_get_error_ptr(png));
  std::snprintf(self.reason_.data(), self.reason_.size(), "%s", message);
  png_longjmp(png, 1);
}

// Uses `new`, so that memory counters and limits of the program include libpng.
void* PngHandle::allocate(png_structp png, size_t size) {
  void* const block = ::operator new(size, std::nothrow);
  if (block == nullptr) static_cast<PngHandle*>(png_get_mem_ptr(png))->out_of_memory_ = true;
  return block;
}
void PngHandle::release(png_structp, void* block) {
  ::operator delete(block);
}

void PngHandle::read(png_structp png, png_bytep out, size_t size) {
  auto& self = *static_cast<PngHandle*>(png_get_io_ptr(png));
  if (size > self.rest_.size()) png_error(png, "the file ends in the middle");
  std::memcpy(out, self.rest_.data(), size);
  self.rest_ = self.rest_.subspan(size);
}

void PngHandle::write(png_structp png, png_bytep bytes, size_t size) {
  auto& self = *static_cast<PngHandle*>(png_get_io_ptr(png));
  try {
    self.out_->append(reinterpret_cast<const char*>(bytes), size);
  } catch (const std::bad_alloc&) {  // must not pass through libpng's C code
    self.out_of_memory_ = true;
  }
  if (self.out_of_memory_) png_error(png, "out of memory");
}

}  // namespace modewise::io
