#include "modewise/io/images/image.h"

#include "modewise/core/data_files.h"
#include "modewise/core/error.h"
#include "modewise/io/file_kind.h"
#include "modewise/io/images/jpeg.h"
#include "modewise/io/images/png.h"
#include "modewise/io/mapped_file.h"

namespace modewise::io {

void require_pixels(const Image& image, const char* name) {
  const int64_t height = image.height, width = image.width, channels = image.channels;
  require(height > 0 && width > 0 && height <= INT32_MAX && width <= INT32_MAX &&
              (channels == 1 || channels == 3) && std::ssize(image.pixels) == height * width * channels,
          ErrorKind::internal, "{}: {} bytes are not an image of {} x {} pixels of {} channels", name,
          image.pixels.size(), height, width, channels);
}

bool named_as_image(const std::filesystem::path& path) {
  const std::string ending = lower_extension(path);
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg" || ending == ".jpe" || ending == ".jfif";
}

Image parse_image(std::span<const std::byte> bytes, const std::string& source,
                  const ImageReadOptions& options) {
  if (is_png(bytes)) return parse_png(bytes, source, options);
  if (!is_jpeg(bytes)) {
    const std::string_view kind = file_kind(bytes).name;
    require(kind.empty(), ErrorKind::data, "{}: expected a PNG or JPEG image; this is {}", source, kind);
    fail(ErrorKind::data, "{}: expected a PNG or JPEG image; the {} bytes begin with neither signature",
         source, bytes.size());
  }
  return parse_jpeg(bytes, source, options);
}

Image read_image(const std::filesystem::path& path, const ImageReadOptions& options) {
  const MappedFile file(path);
  return parse_image(file.bytes(), path.string(), options);
}

}  // namespace modewise::io
