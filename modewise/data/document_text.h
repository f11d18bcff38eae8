#pragma once
// Text of one file of documents, checked by its content.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace modewise::data {

class DocumentText {
 public:
  /// Data errors for files other than texts: known binary formats such as PNG, Parquet and archives, NUL and
  /// many other control characters, UTF-16 without a byte order mark, a JSON list. UTF-16 with one is
  /// converted, the one of UTF-8 is left out. A sentence in `notes` for bytes that are not UTF-8, tables,
  /// JSON documents, and JSON lines whose file name does not end in .jsonl or .ndjson. `allow_binary`: any
  /// bytes are text.
  DocumentText(std::span<const std::byte> bytes, const std::string& source, bool allow_binary,
               std::vector<std::string>& notes);

  /// Valid as long as this object and the bytes live.
  std::string_view text() const { return converted_ ? std::string_view(*converted_) : text_.substr(mark_); }
  /// One JSON object per line.
  bool is_json_lines() const { return json_lines_; }

 private:
  std::string_view text_;
  size_t mark_ = 0;  // bytes of the byte order mark of UTF-8
  std::optional<std::string> converted_;
  bool json_lines_ = false;
};

}  // namespace modewise::data
