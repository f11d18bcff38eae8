#pragma once
// Captions as COCO's files have them: annotations ({"images": [{"id", "file_name"}], "annotations":
// [{"image_id", "caption"}]}) and results ([{"image_id", "caption"}]). Other members are passed over.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace modewise::io {

/// Texts with the numbers of images, in the order of the file, all in one string.
class ImageTexts {
 public:
  size_t size() const { return images_.size(); }
  int64_t image(size_t i) const { return images_[i]; }
  std::string_view text(size_t i) const;
  /// Which texts `image` has, in the order of the file.
  std::span<const uint32_t> of(int64_t image) const;

  // How a reader fills it: reserve (the most that there will be), add, sort.
  void reserve(size_t count, size_t bytes);
  void add(int64_t image, std::string_view text);
  void sort();

 private:
  std::vector<int64_t> images_;
  std::vector<size_t> ends_;  // of each text
  std::string texts_;
  std::vector<uint32_t> order_;  // by image
};

struct CocoCaptions {
  ImageTexts images;    // and the names of their files
  ImageTexts captions;  // none or several an image
};

/// Throws data errors that name `source`, the entry ("annotations[3]", from 0) and its byte: no UTF-8, no
/// JSON, another shape, a member that is missing, stands twice or has another type, an image that is listed
/// twice, a caption of an image that is not listed. A caption may be empty.
CocoCaptions parse_coco_captions(std::span<const std::byte> bytes, const std::string& source);
CocoCaptions read_coco_captions(const std::string& path);

/// One caption an image. Throws data errors as above, and for an image that has two.
ImageTexts parse_coco_results(std::span<const std::byte> bytes, const std::string& source);
ImageTexts read_coco_results(const std::string& path);

}  // namespace modewise::io
