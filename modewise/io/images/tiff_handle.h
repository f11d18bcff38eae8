#pragma once
// RAII handle of libtiff that captures its messages: nothing goes to stderr, and the first error becomes part
// of ours.

#include <tiffio.h>

#include <exception>
#include <string>

#include "modewise/io/byte_source.h"

namespace modewise::io {

class TiffHandle {
 public:
  /// Opens the first directory of `bytes`, which must outlive the handle, for reading.
  TiffHandle(const ByteSource& bytes, const std::string& source);
  /// Opens `descriptor`, which the caller keeps, for writing; `big`: BigTIFF.
  TiffHandle(int descriptor, const std::string& source, bool big);
  ~TiffHandle();
  TiffHandle(const TiffHandle&) = delete;
  TiffHandle& operator=(const TiffHandle&) = delete;

  TIFF* get() const { return tiff_; }
  /// Rethrows an exception from reading or writing the file, if any; otherwise returns and clears libtiff's
  /// error, or "no reason given".
  std::string reason();

 private:
  static int remember(TIFF*, void* handle, const char* module, const char* format, va_list arguments);
  static tmsize_t read(thandle_t handle, void* buffer, tmsize_t size);
  static toff_t seek(thandle_t handle, toff_t offset, int whence);
  static toff_t size(thandle_t handle);
  static tmsize_t write(thandle_t handle, void* buffer, tmsize_t size);

  /// Runs `action`. An exception must not pass through libtiff's C code: it is kept for reason().
  template <class Action>
  bool succeeds(const Action& action) {
    try {
      action();
      return true;
    } catch (...) {
      if (failure_ == nullptr) failure_ = std::current_exception();
      return false;
    }
  }

  const ByteSource* bytes_ = nullptr;  // of reading, with its position
  uint64_t position_ = 0;
  int descriptor_ = -1;  // of writing
  std::string source_;
  std::string message_;
  std::exception_ptr failure_;
  TIFF* tiff_ = nullptr;
};

}  // namespace modewise::io
