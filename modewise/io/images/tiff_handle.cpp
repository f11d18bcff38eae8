#include "modewise/io/images/tiff_handle.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/core/output_file.h"
#include "modewise/core/system_call.h"

namespace modewise::io {
namespace {

struct FreeOptions {
  void operator()(TIFFOpenOptions* options) const { TIFFOpenOptionsFree(options); }
};
using Options = std::unique_ptr<TIFFOpenOptions, FreeOptions>;

Options make_options() {
  // Nothing is printed: errors go to their handle, except some from before it is set up; warnings are
  // dropped.
  static const bool silenced = [] {
    TIFFSetErrorHandler(nullptr);
    TIFFSetWarningHandler(nullptr);
    return true;
  }();
  static_cast<void>(silenced);
  Options options(TIFFOpenOptionsAlloc());
  require(options != nullptr, ErrorKind::internal, "libtiff gives no options");
  return options;
}

}  // namespace

TiffHandle::TiffHandle(const ByteSource& bytes, const std::string& source) : bytes_(&bytes), source_(source) {
  const Options options = make_options();
  // libtiff's allocations are parts of the file or blocks of at most 64 MiB.
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(),
                                      static_cast<tmsize_t>(2 * bytes.size() + (uint64_t{64} << 20)));
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), remember, this);
  const auto write = [](thandle_t, void*, tmsize_t) -> tmsize_t { return -1; };
  const auto close = [](thandle_t) { return 0; };
  // m: no mapping; c: strips as in the file; D and O: tables of blocks are read on demand.
  tiff_ = TIFFClientOpenExt(source.c_str(), "rmcDO", this, read, write, seek, close, size, nullptr, nullptr,
                            options.get());
  require(tiff_ != nullptr, ErrorKind::data, "{}: the TIFF image cannot be opened: {}", source, reason());
}

TiffHandle::TiffHandle(int descriptor, const std::string& source, bool big)
    : descriptor_(descriptor), source_(source) {
  const Options options = make_options();
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), remember, this);
  const auto read = [](thandle_t, void*, tmsize_t) -> tmsize_t { return -1; };
  const auto seek = [](thandle_t handle, toff_t offset, int whence) {
    auto& self = *static_cast<TiffHandle*>(handle);
    const off_t place = lseek(self.descriptor_, static_cast<off_t>(offset), whence);
    self.succeeds([&] { require_call(place >= 0, ErrorKind::io, "cannot write", self.source_); });
    return static_cast<toff_t>(place);
  };
  const auto size = [](thandle_t handle) {
    struct stat status {};
    fstat(static_cast<TiffHandle*>(handle)->descriptor_, &status);
    return static_cast<toff_t>(status.st_size);
  };
  const auto close = [](thandle_t) { return 0; };
  tiff_ = TIFFClientOpenExt(source.c_str(), big ? "w8m" : "wm", this, read, write, seek, close, size, nullptr,
                            nullptr, options.get());
  require(tiff_ != nullptr, ErrorKind::io, "cannot write {}: {}", source, reason());
}

TiffHandle::~TiffHandle() {
  if (tiff_ != nullptr) TIFFCleanup(tiff_);  // leaves descriptors open
}

std::string TiffHandle::reason() {
  if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
  return message_.empty() ? "no reason given" : std::exchange(message_, {});
}

int TiffHandle::remember(TIFF*, void* handle, const char*, const char* format, va_list arguments) {
  auto& self = *static_cast<TiffHandle*>(handle);
  std::array<char, 512> text{};
  std::vsnprintf(text.data(), text.size(), format, arguments);
  self.succeeds([&] {
    // The first error names the cause; others follow from it.
    if (self.message_.empty()) self.message_ = text.data();
    while (!self.message_.empty() && (self.message_.back() == '.' || self.message_.back() == '\n')) {
      self.message_.pop_back();
    }
  });
  return 1;
}

tmsize_t TiffHandle::read(thandle_t handle, void* buffer, tmsize_t size) {
  auto& self = *static_cast<TiffHandle*>(handle);
  const std::span out(static_cast<std::byte*>(buffer), static_cast<size_t>(std::max<tmsize_t>(size, 0)));
  tmsize_t count = -1;
  self.succeeds([&] { count = static_cast<tmsize_t>(self.bytes_->read(self.position_, out)); });
  self.position_ += static_cast<uint64_t>(std::max<tmsize_t>(count, 0));
  return count;
}

tmsize_t TiffHandle::write(thandle_t handle, void* buffer, tmsize_t size) {
  auto& self = *static_cast<TiffHandle*>(handle);
  const std::span bytes(static_cast<const std::byte*>(buffer), static_cast<size_t>(size));
  return self.succeeds([&] { write_all(self.descriptor_, bytes, self.source_); }) ? size : -1;
}

toff_t TiffHandle::seek(thandle_t handle, toff_t offset, int whence) {
  auto& self = *static_cast<TiffHandle*>(handle);
  const uint64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? self.position_ : self.bytes_->size();
  self.position_ = base + offset;
  return self.position_;
}

toff_t TiffHandle::size(thandle_t handle) {
  return static_cast<TiffHandle*>(handle)->bytes_->size();
}

}  // namespace modewise::io
