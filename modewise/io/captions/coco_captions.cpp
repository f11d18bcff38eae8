#include "modewise/io/captions/coco_captions.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "modewise/core/error.h"
#include "modewise/io/json_scanner.h"
#include "modewise/io/mapped_file.h"
#include "modewise/io/utf8.h"

namespace modewise::io {

std::string_view ImageTexts::text(size_t i) const {
  const size_t begin = i > 0 ? ends_[i - 1] : 0;
  return std::string_view(texts_).substr(begin, ends_[i] - begin);
}

std::span<const uint32_t> ImageTexts::of(int64_t image) const {
  const auto first = std::lower_bound(order_.begin(), order_.end(), image,
                                      [&](uint32_t i, int64_t wanted) { return images_[i] < wanted; });
  const auto last = std::upper_bound(first, order_.end(), image,
                                     [&](int64_t wanted, uint32_t i) { return wanted < images_[i]; });
  return {first, last};
}

void ImageTexts::reserve(size_t count, size_t bytes) {
  images_.reserve(count);
  ends_.reserve(count);
  order_.reserve(count);
  texts_.reserve(bytes);
}

void ImageTexts::add(int64_t image, std::string_view text) {
  images_.push_back(image);
  texts_ += text;
  ends_.push_back(texts_.size());
}

void ImageTexts::sort() {
  order_.resize(size());
  std::iota(order_.begin(), order_.end(), 0u);
  std::ranges::sort(order_, {}, [&](uint32_t i) { return std::pair(images_[i], i); });
}

namespace {

constexpr size_t kMinEntry = 20;  // bytes; {"id":1,"file_name":""} has more

constexpr std::string_view kFileName = "file_name";

std::string_view utf8_text(std::span<const std::byte> bytes, const std::string& source) {
  const std::string_view text =
      without_byte_order_mark({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const size_t invalid = find_invalid_utf8(text);
  require(invalid == std::string_view::npos, ErrorKind::data, "{}: not UTF-8 at byte {}", source, invalid);
  return text;
}

class CocoParser {
 public:
  CocoParser(std::span<const std::byte> bytes, const std::string& source)
      : text_(utf8_text(bytes, source)), source_(source), json_(text_, source, "JSON") {}

  CocoCaptions captions() {
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
    CocoCaptions captions;
    captions.images = list_at(images, "images", "id", kFileName);
    captions.captions = list_at(annotations, "annotations", "image_id", "caption");
    require_unique(captions.images, "images", "is a duplicate of");
    for (size_t i = 0; i < captions.captions.size(); ++i)
      require(!captions.images.of(captions.captions.image(i)).empty(), ErrorKind::data,
              "{}: annotations[{}] refers to image {}, which is not in \"images\"", source_, i,
              captions.captions.image(i));
    return captions;
  }

  ImageTexts results() {
    require(next() == '[', ErrorKind::data,
            "{}: expected results, a list of objects with \"image_id\" and \"caption\"{}", source_,
            next() == '{' ? "; this file is an object, like annotations" : "");
    ImageTexts results = list("", "image_id", "caption");
    json_.expect_end();
    require_unique(results, "", "has two captions, the first is");
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

  /// The next list. `name` is "" if it is the whole file.
  ImageTexts list(std::string_view name, std::string_view number, std::string_view text) {
    const size_t begin = json_.position();
    const size_t count = json_.skip();
    ImageTexts texts;
    const size_t bytes = json_.position() - begin;
    texts.reserve(std::min(count, bytes / kMinEntry + 1), bytes);
    json_.go_to(begin);
    json_.array("at the start", [&] {
      place_ = {name, texts.size(), json_.position()};
      add_entry(texts, number, text);
    });
    texts.sort();
    return texts;
  }

  void add_entry(ImageTexts& texts, std::string_view number, std::string_view text) {
    std::optional<int64_t> image;
    std::optional<JsonScanner::Text> found;
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
      } else {
        json_.skip();
      }
    });
    expect(image.has_value(), "has no \"{}\"", number);
    expect(found.has_value() || text == kFileName, "has no \"{}\"", text);
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

CocoCaptions parse_coco_captions(std::span<const std::byte> bytes, const std::string& source) {
  return CocoParser(bytes, source).captions();
}

CocoCaptions read_coco_captions(const std::string& path) {
  const MappedFile file(path);
  return parse_coco_captions(file.bytes(), path);
}

ImageTexts parse_coco_results(std::span<const std::byte> bytes, const std::string& source) {
  return CocoParser(bytes, source).results();
}

ImageTexts read_coco_results(const std::string& path) {
  const MappedFile file(path);
  return parse_coco_results(file.bytes(), path);
}

}  // namespace modewise::io
