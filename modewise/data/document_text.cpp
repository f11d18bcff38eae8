#include "modewise/data/document_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "modewise/core/error.h"
#include "modewise/io/file_kind.h"
#include "modewise/io/text_input.h"
#include "modewise/io/utf8.h"

namespace modewise::data {
namespace {

constexpr const char* kRemedy =
    "extract its text, or remove the file; train and tokenize take its bytes with --allow-binary";
constexpr std::string_view kSpace = " \t\r\n", kMark = "\xEF\xBB\xBF";
constexpr size_t kSample = size_t{64} << 10;

int64_t line_of(std::string_view text, size_t at) {
  return 1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(at), '\n');
}

/// Whether more than a twentieth of a sample is control characters that texts do not have.
bool has_many_controls(std::string_view text) {
  const std::string_view sample = text.substr(0, kSample);
  const auto is_control = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && (byte < 0x08 || byte > 0x0D) && byte != 0x1B) || byte == 0x7F;
  };
  return 20 * std::ranges::count_if(sample, is_control) > std::ssize(sample);
}

void refuse_binary(std::string_view text, const std::string& source) {
  const std::string_view kind = io::binary_kind(std::as_bytes(std::span(text))).name;
  require(kind.empty(), ErrorKind::data, "{}: expected text, got {}; {}", source, kind, kRemedy);
  if (io::is_utf16(text)) return;
  const size_t nul = text.find('\0');
  require(nul == std::string_view::npos || !io::looks_like_utf16(text), ErrorKind::data,
          "{}: the file seems to be UTF-16 without a byte order mark; save it as UTF-8 (iconv -f UTF-16LE -t "
          "UTF-8)",
          source);
  require(nul == std::string_view::npos, ErrorKind::data, "{}: NUL at byte {}: not a text file; {}", source,
          nul, kRemedy);
  require(!has_many_controls(text), ErrorKind::data,
          "{}: not a text file: more than 5 % of it are control characters; {}", source, kRemedy);
}

std::string_view trimmed(std::string_view text) {
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) + 1 - first);
}

bool is_json(std::string_view text) {
  return nlohmann::json::accept(text.begin(), text.end());
}

bool is_json_object(std::string_view line) {
  line = trimmed(line);
  return line.starts_with('{') && line.ends_with('}') && is_json(line);
}

/// Whether the first two lines of a text without spaces around it are JSON objects.
bool begins_with_json_lines(std::string_view text) {
  const size_t end = text.find('\n');
  if (!is_json_object(text.substr(0, end))) return false;
  if (end == std::string_view::npos) return true;
  const std::string_view rest = trimmed(text.substr(end));
  return is_json_object(rest.substr(0, rest.find('\n')));
}

/// The delimiter that the first lines have equally often outside quotes, at least ten of them; 0 if there is
/// none.
char delimiter_of(std::string_view text) {
  for (const char delimiter : {',', '\t', ';'}) {
    int64_t lines = 0, columns = 0, count = 0;
    bool quoted = false, equal = true;
    for (size_t at = 0; at < std::min(text.size(), kSample) && lines < 20 && equal; ++at) {
      const char c = text[at];
      if (c == '"') quoted = !quoted;
      if (quoted) continue;
      const bool of_a_sentence = c == ',' && at + 1 < text.size() && text[at + 1] == ' ';
      if (c == delimiter && !of_a_sentence) ++count;
      if (c != '\n') continue;
      if (lines == 0) columns = count;
      equal = count == columns && count > 0;
      count = 0;
      ++lines;
    }
    if (equal && lines >= 10) return delimiter;
  }
  return 0;
}

bool ends_with_any(const std::string& name, std::initializer_list<const char*> endings) {
  return std::any_of(endings.begin(), endings.end(), [&](const char* one) { return name.ends_with(one); });
}

/// A sentence for bytes that are not UTF-8.
void note_other_encoding(std::string_view text, const std::string& source, std::vector<std::string>& notes) {
  const size_t invalid = io::find_invalid_utf8(text);
  if (invalid == std::string_view::npos) return;
  notes.push_back(fmt::format(
      "{}:{}: byte {} (0x{:02x}) is not UTF-8; the bytes are used as they are (iconv -f LATIN1 -t UTF-8 "
      "converts a file in Latin-1)",
      source, line_of(text, invalid), invalid, static_cast<unsigned char>(text[invalid])));
}

/// Sentence for markup, whose tags would be learned; a pointer of Git LFS is refused.
void note_markup(std::string_view text, const std::string& source, std::vector<std::string>& notes) {
  const std::string_view kind = io::file_kind(std::as_bytes(std::span(text))).name;
  if (kind.empty()) return;
  require(kind.find("LFS") == std::string_view::npos, ErrorKind::data, "{}: expected text, got {}", source,
          kind);
  notes.push_back(
      fmt::format("{} is {}: its tags are used as text; extract its text, in Python for example with "
                  "BeautifulSoup(page).get_text()",
                  source, kind));
}

void note_table(std::string_view text, const std::string& source, std::vector<std::string>& notes) {
  if (!ends_with_any(source, {".csv", ".tsv"}) && delimiter_of(text) == 0) return;
  notes.push_back(fmt::format(
      "{} is a table: its delimiters and numbers are used as text; to use one column, write it as JSON "
      "lines, "
      "in Python pandas.read_csv(file)[[\"text\"]].to_json(\"file.jsonl\", orient=\"records\", lines=True)",
      source));
}

}  // namespace

DocumentText::DocumentText(std::span<const std::byte> bytes, const std::string& source, bool allow_binary,
                           std::vector<std::string>& notes)
    : text_(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
      json_lines_(ends_with_any(source, {".jsonl", ".ndjson"})) {
  if (allow_binary || text_.empty()) return;
  refuse_binary(text_, source);
  if (text_.starts_with(kMark)) mark_ = kMark.size();
  if (io::is_utf16(text_)) {
    converted_ = io::utf8_of_utf16(text_, source);
    require(converted_->find('\0') == std::string::npos, ErrorKind::data,
            "{}: the file has the byte order mark of UTF-16, but NUL characters: not a text file; {}", source,
            kRemedy);
  }
  const std::string_view content = trimmed(text());
  require(
      !(content.starts_with('[') && content.ends_with(']') && is_json(content)), ErrorKind::data,
      "{}: expected text, got a JSON list; write its records as JSON lines, one object per line, in Python "
      "for row in json.load(open(file)): print(json.dumps(row))",
      source);
  if (!json_lines_ && begins_with_json_lines(content)) {
    json_lines_ = true;
    notes.push_back(fmt::format("{} is read as JSON lines (.jsonl)", source));
  }
  if (json_lines_) return;
  note_other_encoding(converted_ ? text() : text_, source, notes);
  note_markup(content, source, notes);
  if (is_json_object(content))
    notes.push_back(fmt::format("{} is a JSON document; its characters are used as text", source));
  else
    note_table(text(), source, notes);
}

}  // namespace modewise::data
