#include "modewise/io/file_kind.h"

#include <cstddef>
#include <cstdint>

namespace modewise::io {
namespace {

using namespace std::string_view_literals;

struct Signature {
  size_t at;
  std::string_view bytes, name;
};

constexpr Signature kSignatures[] = {
    {0, "PK\x03\x04"sv, "a ZIP archive, such as .docx, .xlsx, .epub, .npz or .pt"},
    {0, "PK\x05\x06"sv, "an empty ZIP archive"},
    {0, "\x1F\x8B"sv, "a gzip file"},
    {4, "1AY&SY"sv, "a bzip2 file"},
    {0, "\xFD\x37zXZ"sv, "an xz file"},
    {0, "\x28\xB5\x2F\xFD"sv, "a zstd file"},
    {0, "\x04\x22\x4D\x18"sv, "an lz4 file"},
    {0, "7z\xBC\xAF\x27\x1C"sv, "a 7z archive"},
    {0, "Rar!\x1A\x07"sv, "a RAR archive"},
    {257, "ustar"sv, "a tar archive"},
    {0, "%PDF-"sv, "a PDF document"},
    {0, "%!PS-"sv, "a PostScript document"},
    {0, "{\\rtf"sv, "an RTF document"},
    {0, "\xD0\xCF\x11\xE0"sv, "an older Microsoft Office document"},
    {0, "\x89PNG"sv, "a PNG image"},
    {0, "\xFF\xD8\xFF"sv, "a JPEG image"},
    {0, "GIF87a"sv, "a GIF image"},
    {0, "GIF89a"sv, "a GIF image"},
    {0, "II*\0"sv, "a TIFF image"},
    {0, "MM\0*"sv, "a TIFF image"},
    {0, "\0\0\0\x0CjP  "sv, "a JPEG 2000 image"},
    {0, "8BPS\0"sv, "a Photoshop image"},
    {4, "ftypheic"sv, "an HEIC image"},
    {4, "ftypmif1"sv, "an HEIF image"},
    {4, "ftypavif"sv, "an AVIF image"},
    {128, "DICM"sv, "a DICOM file"},
    {0, "\0\x05\x16\x07"sv, "an AppleDouble file of macOS"},
    {0, "ID3\x02"sv, "an MP3 recording"},
    {0, "ID3\x03"sv, "an MP3 recording"},
    {0, "ID3\x04"sv, "an MP3 recording"},
    {0, "OggS\0"sv, "an Ogg recording"},
    {0, "fLaC\0"sv, "a FLAC recording"},
    {0, "PAR1"sv, "a Parquet file"},
    {0, "ARROW1\0"sv, "an Arrow file"},
    {0, "FEA1"sv, "a Feather file"},
    {0, "Obj\x01"sv, "an Avro file"},
    {0, "\x89HDF"sv, "an HDF5 file"},
    {0, "SQLite format 3"sv, "an SQLite database"},
    {0, "\x93NUMPY"sv, "a NumPy .npy file"},
    {0, "GGUF\x02\0"sv, "a GGUF model"},
    {0, "GGUF\x03\0"sv, "a GGUF model"},
    {0, "\x80\x02"sv, "a Python pickle"},
    {0, "\x80\x03"sv, "a Python pickle"},
    {0, "\x80\x04\x95"sv, "a Python pickle"},
    {0, "\x80\x05\x95"sv, "a Python pickle"},
    {0, "\x7F\x45LF"sv, "a program (ELF)"},
    {0, "MZ\x90\0"sv, "a Windows program"},
    {0, "\0asm"sv, "a WebAssembly module"},
};

// Formats that are texts, or begin as a text may.
constexpr Signature kTexts[] = {
    {0, "BM"sv, "a BMP image"},
    {0, "<svg"sv, "an SVG drawing"},
    {0, "<?xml"sv, "an XML document"},
    {0, "<!DOCTYPE"sv, "an HTML page"},
    {0, "<!doctype"sv, "an HTML page"},
    {0, "<html"sv, "an HTML page"},
    {0, "version https://git-lfs"sv, "a Git LFS pointer, not the file itself (git lfs pull)"},
};

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <size_t N>
std::string_view kind_among(const Signature (&signatures)[N], std::string_view bytes) {
  for (const Signature& one : signatures)
    if (bytes.size() >= one.at && bytes.substr(one.at).starts_with(one.bytes)) return one.name;
  return "";
}

/// A safetensors file begins with the size of its JSON header.
bool is_safetensors(std::string_view bytes) {
  if (bytes.size() < 10 || bytes[8] != '{') return false;
  uint64_t size = 0;
  for (int i = 7; i >= 0; --i) size = size << 8 | static_cast<unsigned char>(bytes[static_cast<size_t>(i)]);
  return size < uint64_t{1} << 32;
}

/// Containers whose name comes after a size: RIFF (WebP, WAV, AVI) and MP4.
std::string_view container_kind(std::string_view bytes) {
  if (bytes.size() < 12) return "";
  const std::string_view type = bytes.substr(8, 4);
  if (bytes.starts_with("RIFF"))
    return type == "WEBP"   ? "a WebP image"
           : type == "WAVE" ? "a WAV recording"
           : type == "AVI " ? "an AVI video"
                            : "";
  return bytes[0] == '\0' && bytes.substr(4, 4) == "ftyp" ? "an MP4 or HEIF file" : "";
}

}  // namespace

std::string_view file_kind(std::span<const std::byte> bytes) {
  if (bytes.empty()) return "an empty file";
  const std::string_view binary = binary_kind(bytes);
  return binary.empty() ? kind_among(kTexts, text_of(bytes)) : binary;
}

std::string_view binary_kind(std::span<const std::byte> bytes) {
  const std::string_view text = text_of(bytes);
  if (const std::string_view kind = kind_among(kSignatures, text); !kind.empty()) return kind;
  return is_safetensors(text) ? "a safetensors file" : container_kind(text);
}

}  // namespace modewise::io
