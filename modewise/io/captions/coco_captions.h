#pragma once
// COCO caption files: annotations ({"images": [{"id", "file_name"}], "annotations": [{"image_id",
// "caption"}]}) and results ([{"image_id", "caption", "file_name"}]). Other members are ignored.

#include <cstddef>
#include <span>
#include <string>

#include "modewise/io/captions/caption_file.h"

namespace modewise::io {

/// Throws data errors that name `source`, the entry ("annotations[3]", from 0) and its byte: not UTF-8, not
/// JSON, another structure, a member that is missing, duplicate or of the wrong type, a duplicate image. A
/// caption may be empty.
CaptionFile parse_coco_captions(std::span<const std::byte> bytes, const std::string& source);

/// One caption per image.
struct CaptionResults {
  ImageTexts captions;
  ImageTexts files;  // file name of each caption, in their order; "": none
};
/// Throws data errors as above, and for an image with two captions.
CaptionResults parse_coco_results(std::span<const std::byte> bytes, const std::string& source);
CaptionResults read_coco_results(const std::string& path);

}  // namespace modewise::io
