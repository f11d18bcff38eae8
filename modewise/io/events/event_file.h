#pragma once
// TensorBoard's event files: TFRecords, each an Event of its event.proto and summary.proto. A record is the
// length of its content (8 bytes, little-endian), the masked CRC-32C of those bytes, the content, and its
// masked CRC-32C.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace modewise::io {

struct EventImage {
  int64_t width = 0, height = 0;
  std::string png;
};

/// A value of a summary: `tag` is its name, whose part before the first '/' is its group.
struct EventValue {
  std::string tag;
  std::variant<double, EventImage> value;  // a number is kept as float32
};

/// `content` as a TFRecord.
std::string tf_record(std::string_view content);

// Events as bytes; `time` is in seconds since 1970.
/// What a file begins with.
std::string version_event(double time);
/// A start that makes what earlier files hold of `step` and later steps worthless.
std::string start_event(double time, int64_t step);
std::string summary_event(double time, int64_t step, std::span<const EventValue> values);

/// A file that TensorBoard may read while it grows: each event reaches it as a whole, by one write.
class EventFile {
 public:
  /// Makes events.out.tfevents.TIME.HOST in `folder`, whose name comes after those of the event files that
  /// are there: TensorBoard reads them in this order. cannot_create or io errors with the system's reason.
  explicit EventFile(const std::filesystem::path& folder);
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  void add_start(int64_t step);
  void add(int64_t step, std::span<const EventValue> values);
  /// Makes the events durable.
  void sync();
  const std::filesystem::path& path() const { return path_; }

 private:
  void write(std::string_view event);

  std::filesystem::path path_;
  int descriptor_ = -1;
};

/// What the names of event files begin with.
inline constexpr std::string_view kEventFilePrefix = "events.out.tfevents.";

}  // namespace modewise::io
