#include "modewise/io/captions/coco_captions.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "modewise/core/counted.h"
#include "modewise/core/error.h"
#include "modewise/io/json_scanner.h"
#include "modewise/io/mapped_file.h"
#include "modewise/io/utf8.h"

namespace modewise::io {

namespace {

constexpr size_t kMinEntry = 20;   // bytes; {"id":1,"file_name":""} has more
constexpr size_t kMinResult = 26;  // {"image_id":1,"caption":""} has more

constexpr std::string_view kFileName = "file_name";

class CocoParser {
 public:
  CocoParser(std::span<const std::byte> bytes, const std::string& source)
      : text_(json_text(bytes, source)), source_(source), json_(text_, source, "JSON") {}

  CaptionFile captions() {
    require(next() == '{', ErrorKind::data,
            "{}: expected caption annotations, an object with the lists \"images\" and \"annotations\"{}",
            source_, next() == '[' ? "; this file is a list, like results" : "");
    std::optional<size_t> images, annotations;
    json_.object("at the start", [&](const std::string& key) {
      if (key == "images") note(images, key);
      if (key == "annotations") note(annotations, key);
      json_.skip();
    });
    json_.expect_end();
    CaptionFile captions;
    captions.images = list_at(images, "images", "id", kFileName);
    captions.captions = list_at(annotations, "annotations", "image_id", "caption");
    require_unique(captions.images, "images", "is a duplicate of");
    note_unlisted(captions);
    return captions;
  }

  CaptionResults results() {
    require(next() == '[', ErrorKind::data,
            "{}: expected results, a list of objects with \"image_id\" and \"caption\"{}", source_,
            next() == '{' ? "; this file is an object, like annotations" : "");
    CaptionResults results;
    results.captions = list("", "image_id", "caption", &results.files);
    json_.expect_end();
    require_unique(results.captions, "", "has two captions, the first is");
    return results;
  }

 private:
  struct Place {
    std::string_view list;
    size_t index = 0, byte = 0;
  };

  /// The next character; '\0' at the end.
  char next() {
    const size_t at = json_.position();
    return at < text_.size() ? text_[at] : '\0';
  }

  void note(std::optional<size_t>& place, const std::string& key) {
    require(!place, ErrorKind::data, "{}: duplicate key \"{}\"", source_, key);
    place = json_.position();
  }

  ImageTexts list_at(std::optional<size_t> place, std::string_view name, std::string_view number,
                     std::string_view text) {
    require(place.has_value(), ErrorKind::data, "{}: the list \"{}\" is missing", source_, name);
    json_.go_to(*place);
    require(next() == '[', ErrorKind::data, "{}: \"{}\" must be a list (byte {})", source_, name, *place);
    return list(name, number, text);
  }

  /// Captions of images that are not listed are left out.
  void note_unlisted(CaptionFile& file) const {
    std::vector<size_t> unlisted;
    for (size_t i = 0; i < file.captions.size(); ++i)
      if (file.images.of(file.captions.image(i)).empty()) unlisted.push_back(i);
    if (unlisted.empty()) return;
    file.left_out = fmt::format("{} of images that are not in \"images\", the first is {} of image {}",
                                counted(unlisted.size(), "caption"), file.caption_place(unlisted.front()),
                                file.captions.image(unlisted.front()));
  }

  /// The next list. `name` is "" if it is the whole file; `files` gets the file names.
  ImageTexts list(std::string_view name, std::string_view number, std::string_view text,
                  ImageTexts* files = nullptr) {
    const size_t begin = json_.position();
    const size_t count = json_.skip();
    ImageTexts texts;
    const size_t bytes = json_.position() - begin;
    const size_t entries = std::min(count, bytes / (files != nullptr ? kMinResult : kMinEntry) + 1);
    texts.reserve(entries, bytes);
    if (files != nullptr) files->reserve(entries, 0);
    json_.go_to(begin);
    json_.array("at the start", [&] {
      place_ = {name, texts.size(), json_.position()};
      add_entry(texts, number, text, files);
    });
    texts.sort();
    return texts;
  }

  void add_entry(ImageTexts& texts, std::string_view number, std::string_view text, ImageTexts* files) {
    std::optional<int64_t> image;
    std::optional<JsonScanner::Text> found, file;
    expect(next() == '{', "must be an object");
    json_.object("at the start", [&](const std::string& key) {
      if (key == number) {
        expect(!image, "has \"{}\" twice", number);
        expect(next() == '-' || (next() >= '0' && next() <= '9'), "needs an integer as \"{}\"", number);
        image = json_.integer(number);
      } else if (key == text) {
        expect(!found, "has \"{}\" twice", text);
        expect(next() == '"', "needs a text as \"{}\"", text);
        found = json_.string();
      } else if (files != nullptr && key == kFileName) {
        expect(!file, "has \"{}\" twice", key);
        expect(next() == '"', "needs a text as \"{}\"", key);
        file = json_.string();
      } else {
        json_.skip();
      }
    });
    expect(image.has_value(), "has no \"{}\"", number);
    expect(found.has_value() || text == kFileName, "has no \"{}\"", text);
    if (files != nullptr) files->add(*image, file ? json_.decode(*file) : "");
    if (!found)
      texts.add(*image, "");
    else if (found->escaped)
      texts.add(*image, json_.decode(*found));
    else
      texts.add(*image, found->raw);
  }

  template <class... Args>
  void expect(bool condition, fmt::format_string<Args...> what, Args&&... args) const {
    if (!condition)
      fail(ErrorKind::data, "{}: {}[{}] (byte {}) {}", source_, place_.list, place_.index, place_.byte,
           fmt::format(what, std::forward<Args>(args)...));
  }

  void require_unique(const ImageTexts& texts, std::string_view name, std::string_view what) const {
    for (size_t i = 0; i < texts.size(); ++i) {
      const uint32_t first = texts.of(texts.image(i)).front();
      require(first == i, ErrorKind::data, "{}: {}[{}]: image {} {} [{}]", source_, name, i, texts.image(i),
              what, first);
    }
  }

  std::string_view text_;
  const std::string& source_;
  JsonScanner json_;
  Place place_;  // of the current entry
};

}  // namespace

CaptionFile parse_coco_captions(std::span<const std::byte> bytes, const std::string& source) {
  return CocoParser(bytes, source).captions();
}

CaptionResults parse_coco_results(std::span<const std::byte> bytes, const std::string& source) {
  return CocoParser(bytes, source).results();
}

CaptionResults read_coco_results(const std::string& path) {
  const MappedFile file(path);
  return parse_coco_results(file.bytes(), path);
}

}  // namespace modewise::io
