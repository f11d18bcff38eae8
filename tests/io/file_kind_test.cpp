// Kinds of files by their first bytes.

#include "modewise/io/file_kind.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/error_of.h"
#include "tests/io/damage.h"

namespace modewise::io {
namespace {

using namespace std::string_view_literals;

TEST(FileKind, IsKnownByTheFirstBytes) {
  for (const auto& [bytes, name] : std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {""sv, "an empty file"},
           {"\x89PNG\r\n\x1A\n"sv, "a PNG image"},
           {"<!doctype html>"sv, "an HTML page"},
           {"RIFF\x10\0\0\0WEBPVP8 "sv, "a WebP image"},
           {"RIFF\x10\0\0\0WAVEfmt "sv, "a WAV recording"},
           {"RIFF\x10\0\0\0AVI LIST"sv, "an AVI video"},
           {"RIFF\x10\0\0\0XXXX    "sv, ""},
           {"BM\x10\0\0\0\0\0\0\0\x36\0"sv, "a BMP image"},
           {"BM\x10\0\0\0\x01\0\0\0\x36\0"sv, ""},
           {"GRIB\0\0\0\x02\0\0\0\0"sv, "a GRIB file"},
           {"GRIB\0\0\0\x03\0\0\0\0"sv, ""},
           {"\0\0\0\x18"
            "ftypisom"sv,
            "an MP4 or HEIF file"},
           {"\x01\0\0\x18"
            "ftypisom"sv,
            ""},
           {"RIFF\x10\0\0"sv, ""},
           {"\x10\0\0\0\0\0\0\0{\"a\""sv, "a safetensors file"},
           {"\x10\0\0\0\x01\0\0\0{\"a\""sv, ""},
           {"\x10\0\0\0\0\0\0\0[1,2"sv, ""},
           {"date,value\n2020-01-01,1\n"sv, ""}}) {
    EXPECT_EQ(file_kind(to_bytes(bytes)).name, name) << bytes;
  }
  const std::string dicom = std::string(128, '\0') + "DICM";
  EXPECT_EQ(file_kind(to_bytes(dicom)).name, "a DICOM file");
  EXPECT_EQ(binary_kind(to_bytes("<html>")).name, "") << "a text";
  EXPECT_EQ(binary_kind(to_bytes("")).name, "");
}

TEST(FileKind, OfAnotherFormatIsNamedInTheError) {
  EXPECT_EQ(error_of(ErrorKind::data, [] { refuse_other_kind(to_bytes("GIF89a"), "x.png", "a PNG image"); }),
            "x.png: expected a PNG image, got a GIF image");
  refuse_other_kind(to_bytes("a,b\n1,2\n"), "x.png", "a PNG image");  // may be anything
}

}  // namespace
}  // namespace modewise::io
