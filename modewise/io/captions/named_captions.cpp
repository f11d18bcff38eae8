#include "modewise/io/captions/named_captions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "modewise/core/counted.h"
#include "modewise/core/error.h"
#include "modewise/core/escaped_text.h"
#include "modewise/core/name_index.h"
#include "modewise/io/json_scanner.h"
#include "modewise/io/number_text.h"
#include "modewise/io/tables/csv_scanner.h"
#include "modewise/io/tables/text_table.h"

namespace modewise::io {
namespace {

constexpr std::array<std::string_view, 7> kImageKeys = {"image",      "file_name",  "filename", "image_name",
                                                        "image_path", "image_file", "file"};
constexpr std::array<std::string_view, 6> kCaptionKeys = {"caption", "captions", "text",
                                                          "comment", "sentence", "caption_text"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kSplits = {
    {{"train", "train"},
     {"training", "train"},
     {"restval", "train"},  // Karpathy: the rest of COCO's validation images
     {"val", "validation"},
     {"valid", "validation"},
     {"validation", "validation"},
     {"dev", "validation"},
     {"test", "test"}}};

bool is_one_of(std::span<const std::string_view> keys, std::string_view key) {
  return std::ranges::find(keys, key) != keys.end();
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Adds captions by the file names of their images, which are counted from 1.
class NamedImages {
 public:
  NamedImages(CaptionFile& file, size_t bytes, const std::string& source)
      : file_(file), bytes_(bytes), source_(source) {
    file_.counted = true;
  }

  void add(std::string_view name, std::string_view caption) {
    const auto [image, is_new] = names_.add(name);
    if (is_new) file_.images.add(static_cast<int64_t>(image) + 1, name);
    file_.captions.add(static_cast<int64_t>(image) + 1, caption);
    if (file_.captions.size() % 65536 == 0) require_rows_fit(file_.captions.size(), bytes_, source_);
  }
  /// The position of an image, and whether it is new.
  std::pair<size_t, bool> find(std::string_view name) {
    const auto known = names_.find(name);
    return {known.value_or(file_.images.size()), !known};
  }
  void finish() {
    file_.images.sort();
    file_.captions.sort();
  }

 private:
  CaptionFile& file_;
  size_t bytes_;
  const std::string& source_;
  NameIndex names_;
};

/// Objects of images with their captions in JSON.
class EntryReader {
 public:
  EntryReader(std::span<const std::byte> bytes, const std::string& source)
      : text_(json_text(bytes, source)), source_(source), json_(text_, source, "JSON") {}

  CaptionFile karpathy() {
    std::optional<size_t> images;
    json_.object("at the start", [&](const std::string& key) {
      if (key == "images") {
        require(!images, ErrorKind::data, "{}: duplicate key \"images\"", source_);
        images = json_.position();
      }
      json_.skip();
    });
    json_.expect_end();
    require(images.has_value(), ErrorKind::data, "{}: the list \"images\" is missing", source_);
    json_.go_to(*images);
    file_.list = "sentences";
    json_.array("at the start", [&] { karpathy_image(); });
    file_.images.sort();
    for (size_t i = 0; i < file_.images.size(); ++i) {
      const uint32_t first = file_.images.of(file_.images.image(i)).front();
      require(first == i, ErrorKind::data, "{}: images[{}]: image {} is a duplicate of [{}]", source_, i,
              file_.images.image(i), first);
    }
    file_.captions.sort();
    return finished();
  }

  CaptionFile list() {
    NamedImages images(file_, text_.size(), source_);
    file_.list = "";
    json_.array("at the start", [&] { entry(images); });
    json_.expect_end();
    images.finish();
    return finished();
  }

  CaptionFile lines() {
    NamedImages images(file_, text_.size(), source_);
    file_.list = "";
    while (json_.position() < text_.size()) entry(images);
    images.finish();
    return finished();
  }

 private:
  CaptionFile finished() {
    if (!file_.splits.empty()) file_.splits.resize(file_.images.size());
    return std::move(file_);
  }
  char next() {
    const size_t at = json_.position();
    return at < text_.size() ? text_[at] : '\0';
  }
  bool at_integer() { return next() == '-' || (next() >= '0' && next() <= '9'); }

  void begin_entry() {
    place_ = json_.position();
    expect(next() == '{', "must be an object");
  }

  std::string text(const std::string& key) {
    expect(next() == '"', "needs a text as \"{}\"", key);
    return json_.decode(json_.string());
  }
  template <class Value>
  void set(std::optional<Value>& value, const std::string& key, Value found) {
    expect(!value, "has \"{}\" twice", key);
    value = std::move(found);
  }

  /// Adds the split of an image, which is the last or a known one.
  void add_split(size_t image, bool is_new, const std::optional<std::string>& written) {
    std::string split;
    if (written) {
      const auto found = std::ranges::find(kSplits, *written, [](const auto& one) { return one.first; });
      expect(found != kSplits.end(), "has the split {}; expected train, val or test",
             quote_for_message(*written, 50));
      split = found->second;
    }
    if (split.empty() && file_.splits.empty()) return;
    if (file_.splits.size() <= image) file_.splits.resize(image + 1);
    expect(is_new || file_.splits[image] == split, "has another split than an earlier entry of its image");
    file_.splits[image] = split;
  }

  void karpathy_image() {
    begin_entry();
    std::optional<std::string> name, split;
    std::optional<int64_t> number, coco;
    std::vector<std::string> captions;
    json_.object("at the start", [&](const std::string& key) {
      if (key == "filename") {
        set(name, key, text(key));
      } else if (key == "split") {
        set(split, key, text(key));
      } else if (key == "imgid" || key == "cocoid") {
        expect(at_integer(), "needs an integer as \"{}\"", key);
        set(key == "imgid" ? number : coco, key, json_.integer(key));
      } else if (key == "sentences") {
        expect(next() == '[', "needs a list as \"{}\"", key);
        json_.array("at the start", [&] { sentence(captions); });
      } else {
        json_.skip();
      }
    });
    expect(name.has_value(), "has no \"filename\"");
    expect(number || coco, "has no \"imgid\"");
    const int64_t image = coco ? *coco : *number;
    for (const std::string& caption : captions) file_.captions.add(image, caption);
    add_split(file_.images.size(), true, split);
    file_.images.add(image, *name);
  }

  void sentence(std::vector<std::string>& captions) {
    expect(next() == '{', "needs objects in \"sentences\"");
    std::optional<std::string> raw;
    json_.object("at the start", [&](const std::string& key) {
      if (key == "raw")
        set(raw, key, text(key));
      else
        json_.skip();
    });
    expect(raw.has_value(), "has a sentence without \"raw\"");
    captions.push_back(std::move(*raw));
  }

  void entry(NamedImages& images) {
    begin_entry();
    std::optional<std::string> name, split;
    std::optional<std::vector<std::string>> captions;
    json_.object("at the start", [&](const std::string& key) {
      if (is_one_of(kImageKeys, key)) {
        set(name, key, text(key));
      } else if (key == "split") {
        set(split, key, text(key));
      } else if (is_one_of(kCaptionKeys, key)) {
        set(captions, key, texts(key));
      } else {
        json_.skip();
      }
    });
    expect(name && !name->empty(), "has no \"image\" or \"file_name\"");
    expect(captions.has_value(), "has no \"caption\" or \"text\"");
    const auto [image, is_new] = images.find(*name);
    for (const std::string& caption : *captions) images.add(*name, caption);
    if (!captions->empty()) add_split(image, is_new, split);
    ++entries_;
  }

  /// A text, or a list of texts.
  std::vector<std::string> texts(const std::string& key) {
    std::vector<std::string> all;
    if (next() != '[') {
      all.push_back(text(key));
    } else {
      json_.array("at the start", [&] { all.push_back(text(key)); });
    }
    return all;
  }

  template <class... Args>
  void expect(bool condition, fmt::format_string<Args...> what, Args&&... args) const {
    if (!condition)
      fail(ErrorKind::data, "{}: {}[{}] (byte {}) {}", source_, file_.counted ? "" : "images",
           file_.counted ? entries_ : file_.images.size(), place_,
           fmt::format(what, std::forward<Args>(args)...));
  }

  std::string_view text_;
  const std::string& source_;
  JsonScanner json_;
  CaptionFile file_;
  size_t entries_ = 0, place_ = 0;  // entries so far, and the byte of the current one
};

/// Columns of the image and the caption among the names of a header.
std::optional<std::pair<size_t, size_t>> caption_columns(const std::vector<std::string>& names) {
  const auto column = [&](std::span<const std::string_view> keys) {
    return static_cast<size_t>(
        std::ranges::find_if(names,
                             [&](const std::string& name) { return is_one_of(keys, strip_spaces(name)); }) -
        names.begin());
  };
  const size_t image = column(kImageKeys), caption = column(kCaptionKeys);
  if (image == names.size() || caption == names.size()) return std::nullopt;
  return std::pair(image, caption);
}

/// The delimiter of a header with both columns.
std::optional<char> table_delimiter(std::string_view text) {
  const std::string_view line = text.substr(0, text.find_first_of("\r\n"));
  for (const char delimiter : {',', '\t', '|', ';'}) {
    const std::string source;
    CsvScanner scanner(line, delimiter, source, false);
    std::vector<std::string> names;
    scanner.row([&](size_t, std::string_view cell) { names.emplace_back(cell); });
    if (caption_columns(names)) return delimiter;
  }
  return std::nullopt;
}

/// Captions of the rows of a table with the columns image and caption.
CaptionFile captions_of(const TextTable& table, size_t bytes, const std::string& source, bool numbered) {
  CaptionFile file;
  NamedImages images(file, bytes, source);
  for (size_t row = 0; row < table.rows(); ++row) {
    std::string_view name = strip_spaces(table.columns[0][row]);
    if (numbered) {
      const size_t number = name.rfind('#');
      require(number != std::string_view::npos && number > 0, ErrorKind::data,
              "{}:{}: expected the file name of an image with # and a number, got {}", source,
              table.lines[row], quote_for_message(name, 100));
      name = name.substr(0, number);
    }
    require(!name.empty(), ErrorKind::data, "{}:{}: the file name of the image is empty", source,
            table.lines[row]);
    images.add(name, strip_spaces(table.columns[1][row]));
  }
  file.lines = table.lines;
  if (table.left_out.count > 0)
    file.left_out = fmt::format("{} with another number of cells than the first, the first is line {}",
                                counted(table.left_out.count, "row"), table.left_out.first_line);
  images.finish();
  return file;
}

}  // namespace

CaptionFile parse_karpathy_captions(std::span<const std::byte> bytes, const std::string& source) {
  return EntryReader(bytes, source).karpathy();
}

CaptionFile parse_caption_list(std::span<const std::byte> bytes, const std::string& source) {
  return EntryReader(bytes, source).list();
}

CaptionFile parse_caption_lines(std::span<const std::byte> bytes, const std::string& source) {
  return EntryReader(bytes, source).lines();
}

CaptionFile parse_caption_tokens(std::span<const std::byte> bytes, const std::string& source) {
  TextTableOptions options;
  options.header = false;
  options.leave_out_broken = true;
  const TextTable table = parse_text_table(bytes, source, options, [&](const std::vector<std::string>& all) {
    require(all.size() == 2, ErrorKind::data, "{}:1: expected an image and a caption after a tab, got {}",
            source, counted(all.size(), "cell"));
    return std::vector<size_t>{0, 1};
  });
  return captions_of(table, bytes.size(), source, true);
}

CaptionFile parse_caption_table(std::span<const std::byte> bytes, const std::string& source) {
  TextTableOptions options;
  options.delimiter = table_delimiter(text_of(bytes)).value_or(',');
  options.quotes = options.delimiter == ',' || options.delimiter == ';';
  options.leave_out_broken = true;
  const TextTable table = parse_text_table(bytes, source, options, [&](const std::vector<std::string>& all) {
    const auto columns = caption_columns(all);
    require(columns.has_value(), ErrorKind::data,
            "{}:1: expected a header with the columns image and caption", source);
    return std::vector<size_t>{columns->first, columns->second};
  });
  return captions_of(table, bytes.size(), source, false);
}

bool begins_as_caption_table(std::string_view text) {
  return table_delimiter(text).has_value();
}

std::span<const std::string_view> image_keys() {
  return kImageKeys;
}

std::span<const std::string_view> caption_keys() {
  return kCaptionKeys;
}

}  // namespace modewise::io
