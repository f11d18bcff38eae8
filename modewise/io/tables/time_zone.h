#pragma once
// Time zones: UTC offsets over time, from the system's database (TZif files, RFC 8536) or a fixed offset.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace modewise::io {

class TimeZone {
 public:
  /// `name`: an IANA name (Europe/Berlin), an abbreviation with a fixed offset (CET) or an offset (+01:00).
  /// Null for an unknown name, or if the system has no time zones (/usr/share/zoneinfo, or the folder in the
  /// environment variable TZDIR). Throws nothing.
  static std::shared_ptr<const TimeZone> find(const std::string& name);

  const std::string& name() const { return name_; }
  int64_t offset_at(int64_t utc_seconds) const;
  int64_t to_local(int64_t utc_seconds) const { return utc_seconds + offset_at(utc_seconds); }

  /// The UTC times of a local time: two, in order, in the hour that is repeated at the end of daylight
  /// saving; none (nullopt) in the hour that is left out at its beginning.
  std::optional<std::pair<int64_t, int64_t>> to_utc(int64_t local_seconds) const;

  /// A rule of yearly transitions in POSIX form: CET-1CEST,M3.5.0,M10.5.0/3.
  struct Rule {
    int64_t standard = 0, daylight = 0;  // offsets
    bool has_daylight = false;
    struct Change {
      char kind = 'M';  // M: month, week, weekday; J: day 1 to 365 without February 29; 0: day 0 to 365
      int month = 0, week = 0, day = 0;
      int64_t seconds = 7200;  // local time
    } start, end;
    int64_t offset_at(int64_t utc_seconds) const;
  };

 private:
  bool read_file(const std::string& path);

  std::string name_;
  std::vector<int64_t> transitions_;  // UTC seconds
  std::vector<int64_t> offsets_;      // after each transition
  int64_t first_offset_ = 0;          // before the first
  std::optional<Rule> rule_;          // after the last
};

}  // namespace modewise::io
