#include "modewise/data/segmentation/raster.h"

#include <c10/util/Half.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include "modewise/core/counted.h"
#include "modewise/core/data_files.h"
#include "modewise/core/error.h"
#include "modewise/io/arrays/npy_header.h"
#include "modewise/io/images/image.h"
#include "modewise/io/images/jpeg.h"
#include "modewise/io/images/png.h"
#include "modewise/io/images/world_file.h"
#include "modewise/io/mapped_file.h"

namespace modewise::data {
namespace {

namespace fs = std::filesystem;

class TiffRaster final : public Raster {
 public:
  explicit TiffRaster(const std::string& path) : reader_(path) {
    const io::TiffInfo& tiff = reader_.info();
    info_ = {1,        tiff.height, tiff.width, tiff.bands, tiff.dtype, tiff.nodata,
             tiff.geo, path,        0,          tiff.pages, tiff.masked};
    place_by_world_file();
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
  ArrayRaster(const std::string& path, std::string axes, bool is_mask)
      : file_(path),
        header_(io::parse_npy_header(file_.bytes(), path)),
        data_(io::npy_data(header_, file_.bytes(), path)) {
    const size_t rank = header_.shape.size();
    if (axes == "auto" || (is_mask && rank == 2))
      axes = rank == 2 ? "hw" : rank == 3 ? "hwc" : rank == 4 ? "thwc" : "";
    require(axes.size() == rank && rank > 0, ErrorKind::data,
            "{}: an array with {} axes, but an image has {} (data.axes sets their order)", path, rank,
            axes.empty() ? std::string("2, 3 or 4") : std::to_string(axes.size()) + ", '" + axes + "'");
    int64_t stride = 1;
    for (size_t i = 0; i < rank; ++i) {
      const size_t place = header_.fortran_order ? i : rank - 1 - i;  // the fastest axis first
      axis(axes[place]) = {header_.shape[place], stride};
      stride *= header_.shape[place];
    }
    require(stride > 0, ErrorKind::data, "{}: the array has no elements", path);
    info_.times = time_.size;
    info_.height = row_.size;
    info_.width = column_.size;
    info_.bands = band_.size;
    info_.dtype = io::dtype_name(header_.dtype);
    info_.source = path;
    info_.file_bytes = static_cast<int64_t>(data_.size());
  }

  void read(const PixelRect& window, std::span<float> out) const override {
    switch (header_.dtype) {
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
        return copy<c10::Half>(window, out);
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
            std::array<std::byte, sizeof(T)> item;
            std::memcpy(item.data(), data_.data() + (pixel + band * band_.stride) * int64_t{sizeof(T)},
                        sizeof(T));
            if (header_.big_endian) std::reverse(item.begin(), item.end());
            out[at] = static_cast<float>(std::bit_cast<T>(item));
          }
        }
  }

  io::MappedFile file_;
  io::NpyHeader header_;
  std::span<const std::byte> data_;
  Axis time_, row_, column_, band_;
};

template <class T>
class MemoryRaster final : public Raster {
 public:
  explicit MemoryRaster(const Raster& raster) {
    info_ = raster.info();
    const int64_t width = info_.width * info_.bands;
    const int64_t step = std::clamp<int64_t>((int64_t{1} << 20) / (info_.times * width), 1, info_.height);
    // Allocated before values_, so that the next of many images finds its memory free.
    std::vector<float> part(static_cast<size_t>(info_.times * step * width));
    values_.resize(static_cast<size_t>(info_.times * info_.height * width));
    for (int64_t row = 0; row < info_.height; row += step) {
      const int64_t rows = std::min(step, info_.height - row), size = rows * width;
      raster.read({row, 0, rows, info_.width},
                  std::span(part).first(static_cast<size_t>(info_.times * size)));
      for (int64_t t = 0; t < info_.times; ++t)
        std::transform(part.begin() + t * size, part.begin() + (t + 1) * size,
                       values_.begin() + (t * info_.height + row) * width,
                       [](float value) { return static_cast<T>(value); });
    }
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
  std::vector<T> values_;
};

/// Whether T holds the file's numbers: those of its type, as TIFF or numpy calls it, and nodata, which fills
/// missing blocks.
template <class T>
bool holds(const RasterInfo& info, std::initializer_list<std::string_view> dtypes) {
  const double nodata = info.nodata.value_or(0);
  return std::ranges::find(dtypes, info.dtype) != dtypes.end() && nodata == std::floor(nodata) &&
         nodata >= std::numeric_limits<T>::min() && nodata <= std::numeric_limits<T>::max();
}

/// Calls use(T()) with the type of the numbers in memory.
template <class Use>
auto with_type_in_memory(const RasterInfo& info, const Use& use) {
  if (info.masked) return use(float());
  if (holds<uint8_t>(info, {"u8", "uint8", "bool"})) return use(uint8_t());
  if (holds<int8_t>(info, {"i8", "int8"})) return use(int8_t());
  if (holds<uint16_t>(info, {"u16", "uint16"})) return use(uint16_t());
  if (holds<int16_t>(info, {"i16", "int16"})) return use(int16_t());
  return use(float());
}

/// A PNG or JPEG image, decoded when it is opened. Fully transparent pixels are NaN.
class DecodedRaster final : public Raster {
 public:
  DecodedRaster(const std::string& path, bool is_mask) : image_(decoded(path, is_mask)) {
    info_.height = image_.height;
    info_.width = image_.width;
    info_.bands = image_.channels - (image_.alpha ? 1 : 0);
    info_.dtype = image_.number_bytes == 2 ? "uint16" : "uint8";
    info_.source = path;
    std::error_code error;
    info_.file_bytes = static_cast<int64_t>(fs::file_size(path, error));
    for (int64_t pixel = 0; pixel < info_.pixels() && image_.alpha && !info_.masked; ++pixel)
      info_.masked = number(pixel, image_.channels - 1) == 0;
    if (is_mask && info_.bands == 3 && is_grey()) info_.bands = 1;
    place_by_world_file();
  }

