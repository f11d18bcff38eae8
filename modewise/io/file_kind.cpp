#include "modewise/io/file_kind.h"

#include <array>

namespace modewise::io {
namespace {

struct Signature {
  size_t at;
  std::string_view bytes, kind;
};

constexpr std::array kSignatures = {
    Signature{0, "\x89PNG\r\n\x1a\n", "a PNG image"},
    Signature{0, "\xFF\xD8\xFF", "a JPEG image"},
    Signature{0, "GIF8", "a GIF image"},
    Signature{0, "BM", "a BMP image"},
    Signature{8, "WEBP", "a WebP image"},
    Signature{0, std::string_view("II*\0", 4), "a TIFF image"},
    Signature{0, std::string_view("MM\0*", 4), "a TIFF image"},
    Signature{4, "ftypheic", "an HEIC image"},
    Signature{4, "ftypmif1", "an HEIF image"},
    Signature{4, "ftypavif", "an AVIF image"},
    Signature{0, std::string_view("\0\0\0\x0CjP  ", 8), "a JPEG 2000 image"},
    Signature{0, "8BPS", "a Photoshop image"},
    Signature{0, "%PDF", "a PDF document"},
    Signature{0, "<svg", "an SVG drawing"},
    Signature{0, "<?xml", "an XML document"},
    Signature{0, "<!DOCTYPE", "an HTML page"},
    Signature{0, "<!doctype", "an HTML page"},
    Signature{0, "<html", "an HTML page"},
    Signature{0, "version https://git-lfs", "a Git LFS pointer, not the file itself (git lfs pull)"},
    Signature{0, "\x1f\x8b", "a gzip file"},
    Signature{0, "PK\x03\x04", "a ZIP archive"},
    Signature{0, std::string_view("\0\x05\x16\x07", 4), "an AppleDouble file of macOS"},
    Signature{128, "DICM", "a DICOM file"},
    Signature{0, "\x93NUMPY", "an NPY array"},
    Signature{0, "\x89HDF\r\n\x1a\n", "an HDF5 file"},
};

}  // namespace

std::string_view file_kind(std::span<const std::byte> bytes) {
  if (bytes.empty()) return "an empty file";
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const Signature& one : kSignatures)
    if (text.size() > one.at && text.substr(one.at).starts_with(one.bytes)) return one.kind;
  return {};
}

}  // namespace modewise::io
