#include "modewise/data/segmentation/raster.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include "modewise/core/data_files.h"
#include "modewise/core/error.h"
#include "modewise/io/arrays/npy.h"

namespace modewise::data {
namespace {

namespace fs = std::filesystem;

class TiffRaster final : public Raster {
 public:
  explicit TiffRaster(const std::string& path) : reader_(path) {
    const io::TiffInfo& tiff = reader_.info();
    info_ = {1, tiff.height, tiff.width, tiff.bands, tiff.dtype, tiff.nodata, tiff.geo, path, 0};
    std::error_code error;
    info_.file_bytes = static_cast<int64_t>(fs::file_size(path, error));
  }

  void read(const PixelRect& window, std::span<float> out) const override {
    reader_.read(window.row, window.column, window.height, window.width, out);
  }

 private:
  io::TiffReader reader_;
};

/// Size and stride of an axis, in elements.
struct Axis {
  int64_t size = 1, stride = 0;
};

class ArrayRaster final : public Raster {
 public:
  ArrayRaster(const std::string& path, std::string axes) : array_(io::read_npy(path)) {
    const size_t rank = array_.shape.size();
    if (axes == "auto") axes = rank == 2 ? "hw" : rank == 3 ? "hwc" : rank == 4 ? "thwc" : "";
    require(axes.size() == rank && rank > 0, ErrorKind::data,
            "{}: an array with {} axes, but an image has {} (data.axes sets their order)", path, rank,
            axes.empty() ? std::string("2, 3 or 4") : std::to_string(axes.size()) + ", '" + axes + "'");
    int64_t stride = 1;
    for (size_t i = rank; i-- > 0;) {
      axis(axes[i]) = {array_.shape[i], stride};
      stride *= array_.shape[i];
    }
    require(array_.size() > 0, ErrorKind::data, "{}: the array has no elements", path);
    info_.times = time_.size;
    info_.height = row_.size;
    info_.width = column_.size;
    info_.bands = band_.size;
    info_.dtype = io::dtype_name(array_.dtype);
    info_.source = path;
    info_.file_bytes = static_cast<int64_t>(array_.bytes.size());
  }

  void read(const PixelRect& window, std::span<float> out) const override {
    switch (array_.dtype) {
      case io::Array::u8:
      case io::Array::boolean:
        return copy<uint8_t>(window, out);
      case io::Array::i8:
        return copy<int8_t>(window, out);
      case io::Array::u16:
        return copy<uint16_t>(window, out);
      case io::Array::i16:
        return copy<int16_t>(window, out);
      case io::Array::u32:
        return copy<uint32_t>(window, out);
      case io::Array::i32:
        return copy<int32_t>(window, out);
      case io::Array::u64:
        return copy<uint64_t>(window, out);
      case io::Array::i64:
        return copy<int64_t>(window, out);
      case io::Array::f32:
        return copy<float>(window, out);
      case io::Array::f64:
        return copy<double>(window, out);
      case io::Array::f16:
        fail(ErrorKind::data, "{}: float16 images are not supported; save it as float32", info_.source);
    }
  }

 private:
  Axis& axis(char letter) {
    return letter == 't' ? time_ : letter == 'h' ? row_ : letter == 'w' ? column_ : band_;
  }

  template <class T>
  void copy(const PixelRect& window, std::span<float> out) const {
    size_t at = 0;
    for (int64_t t = 0; t < time_.size; ++t)
      for (int64_t row = window.row; row < window.row + window.height; ++row)
        for (int64_t column = window.column; column < window.column + window.width; ++column) {
          const int64_t pixel = t * time_.stride + row * row_.stride + column * column_.stride;
          for (int64_t band = 0; band < band_.size; ++band, ++at) {
            T value;
            std::memcpy(&value, array_.bytes.data() + (pixel + band * band_.stride) * int64_t{sizeof(T)},
                        sizeof(T));
            out[at] = static_cast<float>(value);
          }
        }
  }

  io::Array array_;
  Axis time_, row_, column_, band_;
};

class MemoryRaster final : public Raster {
 public:
  explicit MemoryRaster(const Raster& raster) {
    info_ = raster.info();
    values_.resize(static_cast<size_t>(info_.times * info_.pixels() * info_.bands));
    raster.read({0, 0, info_.height, info_.width}, values_);
  }

  void read(const PixelRect& window, std::span<float> out) const override {
    const int64_t run = window.width * info_.bands;
    float* to = out.data();
    for (int64_t t = 0; t < info_.times; ++t)
      for (int64_t row = window.row; row < window.row + window.height; ++row, to += run) {
        const int64_t from = ((t * info_.height + row) * info_.width + window.column) * info_.bands;
        std::copy_n(values_.data() + from, run, to);
      }
  }

 private:
  std::vector<float> values_;
};

}  // namespace

bool is_raster_name(const std::string& path) {
  const std::string end = lower_extension(path);
  return end == ".tif" || end == ".tiff" || end == ".npy";
}

std::unique_ptr<Raster> open_raster(const std::string& path, const std::string& axes) {
  std::unique_ptr<Raster> raster;
  if (lower_extension(path) == ".npy")
    raster = std::make_unique<ArrayRaster>(path, axes);
  else
    raster = std::make_unique<TiffRaster>(path);
  return raster;
}

std::unique_ptr<Raster> in_memory(const Raster& raster) {
  return std::make_unique<MemoryRaster>(raster);
}

}  // namespace modewise::data
