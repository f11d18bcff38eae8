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

std::string_view file_kind(std::string_view bytes) {
  for (const Signature& one : kSignatures)
    if (bytes.size() >= one.at && bytes.substr(one.at).starts_with(one.bytes)) return one.name;
  if (is_safetensors(bytes)) return "a safetensors file";
  return container_kind(bytes);
}

}  // namespace modewise::io
