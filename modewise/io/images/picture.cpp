#include "modewise/io/images/picture.h"

#include <cctype>

#include "modewise/core/error.h"
#include "modewise/io/images/jpeg.h"
#include "modewise/io/images/png.h"
#include "modewise/io/mapped_file.h"

namespace modewise::io {

void require_pixels(const Picture& picture, const char* name) {
  const int64_t height = picture.height, width = picture.width, channels = picture.channels;
  require(height > 0 && width > 0 && height <= INT32_MAX && width <= INT32_MAX &&
              (channels == 1 || channels == 3) && std::ssize(picture.pixels) == height * width * channels,
          ErrorKind::internal, "{}: {} bytes are no picture of {} x {} pixels of {} channels", name,
          picture.pixels.size(), height, width, channels);
}

bool named_as_picture(const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

Picture parse_picture(std::span<const std::byte> bytes, const std::string& source,
                      const PictureOptions& options) {
  if (is_png(bytes)) return parse_png(bytes, source, options);
  require(is_jpeg(bytes), ErrorKind::data,
          "{}: expected a picture, PNG or JPEG; the {} bytes begin as neither does", source, bytes.size());
  return parse_jpeg(bytes, source, options);
}

Picture read_picture(const std::filesystem::path& path, const PictureOptions& options) {
  const MappedFile file(path);
  return parse_picture(file.bytes(), path.string(), options);
}

}  // namespace modewise::io
