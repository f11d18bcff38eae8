#include "modewise/data/text_documents.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "modewise/core/data_files.h"
#include "modewise/core/error.h"
#include "modewise/data/document_text.h"
#include "modewise/io/json_lines.h"
#include "modewise/io/mapped_file.h"
#include "modewise/io/utf8.h"

namespace modewise::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEndOfText = "<|endoftext|>";

/// The text after a byte order mark.
std::string_view text_of(const io::MappedFile& file) {
  return io::without_byte_order_mark(
      {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()});
}

std::string_view without_trailing_space(std::string_view line) {
  const size_t last = line.find_last_not_of(" \t\r");
  return last == std::string_view::npos ? std::string_view() : line.substr(0, last + 1);
}

bool is_separator(std::string_view line, bool blank) {
  return blank ? without_trailing_space(line).empty() : without_trailing_space(line) == kEndOfText;
}

bool has_end_of_text_line(std::string_view text) {
  for (size_t at = text.find(kEndOfText); at != std::string_view::npos; at = text.find(kEndOfText, at + 1)) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if ((at == 0 || text[at - 1] == '\n') && is_separator(text.substr(at, end - at), false)) return true;
  }
  return false;
}

/// Why a JSON line has no text: what its field is instead, and what it has.
std::string missing_text(const nlohmann::json& object, const std::string& field) {
  if (const auto found = object.find(field); found != object.end())
    return fmt::format("the field '{}' is {}, not a text; {}", field,
                       found->is_null() ? "null" : fmt::format("of type {}", found->type_name()),
                       found->is_null() ? "remove the line" : "set the field of the text with --text-field");
  if (object.contains("messages") || object.contains("conversations"))
    return fmt::format(
        "the object is a chat ('{}'), which is not read; write each chat as one text, in Python with "
        "tokenizer.apply_chat_template(messages, tokenize=False)",
        object.contains("messages") ? "messages" : "conversations");
  std::vector<std::string> names;
  for (const auto& member : object.items())
    if (names.size() < 8 && member.value().is_string()) names.push_back(io::quote_for_message(member.key()));
  return fmt::format("the object has no text field '{}' (set data.text_field, --text-field); {}", field,
                     names.empty() ? "none of its fields is a text"
                                   : fmt::format("its texts are {}", fmt::join(names, ", ")));
}

class DocumentReader {
 public:
  DocumentReader(const DocumentConfig& config, const std::function<void(std::string_view)>& each,
                 std::vector<std::string>& notes)
      : config_(config), each_(each), notes_(notes) {}

  void read(const fs::path& path) {
    if (!fs::is_directory(path)) {
      read_file(path);
      return;
    }
    std::vector<fs::path> files = data_files_below(path);
    std::sort(files.begin(), files.end());
    require(!files.empty(), ErrorKind::no_input, "there is no file in {}", path.string());
    for (const fs::path& file : files) read_file(file);
  }

  int64_t documents = 0, empty = 0;

 private:
  void give(std::string_view text) {
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
      ++empty;
      return;
    }
    ++documents;
    each_(text);
  }

  void read_file(const fs::path& path) {
    const std::string& separator = config_.separator;
    const io::MappedFile file(path);
    const DocumentText content(file.bytes(), path.string(), config_.allow_binary, notes_);
    const std::string_view text = content.text();
    if (content.is_json_lines()) {
      read_lines(path, text);
      return;
    }
    const bool marked = separator == "endoftext" || (separator == "auto" && has_end_of_text_line(text));
    if (!marked && separator != "blank")
      give(text);
    else
      for (const std::string_view part : split_documents(text, marked ? "endoftext" : "blank")) give(part);
  }

  void read_lines(const fs::path& path, std::string_view text) {
    io::for_each_json_line(text, path.string(), [&](const nlohmann::json& object, int64_t line) {
      const auto found = object.find(config_.field);
      require(found != object.end() && found->is_string(), ErrorKind::data, "{}:{}: {}", path.string(), line,
              missing_text(object, config_.field));
      give(found->get_ref<const std::string&>());
    });
  }

  const DocumentConfig& config_;
  const std::function<void(std::string_view)>& each_;
  std::vector<std::string>& notes_;
};

}  // namespace

std::vector<std::string_view> split_documents(std::string_view text, const std::string& separator) {
  std::vector<std::string_view> parts;
  const bool blank = separator == "blank";
  size_t first = 0;
  const auto close = [&](size_t end) {
    std::string_view part = text.substr(first, end - first);
    if (part.ends_with('\n')) part.remove_suffix(1);  // line end before the separator
    if (part.ends_with('\r')) part.remove_suffix(1);
    if (!part.empty()) parts.push_back(part);
  };
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (is_separator(text.substr(begin, end - begin), blank)) {
      close(begin);
      first = std::min(end + 1, text.size());
    }
    begin = end + 1;
  }
  close(text.size());
  return parts;
}

void for_each_document(const DocumentConfig& config, const std::string& path,
                       const std::function<void(std::string_view text)>& each,
                       std::vector<std::string>& notes) {
  require(fs::exists(path), ErrorKind::no_input, "there is no file or folder {}", path);
  DocumentReader reader(config, each, notes);
  reader.read(path);
  require(reader.documents > 0, ErrorKind::data, "{} contains no text", path);
  if (reader.empty > 0) notes.push_back(fmt::format("{}: {} empty documents skipped", path, reader.empty));
}

bool holds_prose(const fs::path& path) {
  if (lower_extension(path) != ".txt" || !fs::is_regular_file(path)) return false;
  const io::MappedFile file(path);
  const auto is_letter = [](char c) {
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || static_cast<unsigned char>(c) >= 0x80;
  };
  const auto is_ink = [](char c) { return static_cast<unsigned char>(c) > ' '; };
  const std::string_view text = text_of(file).substr(0, size_t{64} << 10);
  return 2 * std::ranges::count_if(text, is_letter) > std::ranges::count_if(text, is_ink);
}

}  // namespace modewise::data
