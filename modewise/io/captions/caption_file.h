#pragma once
// Caption files: images and their captions, in each of the formats of caption_formats().

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/io/captions/image_texts.h"

namespace modewise::io {

struct CaptionFile {
  ImageTexts images;                 // file names; "": none
  ImageTexts captions;               // zero or more per image
  std::vector<std::string> splits;   // of each image: train, validation, test or ""; empty: the file has none
  bool counted = false;              // the file has no ids: images are counted from 1
  std::string list = "annotations";  // the list of the captions in the file; "": the file is the list
  std::vector<uint32_t> lines = {};  // of each caption, from 1, in files of lines; else empty
  std::string left_out = {};         // "3 captions of …, the first is annotations[2] of image 9"; "": none

  /// Where a caption is: "annotations[3]", "line 4".
  std::string caption_place(size_t caption) const;
  /// "image 9", or in files without ids the file name.
  std::string image_name(size_t image) const;
};

struct CaptionFormat {
  std::string_view name;
  /// Whether a file looks like this format, by its first bytes.
  bool (*matches)(std::string_view begin);
  /// Throws data errors that name `source` and the place.
  CaptionFile (*parse)(std::span<const std::byte> bytes, const std::string& source);
};
/// The first that matches reads a file.
std::span<const CaptionFormat> caption_formats();

/// Data errors of the format; of a file of none, the list of the formats.
CaptionFile parse_captions(std::span<const std::byte> bytes, const std::string& source);
CaptionFile read_captions(const std::string& path);
/// The text of a JSON file, without a byte order mark; data error if it is not UTF-8.
std::string_view json_text(std::span<const std::byte> bytes, const std::string& source);
/// Whether an existing file looks like one of the formats.
bool is_caption_file(const std::string& path);

}  // namespace modewise::io
