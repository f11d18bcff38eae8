#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>

#include "modewise/core/error.h"
#include "modewise/core/memory.h"
#include "modewise/data/pictures/sources.h"
#include "modewise/io/images/picture_resize.h"

namespace modewise::data {
namespace {

io::Picture of_size(io::Picture picture, const PictureConfig& config) {
  if (config.size.empty() || (picture.height == config.size[0] && picture.width == config.size[1]))
    return picture;
  return config.fit == "crop" ? io::fitted(picture, config.size[0], config.size[1])
                              : io::resized(picture, config.size[0], config.size[1]);
}

/// Luma of ITU-R BT.601 in 16 bits, as Pillow's `convert("L")`.
io::Picture of_channels(io::Picture picture, int64_t channels) {
  if (picture.channels == channels) return picture;
  io::Picture out{picture.height, picture.width, channels, {}};
  const auto count = static_cast<size_t>(picture.height * picture.width);
  out.pixels.resize(count * static_cast<size_t>(channels));
  for (size_t i = 0; i < count; ++i) {
    if (channels == 3) {
      std::fill_n(out.pixels.begin() + static_cast<std::ptrdiff_t>(3 * i), 3, picture.pixels[i]);
    } else {
      const uint8_t* color = picture.pixels.data() + 3 * i;
      const uint32_t luma = 19595U * color[0] + 38470U * color[1] + 7471U * color[2] + 32768U;
      out.pixels[i] = static_cast<uint8_t>(luma >> 16);
    }
  }
  return out;
}

}  // namespace

void PictureStore::begin(const io::Picture& first, const std::string& name) {
  const int64_t channels = config_.channels == "grey" ? 1 : 3;
  const double bytes =
      static_cast<double>(count_) * static_cast<double>(first.height * first.width * channels);
  const auto free = static_cast<double>(available_memory());
  require(bytes <= free, ErrorKind::data,
          "{}: {} pictures of {} x {} pixels take {}, but {} are free; data.size makes them smaller", name,
          count_, first.height, first.width, memory_text(bytes), memory_text(free));
  pixels_ = at::empty({count_, first.height, first.width, channels}, at::kByte);
  first_ = name;
}

void PictureStore::put(int64_t place, io::Picture picture, const std::string& name) {
  picture = of_size(std::move(picture), config_);
  if (!pixels_.defined()) begin(picture, name);
  require(picture.height == pixels_.size(1) && picture.width == pixels_.size(2), ErrorKind::data,
          "{}: {} x {} pixels, but {} has {} x {}; data.size = [height, width] makes all alike", name,
          picture.height, picture.width, first_, pixels_.size(1), pixels_.size(2));
  colored_ = colored_ || picture.channels == 3;
  picture = of_channels(std::move(picture), pixels_.size(3));
  std::memcpy(pixels_.mutable_data_ptr<uint8_t>() + place * std::ssize(picture.pixels), picture.pixels.data(),
              picture.pixels.size());
}

at::Tensor PictureStore::take() {
  if (config_.channels != "auto" || colored_) return pixels_;
  return pixels_.narrow(3, 0, 1).contiguous();
}

at::Tensor stored_pictures(const at::Tensor& pixels, const PictureConfig& config, const std::string& name) {
  const int64_t height = pixels.size(1), width = pixels.size(2), channels = pixels.size(3);
  const bool same_size = config.size.empty() || (config.size[0] == height && config.size[1] == width);
  const bool same_channels = config.channels == "auto" || (config.channels == "grey") == (channels == 1);
  if (same_size && same_channels) return pixels;
  PictureStore store(config, pixels.size(0));
  const at::Tensor whole = pixels.contiguous();
  const uint8_t* values = whole.const_data_ptr<uint8_t>();
  const int64_t bytes = height * width * channels;
  for (int64_t i = 0; i < pixels.size(0); ++i)
    store.put(i, {height, width, channels, {values + i * bytes, values + (i + 1) * bytes}}, name);
  return store.take();
}

}  // namespace modewise::data
