#pragma once
// COCO caption files: annotations ({"images": [{"id", "file_name"}], "annotations": [{"image_id",
// "caption"}]}) and results ([{"image_id", "caption"}]). Other members are ignored.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace modewise::io {

/// Texts with image ids, in file order, all in one string.
class ImageTexts {
 public:
  size_t size() const { return images_.size(); }
  int64_t image(size_t i) const { return images_[i]; }
  std::string_view text(size_t i) const;
  /// Indices of the texts of `image`, in file order.
  std::span<const uint32_t> of(int64_t image) const;

  // For readers: reserve (upper bounds), add, sort.
  void reserve(size_t count, size_t bytes);
  void add(int64_t image, std::string_view text);
  void sort();

 private:
  std::vector<int64_t> images_;
  std::vector<size_t> ends_;  // of each text
  std::string texts_;
  std::vector<uint32_t> order_;  // sorted by image
};

struct CocoCaptions {
  ImageTexts images;    // file names; "": none
  ImageTexts captions;  // zero or more per image
};

/// Throws data errors that name `source`, the entry ("annotations[3]", from 0) and its byte: not UTF-8, not
/// JSON, another structure, a member that is missing, duplicate or of the wrong type, a duplicate image, a
/// caption of an image that is not listed. A caption may be empty.
CocoCaptions parse_coco_captions(std::span<const std::byte> bytes, const std::string& source);
CocoCaptions read_coco_captions(const std::string& path);

/// One caption per image. Throws data errors as above, and for an image with two captions.
ImageTexts parse_coco_results(std::span<const std::byte> bytes, const std::string& source);
ImageTexts read_coco_results(const std::string& path);

}  // namespace modewise::io
