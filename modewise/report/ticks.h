#pragma once
// Axis ticks with labels: multiples of 1, 2 or 5 times a power of ten; powers of ten on a logarithmic axis;
// whole minutes, hours, days, months or years on a date axis.

#include <string>
#include <vector>

namespace modewise::report {

struct Tick {
  double position = 0;
  std::string label;
  std::string context;  // second line: the day or the year, if it changes; else empty
};

/// Ticks inside [low, high], about `count` of them; at least one, for any finite low <= high.
std::vector<Tick> number_ticks(double low, double high, int count);
/// low > 0. Powers of ten, thinned to about `count`; 1-2-5 ticks if fewer than two powers lie inside.
std::vector<Tick> log_ticks(double low, double high, int count);
/// Seconds since 1970-01-01T00:00:00, no time zone.
std::vector<Tick> date_ticks(double low, double high, int count);

/// Number format of figures: `digits` significant digits but all integer digits, U+2212 as the minus sign,
/// 1.2×10⁶ from a million on and below a ten-thousandth; "–" if not finite.
std::string number_label(double value, int digits = 3);

}  // namespace modewise::report
