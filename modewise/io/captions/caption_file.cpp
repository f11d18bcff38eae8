#include "modewise/io/captions/caption_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "modewise/core/error.h"
#include "modewise/io/captions/coco_captions.h"
#include "modewise/io/captions/named_captions.h"
#include "modewise/io/mapped_file.h"
#include "modewise/io/utf8.h"

namespace modewise::io {
namespace {

constexpr size_t kBegin = size_t{1} << 16;  // bytes that tell the format

std::string_view begin_of(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kBegin));
  return without_byte_order_mark(text);
}

/// Whether the first character that is not white space is `c`.
bool begins_with(std::string_view text, char c) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == c;
}

bool has_key(std::string_view text, std::string_view key) {
  return text.find(fmt::format("\"{}\"", key)) != std::string_view::npos;
}
bool has_any(std::string_view text, std::span<const std::string_view> keys) {
  return std::ranges::any_of(keys, [&](std::string_view key) { return has_key(text, key); });
}
bool names_image_and_caption(std::string_view object) {
  return has_any(object, image_keys()) && has_any(object, caption_keys());
}

bool is_karpathy(std::string_view text) {
  return begins_with(text, '{') && has_key(text, "images") && has_key(text, "sentences");
}
bool is_coco(std::string_view text) {
  return begins_with(text, '{') && (has_key(text, "images") || has_key(text, "annotations"));
}
bool is_list(std::string_view text) {
  return begins_with(text, '[') && names_image_and_caption(text.substr(0, text.find('}')));
}
bool is_lines(std::string_view text) {
  return begins_with(text, '{') && names_image_and_caption(text.substr(0, text.find('}')));
}
bool is_tokens(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  const size_t number = line.find('#'), tab = line.find('\t');
  return number != std::string_view::npos && tab != std::string_view::npos && number > 0 &&
         tab > number + 1 &&
         line.substr(number + 1, tab - number - 1).find_first_not_of("0123456789") == std::string_view::npos;
}

bool names_image_file(std::string_view text) {
  constexpr std::string_view kEndings[] = {".jpg", ".jpeg", ".png", ".JPG", ".JPEG", ".PNG"};
  return std::ranges::any_of(kEndings, [&](std::string_view one) { return text.find(one) != text.npos; });
}

}  // namespace

std::string CaptionFile::caption_place(size_t caption) const {
  return lines.empty() ? fmt::format("{}[{}]", list, caption) : fmt::format("line {}", lines[caption]);
}

std::string CaptionFile::image_name(size_t image) const {
  return counted ? std::string(images.text(image)) : fmt::format("image {}", images.image(image));
}

std::span<const CaptionFormat> caption_formats() {
  static constexpr CaptionFormat kFormats[] = {
      {"Karpathy's JSON (dataset_flickr8k.json)", is_karpathy, parse_karpathy_captions},
      {"COCO's JSON (captions_train2017.json)", is_coco, parse_coco_captions},
      {"a JSON list of {\"image\", \"caption\"}", is_list, parse_caption_list},
      {"JSON Lines of {\"file_name\", \"text\"} (metadata.jsonl)", is_lines, parse_caption_lines},
      {"lines of image.jpg#0 and a caption after a tab (Flickr8k.token.txt)", is_tokens,
       parse_caption_tokens},
      {"a table with the columns image and caption (captions.txt, results.csv)", begins_as_caption_table,
       parse_caption_table}};
  return kFormats;
}

CaptionFile parse_captions(std::span<const std::byte> bytes, const std::string& source) {
  const std::string_view begin = begin_of(bytes);
  for (const CaptionFormat& format : caption_formats())
    if (format.matches(begin)) return format.parse(bytes, source);
  // COCO's reader says what it lacks.
  if (begins_with(begin, '{') || begins_with(begin, '[')) return parse_coco_captions(bytes, source);
  std::string names;
  for (const CaptionFormat& format : caption_formats()) {
    names += names.empty() ? "" : "; ";
    names += format.name;
  }
  fail(ErrorKind::data, "{}: not a file of captions that modewise reads: {}", source, names);
}

CaptionFile read_captions(const std::string& path) {
  const MappedFile file(path);
  return parse_captions(file.bytes(), path);
}

std::string_view json_text(std::span<const std::byte> bytes, const std::string& source) {
  const std::string_view text =
      without_byte_order_mark({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const size_t invalid = find_invalid_utf8(text);
  require(invalid == std::string_view::npos, ErrorKind::data, "{}: not UTF-8 at byte {}", source, invalid);
  return text;
}

bool is_caption_file(const std::string& path) {
  const MappedFile file(path);
  const std::string_view begin = begin_of(file.bytes());
  return std::ranges::any_of(caption_formats(), [&](const CaptionFormat& one) {
    return one.matches(begin) && (one.parse == parse_coco_captions || names_image_file(begin));
  });
}

}  // namespace modewise::io
