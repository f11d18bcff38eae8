#include "modewise/io/tables/time_zone.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "modewise/io/tables/date_scanner.h"
#include "modewise/io/tables/zone_names.h"

namespace modewise::io {
namespace {

/// [+-]hh[:mm[:ss]] as seconds.
bool scan_rule_time(DateScanner& scanner, int64_t& seconds) {
  const bool negative = scanner.take('-');
  if (!negative) scanner.take('+');
  seconds = 0;
  for (const int64_t unit : {3600, 60, 1}) {
    const size_t digits = scanner.digits_ahead();
    if (digits < 1 || digits > 3) return false;
    seconds += unit * scanner.number(digits);
    if (!scanner.take(':')) break;
  }
  if (negative) seconds = -seconds;
  return true;
}

bool skip_rule_name(DateScanner& scanner) {
  if (scanner.take('<')) {
    const size_t end = scanner.rest().find('>');
    if (end == std::string_view::npos) return false;
    scanner.skip(end + 1);
    return true;
  }
  const size_t letters = scanner.word().size();
  scanner.skip(letters);
  return letters >= 3;
}

bool scan_change(DateScanner& scanner, TimeZone::Rule::Change& change) {
  if (!scanner.take(',')) return false;
  const auto number = [&](int& value) {
    const size_t digits = scanner.digits_ahead();
    if (digits < 1 || digits > 3) return false;
    value = scanner.number(digits);
    return true;
  };
  if (scanner.take('M')) {
    if (!number(change.month) || !scanner.take('.') || !number(change.week) || !scanner.take('.') ||
        !number(change.day))
      return false;
    if (change.month < 1 || change.month > 12 || change.week < 1 || change.week > 5 || change.day > 6)
      return false;
  } else {
    change.kind = scanner.take('J') ? 'J' : '0';
    if (!number(change.day)) return false;
  }
  return !scanner.take('/') || scan_rule_time(scanner, change.seconds);
}

std::optional<TimeZone::Rule> read_rule(std::string_view text) {
  DateScanner scanner(text);
  TimeZone::Rule rule;
  if (!skip_rule_name(scanner) || !scan_rule_time(scanner, rule.standard)) return std::nullopt;
  rule.standard = -rule.standard;  // POSIX counts to the west
  if (scanner.done()) return rule;
  rule.has_daylight = true;
  rule.daylight = rule.standard + 3600;
  if (!skip_rule_name(scanner)) return std::nullopt;
  if (scanner.peek() != ',') {
    if (!scan_rule_time(scanner, rule.daylight)) return std::nullopt;
    rule.daylight = -rule.daylight;
  }
  if (!scan_change(scanner, rule.start) || !scan_change(scanner, rule.end) || !scanner.done())
    return std::nullopt;
  return rule;
}

/// Local seconds of a change in `year`.
int64_t change_in(int64_t year, const TimeZone::Rule::Change& change) {
  if (change.kind == 'M') {
    const int64_t first = to_seconds({year, change.month, 1});
    int day = 1 + (change.day + 7 - weekday_of(first) % 7) % 7 + 7 * (change.week - 1);
    while (day > days_in_month(year, change.month)) day -= 7;
    return first + (day - 1) * kSecondsOfDay + change.seconds;
  }
  int64_t day = change.day;
  if (change.kind == 'J' && (day < 60 || days_in_month(year, 2) == 28)) --day;
  return to_seconds({year, 1, 1}) + day * kSecondsOfDay + change.seconds;
}

int64_t big_endian(std::string_view bytes) {
  uint64_t value = static_cast<unsigned char>(bytes[0]) >= 0x80 ? ~uint64_t{0} : 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return static_cast<int64_t>(value);
}

std::string zones_folder() {
  const char* folder = std::getenv("TZDIR");
  return folder != nullptr ? folder : "/usr/share/zoneinfo";
}

}  // namespace

int64_t TimeZone::Rule::offset_at(int64_t utc_seconds) const {
  if (!has_daylight) return standard;
  const int64_t year = to_civil(utc_seconds + standard).year;
  const int64_t begins = change_in(year, start) - standard, ends = change_in(year, end) - daylight;
  const bool in_daylight = begins < ends ? utc_seconds >= begins && utc_seconds < ends
                                         : utc_seconds >= begins || utc_seconds < ends;
  return in_daylight ? daylight : standard;
}

int64_t TimeZone::offset_at(int64_t utc_seconds) const {
  if (rule_ && (transitions_.empty() || utc_seconds >= transitions_.back()))
    return rule_->offset_at(utc_seconds);
  const auto after = std::upper_bound(transitions_.begin(), transitions_.end(), utc_seconds);
  return after == transitions_.begin() ? first_offset_
                                       : offsets_[static_cast<size_t>(after - transitions_.begin() - 1)];
}

std::optional<std::pair<int64_t, int64_t>> TimeZone::to_utc(int64_t local_seconds) const {
  // The offsets in force a day before and after include those at the time.
  const int64_t before = local_seconds - offset_at(local_seconds - kSecondsOfDay);
  const int64_t after = local_seconds - offset_at(local_seconds + kSecondsOfDay);
  const bool first = to_local(before) == local_seconds, second = to_local(after) == local_seconds;
  if (!first && !second) return std::nullopt;
  const int64_t a = first ? before : after, b = second ? after : before;
  return std::pair{std::min(a, b), std::max(a, b)};
}

bool TimeZone::read_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  // Two blocks: of 32-bit times, which is skipped, and of 64-bit times; then a rule between line ends.
  constexpr size_t kHeader = 44;
  size_t at = 0;
  std::array<size_t, 6> counts{};  // UT flags, standard flags, leap seconds, transitions, types, letters
  for (const size_t width : {4, 8}) {
    if (bytes.size() < at + kHeader || bytes.compare(at, 4, "TZif") != 0 || bytes[at + 4] < '2') return false;
    for (size_t i = 0; i < counts.size(); ++i)
      counts[i] =
          static_cast<size_t>(big_endian(std::string_view(bytes).substr(at + 20 + 4 * i, 4))) & 0xFFFFFF;
    at += kHeader;
    const size_t size =
        counts[3] * (width + 1) + counts[4] * 6 + counts[5] + counts[2] * (width + 4) + counts[1] + counts[0];
    if (bytes.size() < at + size) return false;
    if (width == 4) {
      at += size;
      continue;
    }
    const std::string_view block = std::string_view(bytes).substr(at, size);
    const std::string_view types = block.substr(counts[3] * 9, counts[4] * 6);
    if (types.empty()) return false;
    first_offset_ = big_endian(types.substr(0, 4));
    for (size_t i = 0; i < counts[3]; ++i) {
      const auto type = static_cast<size_t>(static_cast<unsigned char>(block[counts[3] * 8 + i]));
      if (type >= counts[4]) return false;
      transitions_.push_back(big_endian(block.substr(8 * i, 8)));
      offsets_.push_back(big_endian(types.substr(type * 6, 4)));
    }
    at += size;
  }
  const size_t end = bytes.find('\n', at + 1);
  if (at >= bytes.size() || bytes[at] != '\n' || end == std::string::npos) return false;
  const std::string_view rule = std::string_view(bytes).substr(at + 1, end - at - 1);
  rule_ = read_rule(rule);
  return (rule_ || rule.empty()) && std::is_sorted(transitions_.begin(), transitions_.end());
}

std::shared_ptr<const TimeZone> TimeZone::find(const std::string& name) {
  auto zone = std::make_shared<TimeZone>();
  zone->name_ = name;
  DateStyle style;
  DateScanner scanner(name);
  if (!name.empty() && scan_zone(scanner, style) && scanner.done() && style.has_offset) {
    zone->first_offset_ = int64_t{style.offset_minutes} * 60;
    return zone;
  }
  if (name.empty() || name.find("..") != std::string::npos || name.front() == '/') return nullptr;
  if (!zone->read_file(zones_folder() + "/" + name)) return nullptr;
  return zone;
}

}  // namespace modewise::io
