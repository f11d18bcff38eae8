#include "modewise/io/tables/csv_scanner.h"

#include <algorithm>
#include <cstring>

#include "modewise/io/utf8.h"

namespace modewise::io {

CsvScanner::CsvScanner(std::string_view text, char delimiter, const std::string& source, bool quotes)
    : at_(text.data()),
      end_(text.data() + text.size()),
      delimiter_(delimiter),
      quotes_(quotes),
      source_(source) {
  for (const char stop : {delimiter, '\n', '\r'}) stops_[static_cast<unsigned char>(stop)] = true;
}

std::string_view CsvScanner::quoted_cell() {
  const int64_t first_line = line_;
  const char* begin = ++at_;
  bool doubled = false;
  unquoted_.clear();
  while (true) {
    const auto* quote =
        at_ == end_ ? nullptr
                    : static_cast<const char*>(std::memchr(at_, '"', static_cast<size_t>(end_ - at_)));
    require(quote != nullptr, ErrorKind::data, "{}:{}: unclosed quote in cell {}", source_, first_line,
            cells_ + 1);
    line_ += std::count(at_, quote, '\n');
    at_ = quote + 1;
    if (at_ == end_ || *at_ != '"') break;
    doubled = true;
    unquoted_.append(begin, at_);
    begin = ++at_;
  }
  const std::string_view last(begin, static_cast<size_t>(at_ - 1 - begin));
  while (at_ != end_ && *at_ == ' ' && delimiter_ != ' ') ++at_;
  if (at_ != end_ && !stops_[static_cast<unsigned char>(*at_)]) {
    fail(ErrorKind::data, "{}:{}: text after the closing quote of cell {}: {}", source_, line_, cells_ + 1,
         quote_for_message(plain_cell()));
  }
  if (!doubled) return last;
  unquoted_ += last;
  return unquoted_;
}

}  // namespace modewise::io
