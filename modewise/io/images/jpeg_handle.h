#pragma once
// libjpeg's handles. As libpng, libjpeg leaves a failed call by longjmp, and `run` is where it lands (see
// png_handle.h).

#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <span>

// It needs the names of <cstdio> before it.
#include <jpeglib.h>

namespace modewise::io {

/// What both handles share: messages become `reason`, and errors land in `run`.
class JpegErrors {
 public:
  JpegErrors();
  JpegErrors(const JpegErrors&) = delete;
  JpegErrors& operator=(const JpegErrors&) = delete;

  /// Why the last call failed, as libjpeg puts it.
  const char* reason() const { return reason_.data(); }

  /// Whether `call()` came to its end.
  template <class Call>
  [[gnu::noinline]] bool run(const Call& call) {
    if (setjmp(jump_) != 0) return false;
    call();
    return true;
  }

  /// Leaves libjpeg with a reason of ours.
  [[noreturn]] void leave(const char* reason);
  static JpegErrors& of(j_common_ptr handle) { return *static_cast<JpegErrors*>(handle->client_data); }

 protected:
  ~JpegErrors() = default;
  jpeg_error_mgr manager_{};

 private:
  static void on_error(j_common_ptr handle);
  static void on_message(j_common_ptr handle, int level);
  static void on_output(j_common_ptr) {}

  std::jmp_buf jump_;
  std::array<char, JMSG_LENGTH_MAX> reason_{};
};

class JpegReader : public JpegErrors {
 public:
  /// Reads from `bytes`, which must outlive the handle. Refuses files of more than `most_scans` scans.
  JpegReader(std::span<const std::byte> bytes, int max_scans);
  ~JpegReader();

  jpeg_decompress_struct* get() { return &handle_; }

 private:
  static void begin(j_decompress_ptr) {}
  static boolean fill(j_decompress_ptr handle);
  static void skip(j_decompress_ptr handle, long count);
  static void end(j_decompress_ptr) {}
  static void on_progress(j_common_ptr handle);

  jpeg_decompress_struct handle_{};
  jpeg_source_mgr source_{};
  jpeg_progress_mgr progress_{};
  int max_scans_;
};

/// Writes to memory of its own.
class JpegWriter : public JpegErrors {
 public:
  JpegWriter();
  ~JpegWriter();

  jpeg_compress_struct* get() { return &handle_; }
  std::span<const unsigned char> bytes() const { return {bytes_, size_}; }

 private:
  jpeg_compress_struct handle_{};
  unsigned char* bytes_ = nullptr;
  unsigned long size_ = 0;
};

}  // namespace modewise::io
