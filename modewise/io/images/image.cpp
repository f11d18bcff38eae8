#include "modewise/io/images/image.h"

#include <cctype>

#include "modewise/core/error.h"
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
  std::string ending = path.extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

Image parse_image(std::span<const std::byte> bytes, const std::string& source,
                  const ImageReadOptions& options) {
  if (is_png(bytes)) return parse_png(bytes, source, options);
  require(is_jpeg(bytes), ErrorKind::data,
          "{}: expected a PNG or JPEG image; the {} bytes begin with neither signature", source,
          bytes.size());
  return parse_jpeg(bytes, source, options);
}

Image read_image(const std::filesystem::path& path, const ImageReadOptions& options) {
  const MappedFile file(path);
  return parse_image(file.bytes(), path.string(), options);
}

}  // namespace modewise::io
