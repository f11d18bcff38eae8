// For each line "FORMAT<tab>PATH" on stdin prints one line of JSON: the content that the reader finds, or
// {"error": …}. tests/python/test_io_oracle.py compares with NumPy and safetensors, test_image_oracle.py with
// rasterio, tifffile and nibabel, test_png_jpeg_oracle.py with Pillow.

#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/io/arrays/npz.h"
#include "modewise/io/arrays/safetensors.h"
#include "modewise/io/gzip.h"
#include "modewise/io/images/image_resize.h"
#include "modewise/io/images/jpeg.h"
#include "modewise/io/images/nifti.h"
#include "modewise/io/images/png.h"
#include "modewise/io/images/tiff.h"
#include "modewise/io/mapped_file.h"
#include "modewise/io/tables/arff.h"
#include "modewise/io/tables/csv.h"
#include "modewise/io/tables/ts_file.h"

namespace {

using namespace modewise;
using nlohmann::json;

std::string hex(std::span<const std::byte> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<int>(byte) >> 4];
    text += kDigits[std::to_integer<int>(byte) & 15];
  }
  return text;
}

json dump(const io::Array& array) {
  return {{"dtype", io::dtype_name(array.dtype)}, {"shape", array.shape}, {"bytes", hex(array.bytes)}};
}

json dump_csv(const std::string& path) {
  json columns = json::array();
  for (const io::CsvColumn& column : io::read_csv(path).columns) {
    json cells = json::array();
    for (const double value : column.numbers) cells.push_back(fmt::format("{:a}", value));
    for (const int64_t date : column.dates) cells.push_back(date);
    for (const std::string_view text : column.texts) cells.push_back(text);
    columns.push_back({{"name", column.name}, {"kind", column.kind}, {"cells", cells}});
  }
  return columns;
}

json dump(const io::TiffReader& reader, std::span<const float> values) {
  const io::TiffInfo& info = reader.info();
  json result = {{"shape", {info.height, info.width, info.bands}},
                 {"dtype", info.dtype},
                 {"tiled", info.tiled},
                 {"compression", info.compression},
                 {"palette", info.palette},
                 {"pages", info.pages},
                 {"values", hex(std::as_bytes(values))}};
  if (info.nodata) result["nodata"] = fmt::format("{:a}", *info.nodata);
  if (info.geo) {
    result["crs"] = info.geo->crs_text();
    for (const double number : info.geo->transform())
      result["transform"].push_back(fmt::format("{:a}", number));
  }
  return result;
}

// "tiff": the whole image; "tiff ROW COLUMN HEIGHT WIDTH": a window; "tiff write": the whole image and a copy
// at PATH.tif.
json dump_tiff(const std::string& request, const std::string& path) {
  const io::TiffReader reader(path);
  io::TiffInfo info = reader.info();
  int64_t row = 0, column = 0, height = info.height, width = info.width;
  std::sscanf(request.c_str(), "tiff %ld %ld %ld %ld", &row, &column, &height, &width);
  const std::vector<float> values = reader.read(row, column, height, width);
  if (request == "tiff write") {
    if (info.compression == "packbits" || info.compression == "zstd") info.compression = "lzw";
    if (info.dtype != "u8") info.dtype = "f32";
    io::TiffWriter writer(path + ".tif", info);
    const std::vector<uint8_t> bytes(values.begin(), info.dtype == "u8" ? values.end() : values.begin());
    for (int64_t first = 0; first < height; first += 7) {
      const auto begin = static_cast<size_t>(first * width * info.bands);
      const auto count = static_cast<size_t>(std::min<int64_t>(7, height - first) * width * info.bands);
      if (info.dtype == "u8")
        writer.write_rows(first, std::span(bytes).subspan(begin, count));
      else
        writer.write_rows(first, std::span(values).subspan(begin, count));
    }
    writer.close();
  }
  return dump(reader, values);
}

json dump(const io::NiftiVolume& volume) {
  json affine = json::array(), spacing = json::array();
  for (const auto& row : volume.affine) {
    for (const double value : row) affine.push_back(fmt::format("{:a}", value));
  }
  for (const double value : volume.spacing) spacing.push_back(fmt::format("{:a}", value));
  return {{"shape", volume.shape},
          {"values", hex(std::as_bytes(std::span(volume.values)))},
          {"affine", affine},
          {"spacing", spacing},
          {"orientation", volume.orientation},
          {"description", volume.description}};
}

// "image": the pixels; "image bilinear|box|fitted HEIGHT WIDTH": resized; "image write QUALITY": also
// copies at PATH.png and PATH.jpg.
json dump_image(const std::string& request, const std::string& path) {
  io::Image image = io::read_image(path);
  char how[16] = "";
  long first = 0, second = 0;
  std::sscanf(request.c_str(), "image %15s %ld %ld", how, &first, &second);
  const std::string verb = how;
  if (verb == "bilinear") image = io::resized(image, first, second);
  if (verb == "box") image = io::resized(image, first, second, io::ResizeFilter::box);
  if (verb == "fitted") image = io::fitted(image, first, second);
  if (verb == "write") {
    std::ofstream(path + ".png", std::ios::binary) << io::format_png(image);
    std::ofstream(path + ".jpg", std::ios::binary) << io::format_jpeg(image, static_cast<int>(first));
  }
  return {{"shape", {image.height, image.width, image.channels}},
          {"pixels", hex(std::as_bytes(std::span(image.pixels)))}};
}

// "npz": the arrays; "npz write": also copies at PATH.stored.npz and PATH.deflated.npz.
json dump_npz(const std::string& request, const std::string& path) {
  const std::map<std::string, io::Array> arrays = io::read_npz(path);
  if (request == "npz write") {
    io::write_npz(path + ".stored.npz", arrays);
    io::write_npz(path + ".deflated.npz", arrays, true);
  }
  json result = json::object();
  for (const auto& [name, array] : arrays) result[name] = dump(array);
  return result;
}

json dump(const io::SeriesFile& file) {
  return {{"dimensions", file.dimensions},
          {"classes", file.classes},
          {"labels", file.labels},
          {"lengths", file.lengths},
          {"values", hex(std::as_bytes(std::span(file.values)))}};
}

json dump(const std::string& format, const std::string& path) {
  if (format == "nifti") return dump(io::read_nifti(path));
  if (format == "nifti ras") return dump(io::read_nifti(path, io::NiftiAxes::ras));
  if (format == "gzip") return hex(io::gunzip(io::MappedFile(path).bytes(), path, 1 << 20));
  if (format.starts_with("image")) return dump_image(format, path);
  if (format.starts_with("tiff")) return dump_tiff(format, path);
  if (format == "npy") return dump(io::read_npy(path));
  if (format == "csv") return dump_csv(path);
  if (format == "arff") return dump(io::read_arff(path));
  if (format == "ts") return dump(io::read_ts(path));
  if (format.starts_with("npz")) return dump_npz(format, path);
  const io::SafetensorsFile file(path);
  json tensors = json::object();
  for (const io::TensorView& tensor : file.tensors())
    tensors[tensor.name] = {{"dtype", tensor.dtype}, {"shape", tensor.shape}, {"bytes", hex(tensor.bytes)}};
  return {{"metadata", file.metadata()}, {"tensors", tensors}};
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const size_t tab = line.find('\t');
    json answer;
    try {
      answer = dump(line.substr(0, tab), line.substr(tab + 1));
    } catch (const Error& error) {
      answer = {{"error", error.what()}};
    }
    std::cout << answer.dump(-1, ' ', true, json::error_handler_t::replace) << std::endl;
  }
}
