#pragma once
// Instants of the tests of dates.

#include <cstdint>

#include "modewise/io/tables/date_time.h"

namespace modewise::io {

/// Seconds since 1970.
inline int64_t at(int64_t year, int month, int day, int hour = 0, int minute = 0, int second = 0) {
  return to_seconds({year, month, day, hour, minute, second});
}

}  // namespace modewise::io
