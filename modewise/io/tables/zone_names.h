#pragma once
// Abbreviations of time zones with a fixed UTC offset.

#include <string_view>

namespace modewise::io {

struct ZoneName {
  std::string_view name;
  int offset_minutes = 0;
  bool guessed = false;  // the name is used for other zones, too
};

/// nullptr: an unknown name.
const ZoneName* find_zone_name(std::string_view name);

}  // namespace modewise::io
