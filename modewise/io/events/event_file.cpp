#include "modewise/io/events/event_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include "modewise/core/claims.h"
#include "modewise/core/file.h"
#include "modewise/core/folder.h"
#include "modewise/core/output_file.h"
#include "modewise/core/system_call.h"
#include "modewise/io/events/crc32c.h"
#include "modewise/io/events/wire_writer.h"

namespace modewise::io {
namespace fs = std::filesystem;
namespace {

// Field numbers in event.proto and summary.proto.
constexpr uint32_t kEventTime = 1, kEventStep = 2, kEventVersion = 3, kEventSummary = 5, kEventSession = 7;
constexpr uint32_t kSessionStatus = 1, kSummaryValue = 1;
constexpr uint32_t kValueTag = 1, kValueNumber = 2, kValueImage = 4;
constexpr uint32_t kSummaryHeight = 1, kSummaryWidth = 2, kSummaryColors = 3, kSummaryBytes = 4;
constexpr int64_t kStart = 1, kRgb = 3;
constexpr int64_t kEndOfTimes = 10'000'000'000;  // in file names: more digits are not a time

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

WireWriter event(double time, int64_t step) {
  WireWriter out;
  out.number(kEventTime, time);
  if (step != 0) out.integer(kEventStep, step);
  return out;
}

std::string image_message(const EventImage& image) {
  WireWriter out;
  out.integer(kSummaryHeight, image.height).integer(kSummaryWidth, image.width).integer(kSummaryColors, kRgb);
  return out.bytes(kSummaryBytes, image.png).message();
}

std::string value_message(const EventValue& value) {
  WireWriter out;
  out.bytes(kValueTag, value.tag);
  if (const auto* image = std::get_if<EventImage>(&value.value))
    out.bytes(kValueImage, image_message(*image));
  else
    out.number(kValueNumber, static_cast<float>(std::get<double>(value.value)));
  return out.message();
}

/// Masked CRC, for checksums of data that contains checksums.
void append_masked_crc(std::string& out, std::string_view bytes) {
  const uint32_t crc = crc32c(bytes);
  append_little_endian(out, (crc >> 15 | crc << 17) + 0xa282ead8u, 4);
}

/// Latest time in the names of event files in `folder`; −1 if there are none.
int64_t latest_time(const fs::path& folder) {
  int64_t latest = -1;
  for (const fs::path& entry : entries_of(folder)) {
    const std::string name = entry.filename().string();
    if (!name.starts_with(kEventFilePrefix)) continue;
    int64_t time = 0;
    std::from_chars(name.data() + kEventFilePrefix.size(), name.data() + name.size(), time);
    if (time < kEndOfTimes) latest = std::max(latest, time);
  }
  return latest;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

}  // namespace

std::string tf_record(std::string_view content) {
  std::string out;
  append_little_endian(out, content.size(), 8);
  append_masked_crc(out, std::string(out));
  out += content;
  append_masked_crc(out, content);
  return out;
}

std::string version_event(double time) {
  return event(time, 0).bytes(kEventVersion, "brain.Event:2").message();
}

std::string start_event(double time, int64_t step) {
  return event(time, step)
      .bytes(kEventSession, WireWriter().integer(kSessionStatus, kStart).message())
      .message();
}

std::string summary_event(double time, int64_t step, std::span<const EventValue> values) {
  WireWriter summary;
  for (const EventValue& value : values) summary.bytes(kSummaryValue, value_message(value));
  return event(time, step).bytes(kEventSummary, summary.message()).message();
}

EventFile::EventFile(const fs::path& folder) {
  const int64_t time = std::max(static_cast<int64_t>(now()), latest_time(folder) + 1);
  path_ = folder / fmt::format("{}{:010}.{}", kEventFilePrefix, time, host_name());
  descriptor_ = open_new_file(path_, 0644);
  try {
    write(version_event(now()));
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

EventFile::~EventFile() {
  ::close(descriptor_);
}

void EventFile::write(std::string_view event) {
  require_own_claim();
  write_all(descriptor_, as_bytes(tf_record(event)), path_.native());
}

void EventFile::add_start(int64_t step) {
  write(start_event(now(), step));
}

void EventFile::add(int64_t step, std::span<const EventValue> values) {
  write(summary_event(now(), step, values));
}

void EventFile::sync() {
  sync_file(descriptor_, path_.native());
}

}  // namespace modewise::io
