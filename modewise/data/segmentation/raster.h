#pragma once
// Rasters: images of any size, read by windows: GeoTIFF, and NPY arrays with rows, columns, bands and dates
// in any usual order. PNG and JPEG images are decoded as a whole.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "modewise/io/images/tiff.h"

namespace modewise::data {

/// A rectangle of pixels, which may exceed the image.
struct PixelRect {
  int64_t row = 0, column = 0, height = 0, width = 0;
  int64_t pixels() const { return height * width; }
  bool operator==(const PixelRect&) const = default;
};

struct RasterInfo {
  int64_t times = 1, height = 0, width = 0, bands = 1;
  std::string dtype;
  std::optional<double> nodata;
  std::optional<io::GeoReference> geo;
  std::string source;
  int64_t file_bytes = 0;
  int64_t pages = 1;    // images of full size in the file, of which the first is read
  bool masked = false;  // pixels that the file's mask excludes are NaN
  int64_t pixels() const { return height * width; }
};

class Raster {
 public:
  virtual ~Raster() = default;
  const RasterInfo& info() const { return info_; }
  /// Reads the window [T, height, width, bands], C order, which must be inside the image. Thread-safe.
  virtual void read(const PixelRect& window, std::span<float> out) const = 0;

 protected:
  /// Places the pixels by the image's world file if its tags do not.
  void place_by_world_file();

  RasterInfo info_;
};

/// Opens an image; `axes` (NPY only) as in SegmentationDataConfig. Throws no_input if the file does not exist
/// or is not readable, data errors if it is not an image.
std::unique_ptr<Raster> open_raster(const std::string& path, const std::string& axes);
/// Opens a mask of class ids: as an image, but an NPY array of two axes is [h, w] whatever `axes`, and the
/// ids of a PNG are its grey levels as they are stored, or the indices of its palette. Data error for a JPEG,
/// whose numbers are not exact.
std::unique_ptr<Raster> open_mask(const std::string& path, const std::string& axes);
/// Warning about pages that are not read; "": there are none.
std::string unread_pages(const RasterInfo& info);
/// Whether the name has an extension of GeoTIFF or NPY, which are read by windows: .tif, .tiff, .npy.
bool is_raster_name(const std::string& path);

/// Decodes a raster into memory. Numbers of one or two bytes keep their type, others become float32.
std::unique_ptr<Raster> in_memory(const Raster& raster);
/// Bytes that it takes.
int64_t bytes_in_memory(const RasterInfo& info);

}  // namespace modewise::data
