#pragma once
// RAII handle of libpng. libpng leaves a failed call by longjmp, which lands in `run`: no frame with C++
// objects may lie between, so calls capture only references and numbers.

#include <png.h>

#include <array>
#include <csetjmp>
#include <cstddef>
#include <new>
#include <span>
#include <string>

namespace modewise::io {

class PngHandle {
 public:
  /// Reads from `bytes`, which must outlive the handle.
  explicit PngHandle(std::span<const std::byte> bytes);
  /// Appends to `out`.
  explicit PngHandle(std::string& out);
  ~PngHandle();
  PngHandle(const PngHandle&) = delete;
  PngHandle& operator=(const PngHandle&) = delete;

  png_structp png() const { return png_; }
  png_infop info() const { return info_; }
  /// libpng's message for the last failed call.
  const char* reason() const { return reason_.data(); }

  /// Runs `call()`; false if libpng failed. Throws std::bad_alloc if it had no memory.
  template <class Call>
  bool run(const Call& call) {
    const bool done = run_in_c(call);
    if (out_of_memory_) throw std::bad_alloc();
    return done;
  }

 private:
  template <class Call>
  [[gnu::noinline]] bool run_in_c(const Call& call) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    call();
    return true;
  }

  void require_handles();
  void destroy();
  static void on_error(png_structp png, const char* message);
  static void on_warning(png_structp, const char*) {}
  static void* allocate(png_structp, size_t size);
  static void release(png_structp, void* block);
  static void read(png_structp png, png_bytep out, size_t size);
  static void write(png_structp png, png_bytep bytes, size_t size);
  static void flush(png_structp) {}

  std::span<const std::byte> rest_;
  std::string* out_ = nullptr;
  bool writes_ = false, out_of_memory_ = false;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::array<char, 128> reason_{};
};

}  // namespace modewise::io
