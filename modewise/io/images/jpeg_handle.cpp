#include "modewise/io/images/jpeg_handle.h"

#include <jerror.h>

#include <cstdlib>

#include "modewise/core/error.h"

namespace modewise::io {
namespace {

constexpr const char* kEnds = "the file ends in the middle";
constexpr std::array<JOCTET, 2> kEndMarker = {0xFF, JPEG_EOI};

}  // namespace

JpegErrors::JpegErrors() {
  jpeg_std_error(&manager_);
  manager_.error_exit = on_error;
  manager_.emit_message = on_message;
  manager_.output_message = on_output;
}

void JpegErrors::leave(const char* reason) {
  std::snprintf(reason_.data(), reason_.size(), "%s", reason);
  std::longjmp(jump_, 1);
}

void JpegErrors::on_error(j_common_ptr handle) {
  JpegErrors& self = of(handle);
  if (self.cause_ != nullptr) self.leave(self.cause_);
  handle->err->format_message(handle, self.reason_.data());
  std::longjmp(self.jump_, 1);
}

// Warnings have level −1, traces other levels. After some warnings the pixels are still correct.
void JpegErrors::on_message(j_common_ptr handle, int level) {
  const int code = handle->err->msg_code;
  const bool harmless = code == JWRN_EXTRANEOUS_DATA || code == JWRN_JFIF_MAJOR || code == JWRN_ADOBE_XFORM;
  if (level < 0 && !harmless) on_error(handle);
}

JpegReader::JpegReader(std::span<const std::byte> bytes, int max_scans) : max_scans_(max_scans) {
  handle_.err = &manager_;
  handle_.client_data = static_cast<JpegErrors*>(this);
  require(run([&] { jpeg_create_decompress(&handle_); }), ErrorKind::internal, "libjpeg gives no handle: {}",
          reason());
  source_.next_input_byte = reinterpret_cast<const JOCTET*>(bytes.data());
  source_.bytes_in_buffer = bytes.size();
  source_.init_source = begin;
  source_.fill_input_buffer = fill;
  source_.skip_input_data = skip;
  source_.resync_to_restart = jpeg_resync_to_restart;
  source_.term_source = end;
  handle_.src = &source_;
  progress_.progress_monitor = on_progress;
  handle_.progress = &progress_;
}

JpegReader::~JpegReader() {
  jpeg_destroy_decompress(&handle_);
}

// Arithmetic coding may end early, so that missing bytes go unnoticed there.
boolean JpegReader::fill(j_decompress_ptr handle) {
  auto& self = static_cast<JpegReader&>(of(reinterpret_cast<j_common_ptr>(handle)));
  if (self.ended_early() || !self.may_end_ || handle->arith_code) self.leave(kEnds);
  self.cause_ = kEnds;
  self.source_.next_input_byte = kEndMarker.data();
  self.source_.bytes_in_buffer = kEndMarker.size();
  return TRUE;
}

bool JpegReader::has_all_scans() const {
  for (int i = 0; i < handle_.num_components; ++i) {
    if (handle_.comp_info[i].quant_table == nullptr) return false;
    if (handle_.coef_bits != nullptr)
      for (const int missing_bits : std::span(handle_.coef_bits[i]))
        if (missing_bits != 0) return false;
  }
  return true;
}

void JpegReader::skip(j_decompress_ptr handle, long count) {
  if (count <= 0) return;
  const auto bytes = static_cast<size_t>(count);
  if (bytes > handle->src->bytes_in_buffer) of(reinterpret_cast<j_common_ptr>(handle)).leave(kEnds);
  handle->src->next_input_byte += bytes;
  handle->src->bytes_in_buffer -= bytes;
}

void JpegReader::on_progress(j_common_ptr handle) {
  auto& self = static_cast<JpegReader&>(of(handle));
  if (!handle->is_decompressor || self.handle_.input_scan_number <= self.max_scans_) return;
  std::array<char, JMSG_LENGTH_MAX> text{};
  std::snprintf(text.data(), text.size(), "it has more than %d scans", self.max_scans_);
  self.leave(text.data());
}

JpegWriter::JpegWriter() {
  handle_.err = &manager_;
  handle_.client_data = static_cast<JpegErrors*>(this);
  require(run([&] {
            jpeg_create_compress(&handle_);
            jpeg_mem_dest(&handle_, &bytes_, &size_);
          }),
          ErrorKind::internal, "libjpeg gives no handle: {}", reason());
}

JpegWriter::~JpegWriter() {
  jpeg_destroy_compress(&handle_);
  std::free(bytes_);
}

}  // namespace modewise::io
