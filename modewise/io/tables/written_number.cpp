#include "modewise/io/tables/written_number.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "modewise/io/ascii.h"
#include "modewise/io/number_text.h"

namespace modewise::io {
namespace {

constexpr size_t kLongest = 64;  // bytes of a number

constexpr std::string_view kSpaces[] = {" ", "\t", "\u00A0", "\u202F", "\u2009"};
constexpr std::string_view kMinuses[] = {"\u2212", "\uFE63", "\uFF0D", "\u2013"};
// Longer ones before those that they contain.
constexpr std::string_view kCurrencies[] = {
    "US$", "R$",  "A$",  "C$",  "$",   "\u20AC", "\u00A3", "\u00A5", "\u20B9", "\u20A9", "\u20BA", "\u20BD",
    "EUR", "USD", "GBP", "CHF", "JPY", "CNY",    "INR",    "PLN",    "CZK",    "SEK",    "NOK",    "DKK",
    "HUF", "BRL", "CAD", "AUD", "zł",  "Kč",     "Ft",     "kr.",    "kr",     "Rs.",    "Rs",     "Fr."};

/// Removes one of `texts` from the beginning, or from the end; the removed one, "" if none.
template <size_t N>
std::string_view take_first(std::string_view& text, const std::string_view (&texts)[N]) {
  for (const std::string_view one : texts)
    if (text.starts_with(one)) {
      text.remove_prefix(one.size());
      return one;
    }
  return {};
}
template <size_t N>
std::string_view take_last(std::string_view& text, const std::string_view (&texts)[N]) {
  for (const std::string_view one : texts)
    if (text.ends_with(one)) {
      text.remove_suffix(one.size());
      return one;
    }
  return {};
}

/// A text without its signs.
struct Parts {
  WrittenNumber found;
  bool negative = false;
  std::string body;  // digits, marks and an exponent; spaces are ' ', apostrophes '\''
};

bool take_before(std::string_view& text, Parts& parts, bool& sign) {
  if (!take_first(text, kSpaces).empty()) return true;
  if (!sign && !text.empty() && (text[0] == '-' || text[0] == '+')) {
    parts.negative = text[0] == '-';
    text.remove_prefix(1);
    return sign = true;
  }
  if (!sign && !take_first(text, kMinuses).empty())
    return parts.negative = parts.found.unicode_minus = sign = true;
  if (!parts.found.currency.empty()) return false;
  parts.found.currency = take_first(text, kCurrencies);
  return !parts.found.currency.empty();
}

bool take_behind(std::string_view& text, Parts& parts, bool& sign) {
  WrittenNumber& found = parts.found;
  if (!take_last(text, kSpaces).empty()) return true;
  if (text.empty()) return false;
  const char last = text.back();
  const bool unit = found.percent || found.magnitude != 0;
  if (found.currency.empty() && !(found.currency = take_last(text, kCurrencies)).empty()) return true;
  if (last == '-' && !sign) {
    parts.negative = found.trailing_minus = sign = true;
  } else if (last == '%' && !unit) {
    found.percent = true;
  } else if ((last == 'K' || last == 'k' || last == 'M' || last == 'B') && !unit) {
    found.magnitude = last == 'k' ? 'K' : last;
  } else {
    return false;
  }
  text.remove_suffix(1);
  return true;
}

/// Digits and marks; "" for other characters.
std::string normal_body(std::string_view text) {
  std::string body;
  while (!text.empty()) {
    const char c = text[0];
    if (is_digit(c) || c == '.' || c == ',' || c == '\'' || c == 'e' || c == 'E' || c == '+' || c == '-') {
      body += c;
      text.remove_prefix(1);
    } else if (text.starts_with("\u2019")) {
      body += '\'';
      text.remove_prefix(3);
    } else if (!take_first(text, kSpaces).empty()) {
      body += ' ';
    } else {
      return {};
    }
  }
  return body;
}

std::optional<Parts> take_apart(std::string_view text) {
  Parts parts;
  while (!take_first(text, kSpaces).empty()) {
  }
  while (!take_last(text, kSpaces).empty()) {
  }
  if (text.empty() || text.size() > kLongest) return std::nullopt;
  bool sign = false;
  if (text.front() == '(' && text.back() == ')') {
    text = text.substr(1, text.size() - 2);
    parts.negative = parts.found.accounting = sign = true;
  }
  while (take_before(text, parts, sign)) {
  }
  if (text.empty() || !(is_digit(text[0]) || text[0] == '.' || text[0] == ',')) return std::nullopt;
  while (take_behind(text, parts, sign)) {
  }
  if (parts.found.percent && !parts.found.currency.empty()) return std::nullopt;
  parts.body = normal_body(text);
  if (parts.body.empty()) return std::nullopt;
  parts.found.marked = parts.body.find_first_of(".,") != std::string::npos;
  return parts;
}

/// Whether `digits` with commas are grouped as in India: 12,34,567.
bool is_grouped_by_two(std::string_view body) {
  const size_t end = std::min(body.find_first_not_of("0123456789,"), body.size());
  const std::string_view whole = body.substr(0, end);
  size_t comma = whole.find(',');
  if (comma == std::string_view::npos || comma < 1 || comma > 2 || whole[0] == '0') return false;
  bool any = false;
  for (size_t next; (next = whole.find(',', comma + 1)) != std::string_view::npos; comma = next, any = true)
    if (next - comma != 3) return false;
  return any && whole.size() - comma == 4;
}

/// The number in C's notation, without its sign; "" if the body does not have the format.
std::string plain_text(const Parts& parts, NumberFormat format) {
  const std::string_view body = parts.body;
  std::string out;
  size_t at = 0, group = 0;
  bool grouped = false;
  const bool by_two = format.thousands == ',' && is_grouped_by_two(body);
  for (; at < body.size(); ++at) {
    if (is_digit(body[at])) {
      out += body[at];
      ++group;
    } else if (by_two && body[at] == ',') {
      grouped = true;
      group = 0;
    } else if (format.thousands != 0 && body[at] == format.thousands) {
      if (grouped ? group != 3 : group == 0 || group > 3 || body[0] == '0') return {};
      grouped = true;
      group = 0;
    } else {
      break;
    }
  }
  if (grouped && group != 3) return {};
  const size_t whole = out.size();
  if (at < body.size() && body[at] == format.decimal) {
    out += '.';
    for (++at; at < body.size() && is_digit(body[at]); ++at) out += body[at];
    if (whole == 0 && out.size() == 1) return {};
  }
  if (whole == 0 && out.empty()) return {};
  if (at < body.size()) {  // an exponent
    if (grouped || parts.found.magnitude != 0 || (body[at] != 'e' && body[at] != 'E')) return {};
    const std::string_view exponent = body.substr(at + 1);
    const size_t sign = !exponent.empty() && (exponent[0] == '+' || exponent[0] == '-') ? 1 : 0;
    if (exponent.size() == sign ||
        !std::all_of(exponent.begin() + static_cast<ptrdiff_t>(sign), exponent.end(), is_digit))
      return {};
    out += body.substr(at);
  }
  switch (parts.found.magnitude) {
    case 'K':
      return out + "e3";
    case 'M':
      return out + "e6";
    case 'B':
      return out + "e9";
    default:
      return out;
  }
}

}  // namespace

FormatSet formats_with_decimal(char decimal) {
  FormatSet set = 0;
  for (size_t i = 0; i < kNumberFormats.size(); ++i)
    if (kNumberFormats[i].decimal == decimal) set |= static_cast<FormatSet>(1 << i);
  return set;
}

FormatSet formats_with_thousands(char thousands) {
  FormatSet set = 0;
  for (size_t i = 0; i < kNumberFormats.size(); ++i)
    if (kNumberFormats[i].thousands == thousands) set |= static_cast<FormatSet>(1 << i);
  return set;
}

WrittenNumber read_written_number(std::string_view text) {
  const std::optional<Parts> parts = take_apart(text);
  if (!parts) return {};
  WrittenNumber found = parts->found;
  for (size_t i = 0; i < kNumberFormats.size(); ++i) {
    const std::string plain = plain_text(*parts, kNumberFormats[i]);
    double value;
    if (!plain.empty() && parse_number(plain, '.', value)) found.formats |= static_cast<FormatSet>(1 << i);
  }
  return found;
}

bool parse_written_number(std::string_view text, NumberFormat format, double& value) {
  const std::optional<Parts> parts = take_apart(text);
  if (!parts) return false;
  const std::string plain = plain_text(*parts, format);
  if (plain.empty() || !parse_number(plain, '.', value)) return false;
  if (parts->negative) value = -value;
  return true;
}

bool could_group(std::string_view number, size_t at) {
  const std::string_view whole = strip_spaces(number.substr(0, at)),
                         rest = strip_spaces(number.substr(at + 1));
  const std::string_view digits = whole.substr(std::min(whole.find_first_not_of("+-"), whole.size()));
  return rest.size() == 3 && std::all_of(rest.begin(), rest.end(), is_digit) && !digits.empty() &&
         digits.size() <= 3 && digits[0] != '0';
}

std::string_view without_flag(std::string_view text) {
  text = strip_spaces(text);
  const size_t end = text.find_last_of("0123456789.:");
  size_t number = end == std::string_view::npos ? 0 : end + 1;
  std::string_view flag = text.substr(number);
  if (text.ends_with(']')) {  // [1]
    number = text.rfind('[');
    if (number == std::string_view::npos || text.substr(number).size() > 4) return {};
    flag = {};
  } else if (flag.empty()) {
    return {};
  }
  const bool spaced = flag.starts_with(' ');
  flag = strip_spaces(flag);
  static constexpr std::string_view kSigns[] = {"*", "**", "#", "\u2020", "\u00B9", "\u00B2", "\u00B3"};
  const bool brackets = flag.size() > 2 && flag.front() == '(' && flag.back() == ')';
  const std::string_view letters = brackets ? flag.substr(1, flag.size() - 2) : flag;
  if (!flag.empty() && std::find(std::begin(kSigns), std::end(kSigns), flag) == std::end(kSigns) &&
      (!(spaced || brackets) || letters.size() > 2 ||
       letters.find_first_not_of("bcdefinprsuz") != std::string_view::npos))
    return {};
  return strip_spaces(text.substr(0, number));
}

std::string_view unit_behind(std::string_view text) {
  constexpr size_t kLongestUnit = 12;
  text = strip_spaces(text);
  const size_t end = text.find_last_of("0123456789");
  if (end == std::string_view::npos) return {};
  std::string_view number = text.substr(0, end + 1), unit = text.substr(end + 1);
  if (unit.starts_with("\u00B2") || read_written_number(number).formats == 0) return {};
  while (!take_first(unit, kSpaces).empty()) {
  }
  static constexpr std::string_view kOthers[] = {"st", "nd", "rd", "th", "am", "pm", "AM", "PM"};
  static constexpr std::string_view kSigns[] = {"\u00B0", "\u00B5", "\u00B2", "\u00B3", "\u00B7", "/", "%"};
  if (unit.empty() || unit.size() > kLongestUnit ||
      std::find(std::begin(kOthers), std::end(kOthers), unit) != std::end(kOthers))
    return {};
  for (std::string_view rest = unit; !rest.empty();) {
    const bool letter = (rest[0] >= 'a' && rest[0] <= 'z') || (rest[0] >= 'A' && rest[0] <= 'Z');
    if (letter)
      rest.remove_prefix(1);
    else if (take_first(rest, kSigns).empty())
      return {};
  }
  return unit;
}

bool is_missing_mark(std::string_view text) {
  static constexpr std::string_view kMarks[] = {
      "?",       ".",           "-",       "--",      "---",      "\u2013",  "\u2014", "n/a",     "n.a.",
      "na",      "NaT",         "missing", "Missing", "nodata",   "no data", "NoData", "No data", "ND",
      "#DIV/0!", "#VALUE!",     "#REF!",   "#NUM!",   "#NAME?",   "#NULL!",  "..",     "…",       "...",
      ":",       "\\N",         "#NV",     "#WERT!",  "#N/V",     "#BEZUG!", "n/v",    "k.A.",    "k. A.",
      "unknown", "unavailable", "-1.#IND", "1.#QNAN", "nan(ind)", "No Data"};
  text = strip_spaces(text);
  while (!take_first(text, kSpaces).empty()) {
  }
  while (!take_last(text, kSpaces).empty()) {
  }
  return text.empty() || std::find(std::begin(kMarks), std::end(kMarks), text) != std::end(kMarks);
}

}  // namespace modewise::io