  void read(const PixelRect& window, std::span<float> out) const override {
    size_t at = 0;
    for (int64_t row = window.row; row < window.row + window.height; ++row)
      for (int64_t column = window.column; column < window.column + window.width; ++column) {
        const int64_t pixel = row * image_.width + column;
        const bool empty = info_.masked && number(pixel, image_.channels - 1) == 0;
        for (int64_t band = 0; band < info_.bands; ++band, ++at)
          out[at] = empty ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(number(pixel, band));
      }
  }

 private:
  static io::PngNumbers decoded(const std::string& path, bool is_mask) {
    const io::MappedFile file(path);
    if (io::is_png(file.bytes()))
      return io::parse_png_numbers(file.bytes(), path,
                                   is_mask ? io::PngPalette::indices : io::PngPalette::colors);
    require(!is_mask || !io::is_jpeg(file.bytes()), ErrorKind::data,
            "{}: a JPEG changes the numbers of its pixels, so it cannot be a mask of class ids: give a PNG, "
            "GeoTIFF or NPY mask",
            path);
    io::Image image =
        io::parse_image(file.bytes(), path, {.remedy = "convert it to GeoTIFF, which is read in parts"});
    return {image.height, image.width, image.channels, 1, false, std::move(image.pixels)};
  }

  uint16_t number(int64_t pixel, int64_t channel) const {
    const auto at = static_cast<size_t>(pixel * image_.channels + channel);
    if (image_.number_bytes == 1) return image_.bytes[at];
    uint16_t value = 0;
    std::memcpy(&value, image_.bytes.data() + 2 * at, sizeof(value));
    return value;
  }
  bool is_grey() const {
    for (int64_t pixel = 0; pixel < info_.pixels(); ++pixel)
      if (number(pixel, 0) != number(pixel, 1) || number(pixel, 0) != number(pixel, 2)) return false;
    return true;
  }

  io::PngNumbers image_;
};

std::unique_ptr<Raster> opened(const std::string& path, const std::string& axes, bool is_mask) {
  if (lower_extension(path) == ".npy") return std::make_unique<ArrayRaster>(path, axes, is_mask);
  if (io::named_as_image(path)) return std::make_unique<DecodedRaster>(path, is_mask);
  return std::make_unique<TiffRaster>(path);
}

}  // namespace

void Raster::place_by_world_file() {
  if (info_.geo &&
      !(info_.geo->pixel_scale.empty() && info_.geo->tie_points.empty() && info_.geo->transformation.empty()))
    return;
  const std::optional<std::array<double, 6>> world = io::read_world_file(info_.source);
  if (!world) return;
  if (!info_.geo) info_.geo.emplace();
  const auto [a, b, c, d, e, f] = *world;
  info_.geo->transformation = {a, b, 0, c, d, e, 0, f, 0, 0, 0, 0, 0, 0, 0, 1};
}

bool is_raster_name(const std::string& path) {
  const std::string end = lower_extension(path);
  return end == ".tif" || end == ".tiff" || end == ".npy";
}

std::unique_ptr<Raster> open_raster(const std::string& path, const std::string& axes) {
  return opened(path, axes, false);
}

std::unique_ptr<Raster> open_mask(const std::string& path, const std::string& axes) {
  return opened(path, axes, true);
}

std::string unread_pages(const RasterInfo& info) {
  if (info.pages == 1) return "";
  return fmt::format("{}: {} after the first {} left out; an image is one page, with its bands in it",
                     info.source, counted(info.pages - 1, "page"), is_or_are(info.pages - 1));
}

std::unique_ptr<Raster> in_memory(const Raster& raster) {
  return with_type_in_memory(raster.info(), [&]<class T>(T) -> std::unique_ptr<Raster> {
    return std::make_unique<MemoryRaster<T>>(raster);
  });
}

int64_t bytes_in_memory(const RasterInfo& info) {
  return with_type_in_memory(
      info, [&]<class T>(T) { return info.times * info.pixels() * info.bands * int64_t{sizeof(T)}; });
}

}  // namespace modewise::data
