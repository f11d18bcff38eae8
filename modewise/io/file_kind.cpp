#include "modewise/io/file_kind.h"

#include <cstddef>
#include <cstdint>

#include "modewise/core/error.h"

namespace modewise::io {
namespace {

using namespace std::string_view_literals;

struct Signature {
  size_t at;
  std::string_view bytes;
  FileKind kind;
};

constexpr std::string_view kSaveSheet = "save the sheet as CSV";
constexpr std::string_view kReadFeather = "write it as CSV, in Python pandas.read_feather(file).to_csv(…)";
constexpr std::string_view kReadHtml = "write it as CSV, in Python pandas.read_html(file)[0].to_csv(…)";
constexpr std::string_view kReadSas = "write it as CSV, in Python pandas.read_sas(file).to_csv(…)";
constexpr std::string_view kReadPickle = "write it as CSV in Python, if you trust it: it can run any code";
constexpr std::string_view kReadMatlab = "write it as CSV or NPY, in Python with scipy.io.loadmat(file)";
constexpr std::string_view kReadR = "write it as CSV in R, with write.csv";
constexpr std::string_view kReadXarray =
    "write it as CSV, in Python xarray.open_dataset(file).to_dataframe().to_csv(…)";
constexpr std::string_view kWriteNifti = "write it as NIfTI, in Python with SimpleITK";
constexpr std::string_view kDownload = "download the file itself";

constexpr Signature kSignatures[] = {
    {0,
     "PK\x03\x04"sv,
     {"a ZIP archive, such as .docx, .xlsx, .epub, .npz or .pt",
      "save the sheet as CSV, or unpack the archive"}},
    {0, "PK\x05\x06"sv, {"an empty ZIP archive"}},
    {0, "\x1F\x8B"sv, {"a gzip file", "unpack it with gunzip"}},
    {0, "\x1F\x9D"sv, {"a compressed file (.Z)", "unpack it with uncompress"}},
    {4, "1AY&SY"sv, {"a bzip2 file", "unpack it with bunzip2"}},
    {0, "\xFD\x37zXZ"sv, {"an xz file", "unpack it with unxz"}},
    {0, "\x28\xB5\x2F\xFD"sv, {"a zstd file", "unpack it with unzstd"}},
    {0, "\x04\x22\x4D\x18"sv, {"an lz4 file", "unpack it with unlz4"}},
    {0, "7z\xBC\xAF\x27\x1C"sv, {"a 7z archive", "unpack it with 7z x"}},
    {0, "Rar!\x1A\x07"sv, {"a RAR archive", "unpack it with unrar x"}},
    {257, "ustar\0"sv, {"a tar archive", "unpack it with tar xf"}},
    {257, "ustar  \0"sv, {"a tar archive", "unpack it with tar xf"}},
    {0, "%PDF-"sv, {"a PDF document"}},
    {0, "%!PS-"sv, {"a PostScript document"}},
    {0, "{\\rtf"sv, {"an RTF document"}},
    {0, "\xD0\xCF\x11\xE0"sv, {"an older Microsoft Office file (.xls, .doc)", kSaveSheet}},
    {0, "\x89PNG"sv, {"a PNG image"}},
    {0, "\xFF\xD8\xFF"sv, {"a JPEG image"}},
    {0, "GIF87a"sv, {"a GIF image"}},
    {0, "GIF89a"sv, {"a GIF image"}},
    {0, "II*\0"sv, {"a TIFF image"}},
    {0, "MM\0*"sv, {"a TIFF image"}},
    {0, "\0\0\0\x0CjP  "sv, {"a JPEG 2000 image"}},
    {0, "8BPS\0"sv, {"a Photoshop image"}},
    {4, "ftypheic"sv, {"an HEIC image"}},
    {4, "ftypmif1"sv, {"an HEIF image"}},
    {4, "ftypavif"sv, {"an AVIF image"}},
    {128, "DICM"sv, {"a DICOM file", kWriteNifti}},
    {0, "NRRD000"sv, {"an NRRD volume", kWriteNifti}},
    {0, "ObjectType = Image"sv, {"a MetaImage volume", kWriteNifti}},
    {0, "\0\x05\x16\x07"sv, {"an AppleDouble file of macOS"}},
    {0, "ID3\x02"sv, {"an MP3 recording"}},
    {0, "ID3\x03"sv, {"an MP3 recording"}},
    {0, "ID3\x04"sv, {"an MP3 recording"}},
    {0, "OggS\0"sv, {"an Ogg recording"}},
    {0, "fLaC\0"sv, {"a FLAC recording"}},
    {0, "PAR1\x15"sv, {"a Parquet file", "write it as CSV, in Python pandas.read_parquet(file).to_csv(…)"}},
    {0, "ARROW1\0"sv, {"an Arrow file", kReadFeather}},
    {0, "FEA1\0"sv, {"a Feather file", kReadFeather}},
    {0, "Obj\x01"sv, {"an Avro file", "write it as CSV"}},
    {0, "\x89HDF"sv, {"an HDF5 file", "write it as CSV or NPY"}},
    {0, "CDF\x01"sv, {"a netCDF file", kReadXarray}},
    {0, "CDF\x02"sv, {"a netCDF file", kReadXarray}},
    {0, "CDF\x05"sv, {"a netCDF file", kReadXarray}},
    {0, "MATLAB 5.0 MAT-file"sv, {"a MATLAB file", kReadMatlab}},
    {0, "MATLAB 7.3 MAT-file"sv, {"a MATLAB file, in HDF5", "write it as CSV or NPY, in Python with h5py"}},
    {0, "SIMPLE  ="sv, {"a FITS file", "write it as CSV or NPY, in Python with astropy"}},
    {0, "<stata_dta>"sv, {"a Stata file", "write it as CSV, in Python pandas.read_stata(file).to_csv(…)"}},
    {0, "$FL2@(#)"sv, {"an SPSS file", "write it as CSV, in Python pandas.read_spss(file).to_csv(…)"}},
    {0, "$FL3@(#)"sv, {"an SPSS file", "write it as CSV, in Python pandas.read_spss(file).to_csv(…)"}},
    {12, "\xC2\xEA\x81\x60"sv, {"a SAS file", kReadSas}},
    {0, "HEADER RECORD*******LIB"sv, {"a SAS transport file", kReadSas}},
    {0, "RDX2\n"sv, {"an R file", kReadR}},
    {0, "RDX3\n"sv, {"an R file", kReadR}},
    {0, "X\n\0\0\0"sv, {"an R file", kReadR}},
    {0, "SQLite format 3"sv, {"an SQLite database", "export the table as CSV"}},
    {0, "\x93NUMPY"sv, {"a NumPy .npy file"}},
    {0, "GGUF\x02\0"sv, {"a GGUF model"}},
    {0, "GGUF\x03\0"sv, {"a GGUF model"}},
    {0, "\x80\x02"sv, {"a Python pickle", kReadPickle}},
    {0, "\x80\x03"sv, {"a Python pickle", kReadPickle}},
    {0, "\x80\x04\x95"sv, {"a Python pickle", kReadPickle}},
    {0, "\x80\x05\x95"sv, {"a Python pickle", kReadPickle}},
    {0, "\x7F\x45LF"sv, {"a program (ELF)"}},
    {0, "MZ\x90\0"sv, {"a Windows program"}},
    {0, "\0asm"sv, {"a WebAssembly module"}},
};

// Formats that are texts.
constexpr Signature kTexts[] = {
    {0, "<svg"sv, {"an SVG drawing"}},
    {0, "<?xml"sv, {"an XML document", "export it as CSV"}},
    {0, "<!DOCTYPE"sv, {"an HTML page", kDownload}},
    {0, "<!doctype"sv, {"an HTML page", kDownload}},
    {0, "<html"sv, {"an HTML page", kDownload}},
    {0, "<table"sv, {"an HTML table", kReadHtml}},
    {0, "version https://git-lfs"sv, {"a Git LFS pointer, not the file itself (git lfs pull)"}},
};

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <size_t N>
FileKind kind_among(const Signature (&signatures)[N], std::string_view bytes) {
  for (const Signature& one : signatures)
    if (bytes.size() >= one.at && bytes.substr(one.at).starts_with(one.bytes)) return one.kind;
  return {};
}

/// A safetensors file begins with the size of its JSON header.
bool is_safetensors(std::string_view bytes) {
  if (bytes.size() < 10 || bytes[8] != '{') return false;
  uint64_t size = 0;
  for (int i = 7; i >= 0; --i) size = size << 8 | static_cast<unsigned char>(bytes[static_cast<size_t>(i)]);
  return size < uint64_t{1} << 32;
}

/// Formats whose name is not all of their first bytes: RIFF (WebP, WAV, AVI), MP4, BMP, GRIB.
FileKind container_kind(std::string_view bytes) {
  if (bytes.size() < 12) return {};
  const std::string_view type = bytes.substr(8, 4);
  if (bytes.starts_with("RIFF"))
    return {type == "WEBP"   ? "a WebP image"
            : type == "WAVE" ? "a WAV recording"
            : type == "AVI " ? "an AVI video"
                             : ""};
  if (bytes.starts_with("BM") && bytes.substr(6, 4) == "\0\0\0\0"sv) return {"a BMP image"};
  if (bytes.starts_with("GRIB") && (bytes[7] == 1 || bytes[7] == 2)) return {"a GRIB file", kReadXarray};
  return {bytes[0] == '\0' && bytes.substr(4, 4) == "ftyp" ? "an MP4 or HEIF file" : ""};
}

}  // namespace

FileKind file_kind(std::span<const std::byte> bytes) {
  if (bytes.empty()) return {"an empty file"};
  const FileKind binary = binary_kind(bytes);
  return binary.name.empty() ? kind_among(kTexts, text_of(bytes)) : binary;
}

FileKind binary_kind(std::span<const std::byte> bytes) {
  const std::string_view text = text_of(bytes);
  if (const FileKind kind = kind_among(kSignatures, text); !kind.name.empty()) return kind;
  return is_safetensors(text) ? FileKind{"a safetensors file"} : container_kind(text);
}

void refuse_other_kind(std::span<const std::byte> bytes, const std::string& source, std::string_view wanted) {
  const std::string_view kind = file_kind(bytes).name;
  require(kind.empty(), ErrorKind::data, "{}: expected {}, got {}", source, wanted, kind);
}

}  // namespace modewise::io
