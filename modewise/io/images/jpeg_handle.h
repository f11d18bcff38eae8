#pragma once
// RAII handles of libjpeg. Like libpng, libjpeg leaves a failed call by longjmp, which lands in `run` (see
// png_handle.h).

#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <span>

// jpeglib.h needs <cstdio> before it.
#include <jpeglib.h>

namespace modewise::io {

/// Error handling of both handles: messages become `reason`, errors land in `run`.
class JpegErrors {
 public:
  JpegErrors();
  JpegErrors(const JpegErrors&) = delete;
  JpegErrors& operator=(const JpegErrors&) = delete;

  /// libjpeg's message for the last failed call.
  const char* reason() const { return reason_.data(); }

  /// Runs `call()`; false if libjpeg failed.
  template <class Call>
  [[gnu::noinline]] bool run(const Call& call) {
    if (setjmp(jump_) != 0) return false;
    call();
    return true;
  }

  /// Fails the current libjpeg call with our own reason.
  [[noreturn]] void leave(const char* reason);
  static JpegErrors& of(j_common_ptr handle) { return *static_cast<JpegErrors*>(handle->client_data); }

 protected:
  ~JpegErrors() = default;
  jpeg_error_mgr manager_{};
  const char* cause_ = nullptr;  // the reason of all further failures; nullptr: that of libjpeg

 private:
  static void on_error(j_common_ptr handle);
  static void on_message(j_common_ptr handle, int level);
  static void on_output(j_common_ptr) {}

  std::jmp_buf jump_;
  std::array<char, JMSG_LENGTH_MAX> reason_{};
};

class JpegReader : public JpegErrors {
 public:
  /// Reads from `bytes`, which must outlive the handle. Refuses files of more than `max_scans` scans. After
  /// accept_end() a file that ends is read as if an end marker followed; decoding fails if pixels are
  /// missing.
  JpegReader(std::span<const std::byte> bytes, int max_scans);
  ~JpegReader();

  jpeg_decompress_struct* get() { return &handle_; }
  void accept_end() { may_end_ = true; }
  /// Whether the file ended without an end marker.
  bool ended_early() const { return cause_ != nullptr; }
  /// Whether all scans have been read: every component, and every bit of progressive coefficients. Only
  /// before jpeg_finish_decompress.
  bool has_all_scans() const;

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
  bool may_end_ = false;
};

/// Writes to its own memory.
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
