// Pixels and features of captioned images.

#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>
#include <fmt/ranges.h>

#include <cstring>
#include <map>

#include "modewise/core/error.h"
#include "modewise/core/memory.h"
#include "modewise/data/array_tensor.h"
#include "modewise/data/broken_files.h"
#include "modewise/data/captioning/caption_sources.h"
#include "modewise/io/arrays/npz.h"
#include "modewise/io/images/image_resize.h"

namespace modewise::data {
namespace {

constexpr int64_t kColors = 3;

/// Converts grey to RGB and resizes to config.size.
io::Image square_colors(const io::Image& image, const CaptionConfig& config) {
  const io::Image sized = config.fit == "crop" ? io::fitted(image, config.size, config.size)
                                               : io::resized(image, config.size, config.size);
  if (sized.channels == kColors) return sized;
  io::Image out{sized.height, sized.width, kColors, {}};
  out.pixels.reserve(kColors * sized.pixels.size());
  for (const uint8_t grey : sized.pixels) out.pixels.insert(out.pixels.end(), kColors, grey);
  return out;
}

void require_room(int64_t count, const CaptionConfig& config) {
  const double bytes = static_cast<double>(count) * static_cast<double>(kColors * config.size * config.size);
  const auto free = static_cast<double>(available_memory());
  require(bytes <= free, ErrorKind::data,
          "{}: {} images of {} × {} pixels need {} of memory, {} are free; reduce data.size", config.path,
          count, config.size, config.size, memory_text(bytes), memory_text(free));
}

}  // namespace

at::Tensor stored_image(const io::Image& image, const CaptionConfig& config) {
  const io::Image stored = square_colors(image, config);
  const at::Tensor pixels = at::empty({config.size, config.size, kColors}, at::kByte);
  std::memcpy(pixels.mutable_data_ptr<uint8_t>(), stored.pixels.data(), stored.pixels.size());
  return pixels;
}

at::Tensor read_pixels(CaptionSet& set, const ImagePaths& files, const CaptionConfig& config) {
  require_room(std::ssize(files), config);
  const at::Tensor pixels = at::empty({std::ssize(files), config.size, config.size, kColors}, at::kByte);
  BrokenFiles broken(config.skip_broken, std::ssize(files));
  std::vector<bool> out(files.size(), false);
  int64_t read = 0;
  for (size_t i = 0; i < files.size(); ++i) {
    std::string remark;
    const io::ImageReadOptions options{config.size, config.size, config.allow_size, &remark};
    io::Image image;
    out[i] = !broken.read([&] { image = io::read_image(files[i], options); });
    if (out[i]) continue;
    if (!remark.empty()) broken.note_damaged(files[i].string(), remark);
    pixels.select(0, read++).copy_(stored_image(image, config));
  }
  leave_out(set, out);
  for (std::string& warning : broken.warnings()) set.warn(std::move(warning));
  return pixels.narrow(0, 0, read);
}

at::Tensor read_features(const std::string& path, const CaptionSet& set) {
  std::map<std::string, io::Array> arrays = io::read_npz(path);
  for (const char* name : {"ids", "features"})
    require(arrays.contains(name), ErrorKind::data,
            "{}: expected the arrays ids [n] and features [n, height, width, features]; {} is missing", path,
            name);
  io::Array& ids = arrays.at("ids");
  io::Array& features = arrays.at("features");
  require(ids.dtype == io::Array::i64 && ids.shape.size() == 1, ErrorKind::data,
          "{}: ids: expected [n] of int64, got {} [{}]", path, io::dtype_name(ids.dtype),
          fmt::join(ids.shape, ", "));
  require(features.dtype == io::Array::f32 && features.shape.size() == 4 && features.size() > 0 &&
              features.shape[0] == ids.shape[0],
          ErrorKind::data, "{}: features: expected [{}, height, width, features] of float32, got {} [{}]",
          path, ids.shape[0], io::dtype_name(features.dtype), fmt::join(features.shape, ", "));
  const at::Tensor rows = owning_tensor(std::move(ids));
  const at::Tensor all = owning_tensor(std::move(features));
  require(all.isfinite().all().item<bool>(), ErrorKind::data, "{}: features: not all values are finite",
          path);
  std::map<int64_t, int64_t> row_of;
  for (int64_t i = 0; i < rows.size(0); ++i) {
    const int64_t id = rows.const_data_ptr<int64_t>()[i];
    require(row_of.emplace(id, i).second, ErrorKind::data, "{}: duplicate id {} in ids", path, id);
  }
  std::vector<int64_t> wanted;
  for (const CaptionedImage& image : set.images) {
    const auto found = row_of.find(image.id);
    require(found != row_of.end(), ErrorKind::data, "{}: no features for image {}, which has captions in {}",
            path, image.id, set.source);
    wanted.push_back(found->second);
  }
  return at::index_select(all, 0, at::tensor(wanted, at::kLong));
}

}  // namespace modewise::data
