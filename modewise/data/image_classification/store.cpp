#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>

#include "modewise/core/error.h"
#include "modewise/core/memory.h"
#include "modewise/core/unpacked_limit.h"
#include "modewise/data/image_classification/sources.h"
#include "modewise/io/images/image_resize.h"

namespace modewise::data {
namespace {

io::Image of_size(io::Image image, const ImageConfig& config) {
  if (config.size.empty() || (image.height == config.size[0] && image.width == config.size[1])) return image;
  return config.fit == "crop" ? io::fitted(image, config.size[0], config.size[1])
                              : io::resized(image, config.size[0], config.size[1]);
}

/// Grey by the luma of ITU-R BT.601 in 16 bits, like Pillow's `convert("L")`.
io::Image of_channels(io::Image image, int64_t channels) {
  if (image.channels == channels) return image;
  io::Image out{image.height, image.width, channels, {}};
  const auto count = static_cast<size_t>(image.height * image.width);
  out.pixels.resize(count * static_cast<size_t>(channels));
  for (size_t i = 0; i < count; ++i) {
    if (channels == 3) {
      std::fill_n(out.pixels.begin() + static_cast<std::ptrdiff_t>(3 * i), 3, image.pixels[i]);
    } else {
      const uint8_t* color = image.pixels.data() + 3 * i;
      const uint32_t luma = 19595U * color[0] + 38470U * color[1] + 7471U * color[2] + 32768U;
      out.pixels[i] = static_cast<uint8_t>(luma >> 16);
    }
  }
  return out;
}

}  // namespace

void ImageStore::begin(const io::Image& first, const std::string& name) {
  const int64_t channels = config_.channels == "grey" ? 1 : 3;
  const double bytes =
      static_cast<double>(count_) * static_cast<double>(first.height * first.width * channels);
  require(bytes <= static_cast<double>(unpacked_limit(file_bytes_)) || config_.allow_size ||
              !config_.size.empty(),
          ErrorKind::data,
          "{}: {} images of {} x {} pixels take {} of memory, more than 512 MiB and 32 times their files; "
          "data.size = [height, width] resizes them, --allow-size (data.allow_size = true) reads them anyway",
          name, count_, first.height, first.width, memory_text(bytes));
  const auto free = static_cast<double>(available_memory());
  require(bytes <= free, ErrorKind::data,
          "{}: {} images of {} x {} pixels need {} of memory, {} are free; reduce data.size", name, count_,
          first.height, first.width, memory_text(bytes), memory_text(free));
  pixels_ = at::empty({count_, first.height, first.width, channels}, at::kByte);
  first_ = name;
  packed_ = config_.channels == "auto";
}

/// Repeats each packed pixel three times, from the last on, in place.
void ImageStore::widen() {
  uint8_t* pixels = pixels_.mutable_data_ptr<uint8_t>();
  for (int64_t i = end_; i-- > 0;) {
    const uint8_t grey = pixels[i];
    std::fill_n(pixels + 3 * i, 3, grey);
  }
  packed_ = false;
}

void ImageStore::put(int64_t place, io::Image image, const std::string& name) {
  image = of_size(std::move(image), config_);
  if (!pixels_.defined()) begin(image, name);
  require(image.height == pixels_.size(1) && image.width == pixels_.size(2), ErrorKind::data,
          "{}: {} x {} pixels, but {} has {} x {}; data.size = [height, width] resizes all images", name,
          image.height, image.width, first_, pixels_.size(1), pixels_.size(2));
  if (packed_ && image.channels == 3) widen();
  image = of_channels(std::move(image), packed_ ? 1 : pixels_.size(3));
  std::memcpy(pixels_.mutable_data_ptr<uint8_t>() + place * std::ssize(image.pixels), image.pixels.data(),
              image.pixels.size());
  if (packed_) end_ = (place + 1) * std::ssize(image.pixels);
}

at::Tensor ImageStore::take() {
  if (!packed_) return pixels_;
  const int64_t height = pixels_.size(1), width = pixels_.size(2);
  return pixels_.view(-1).narrow(0, 0, count_ * height * width).view({count_, height, width, 1});
}

at::Tensor stored_images(const at::Tensor& pixels, const ImageConfig& config, const std::string& name) {
  const int64_t height = pixels.size(1), width = pixels.size(2), channels = pixels.size(3);
  const bool same_size = config.size.empty() || (config.size[0] == height && config.size[1] == width);
  const bool same_channels = config.channels == "auto" || (config.channels == "grey") == (channels == 1);
  if (same_size && same_channels) return pixels;
  ImageStore store(config, pixels.size(0), pixels.numel());
  const at::Tensor whole = pixels.contiguous();
  const uint8_t* values = whole.const_data_ptr<uint8_t>();
  const int64_t bytes = height * width * channels;
  for (int64_t i = 0; i < pixels.size(0); ++i)
    store.put(i, {height, width, channels, {values + i * bytes, values + (i + 1) * bytes}}, name);
  return store.take();
}

}  // namespace modewise::data
