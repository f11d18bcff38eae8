#include "modewise/io/images/nifti.h"

#include <cmath>
#include <filesystem>

#include "modewise/core/file.h"
#include "tests/io/compress.h"
#include "tests/io/damage.h"
#include "tests/io/vector_file.h"

namespace modewise::io {
namespace {

void try_nifti(std::span<const std::byte> bytes) {
  parse_nifti(bytes, "file");
}

template <class T>
void put(std::string& file, size_t at, const T& value) {
  file.replace(at, sizeof(T), reinterpret_cast<const char*>(&value), sizeof(T));
}

// 3 × 2 × 2 bytes, NIfTI-1 or NIfTI-2.
std::string small_file(int version = 1) {
  const size_t header = version == 1 ? 352 : 544;
  std::string file(header, '\0');
  if (version == 1) {
    put<int32_t>(file, 0, 348);
    const int16_t dim[8] = {3, 3, 2, 2, 1, 1, 1, 1};
    put(file, 40, dim);
    put<int16_t>(file, 70, 2);
    put<int16_t>(file, 72, 8);
    const float pixdim[8] = {1, 1, 2, 3, 1, 1, 1, 1};
    put(file, 76, pixdim);
    put<float>(file, 108, 352);
    file.replace(344, 4, std::string("n+1\0", 4));
  } else {
    put<int32_t>(file, 0, 540);
    file.replace(4, 8, std::string("n+2\0\r\n\x1a\n", 8));
    const int64_t dim[8] = {3, 3, 2, 2, 1, 1, 1, 1};
    put(file, 16, dim);
    put<int16_t>(file, 12, 2);
    put<int16_t>(file, 14, 8);
    const double pixdim[8] = {1, 1, 2, 3, 1, 1, 1, 1};
    put(file, 104, pixdim);
    put<int64_t>(file, 168, 544);
  }
  for (char value = 0; value < 12; ++value) file += value;
  return file;
}

template <class T>
std::string with(size_t at, const T& value, std::string file = small_file()) {
  put(file, at, value);
  return file;
}

void expect_affine(const NiftiVolume& volume, const nlohmann::json& texts, const std::string& name) {
  for (size_t i = 0; i < 12; ++i) {
    EXPECT_NEAR(volume.affine[i / 4][i % 4], from_hex_float(texts[i]), 1e-12) << name << " " << i;
  }
}

TEST(Nifti, ReadsWhatNibabelWrote) {
  const auto vectors = load_vectors("images.json");
  for (const auto& test : vectors["nifti"]) {
    const std::string name = test["name"];
    const std::vector<std::byte> file = from_hex(test["file"]);
    NiftiVolume volume = parse_nifti(file, name);
    EXPECT_EQ(volume.shape, test["shape"].get<std::vector<int64_t>>()) << name;
    EXPECT_EQ(volume.values, from_hex_floats(test["values"])) << name;
    EXPECT_EQ(volume.orientation, test["orientation"].get<std::string>()) << name;
    EXPECT_EQ(volume.description, name);
    expect_affine(volume, test["affine"], name);
    volume = parse_nifti(file, name, NiftiAxes::ras);
    EXPECT_EQ(volume.shape, test["ras_shape"].get<std::vector<int64_t>>()) << name;
    EXPECT_EQ(volume.values, from_hex_floats(test["ras_values"])) << name;
    EXPECT_EQ(volume.orientation, "RAS");
    expect_affine(volume, test["ras_affine"], name);
  }
}

TEST(Nifti, PutsTheFirstAxisSlowest) {
  for (const int version : {1, 2}) {
    const NiftiVolume volume = parse_nifti(to_bytes(small_file(version)), "file");
    EXPECT_EQ(volume.shape, (std::vector<int64_t>{3, 2, 2}));
    EXPECT_EQ(volume.values, (std::vector<float>{0, 6, 3, 9, 1, 7, 4, 10, 2, 8, 5, 11}));
    EXPECT_EQ(volume.spacing, (std::array<double, 3>{1, 2, 3}));
    EXPECT_EQ(volume.orientation, "RAS");
    EXPECT_EQ(volume.affine[1], (std::array<double, 4>{0, 2, 0, 0}));
  }
}

TEST(Nifti, AppliesSlopeAndIntercept) {
  const auto second = [](float slope, float intercept) {
    return parse_nifti(to_bytes(with(116, intercept, with(112, slope))), "file").values[4];
  };
  EXPECT_EQ(second(0.5f, 10), 10.5f);
  EXPECT_EQ(second(0, 10), 1);
  EXPECT_EQ(second(NAN, 10), 1);
  EXPECT_EQ(second(-2, 0), -2);
}

TEST(Nifti, ReadsEveryDatatype) {
  const auto first = [](int16_t datatype, int16_t bits, const auto& value) {
    std::string file = with(40, std::array<int16_t, 2>{1, 1}, with(70, datatype, with(72, bits)));
    file.resize(352);
    file.append(reinterpret_cast<const char*>(&value), sizeof value);
    return parse_nifti(to_bytes(file), "file").values.at(0);
  };
  EXPECT_EQ(first(2, 8, uint8_t{200}), 200);
  EXPECT_EQ(first(256, 8, int8_t{-100}), -100);
  EXPECT_EQ(first(4, 16, int16_t{-30000}), -30000);
  EXPECT_EQ(first(512, 16, uint16_t{60000}), 60000);
  EXPECT_EQ(first(8, 32, int32_t{-100000}), -100000);
  EXPECT_EQ(first(768, 32, uint32_t{4000000000}), 4e9f);
  EXPECT_EQ(first(1024, 64, int64_t{-5000000000}), -5e9f);
  EXPECT_EQ(first(1280, 64, uint64_t{1} << 63), 0x1p63f);
  EXPECT_EQ(first(16, 32, 0.1f), 0.1f);
  EXPECT_EQ(first(64, 64, 0.1), 0.1f);
}

TEST(Nifti, ReadsSpaceAsTheStandardSays) {
  const float left[12] = {-1, 0, 0, 5, 0, -2, 0, 6, 0, 0, 3, 7};
  std::string file = with(280, left);
  EXPECT_EQ(parse_nifti(to_bytes(file), "file").orientation, "RAS") << "sform_code is 0";
  put<int16_t>(file, 254, 1);
  NiftiVolume volume = parse_nifti(to_bytes(file), "file");
  EXPECT_EQ(volume.orientation, "LPS");
  volume = parse_nifti(to_bytes(file), "file", NiftiAxes::ras);
  EXPECT_EQ(volume.affine,
            (std::array<std::array<double, 4>, 3>{{{1, 0, 0, 3}, {0, 2, 0, 4}, {0, 0, 3, 7}}}));
  EXPECT_EQ(volume.values, (std::vector<float>{5, 11, 2, 8, 4, 10, 1, 7, 3, 9, 0, 6}));
  // Rotation by 180° about z, and the third axis flipped by pixdim[0] = -1.
  const float turn[6] = {0, 0, 1, 1, 2, 3};
  file = with(76, -1.0f, with(252, int16_t{1}, with(256, turn)));
  volume = parse_nifti(to_bytes(file), "file");
  EXPECT_EQ(volume.orientation, "LPI");
  EXPECT_EQ(volume.affine[2], (std::array<double, 4>{0, 0, -3, 3}));
  // Metres, millimetres, micrometres, and millimetres with seconds.
  for (const auto& [unit, scale] :
       {std::pair{char{1}, 1e3}, {char{2}, 1.0}, {char{3}, 1e-3}, {char{10}, 1.0}}) {
    volume = parse_nifti(to_bytes(with(123, unit)), "file");
    EXPECT_EQ(volume.spacing, (std::array<double, 3>{scale, 2 * scale, 3 * scale}));
    EXPECT_EQ(volume.affine[2][2], 3 * scale);
  }
  // Invalid sizes count as 1, and signs are ignored.
  const float odd[3] = {0, INFINITY, -4};
  EXPECT_EQ(parse_nifti(to_bytes(with(80, odd)), "file").spacing, (std::array<double, 3>{1, 1, 4}));
}

TEST(Nifti, RefusesMalformedHeaders) {
  const std::string valid = small_file(), second = small_file(2);
  const auto dims = [](std::array<int16_t, 8> dim) { return with(40, dim); };
  const auto wide = [&](std::array<int64_t, 8> dim) { return with(16, dim, second); };
  const float nan = NAN, flat[12] = {1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0}, infinite[12] = {1, 0, 0, INFINITY};
  const auto sform = [](const auto& rows) { return with(254, int16_t{1}, with(280, rows)); };
  const std::vector<Corruption> corruptions = {
      {"empty", "", "file: the file is empty, a NIfTI volume was expected"},
      {"text", "not a volume",
       "file: not a NIfTI volume, or truncated: its header takes 348 bytes, the file has 12"},
      {"long text", std::string(400, 'x'),
       "file: not a NIfTI volume: it does not begin with a header size of 348 or 540"},
      {"header cut", valid.substr(0, 340),
       "file: not a NIfTI volume, or truncated: its header takes 348 bytes, the file has 340"},
      {"header of version 2 cut", second.substr(0, 500),
       "file: truncated: the header of NIfTI-2 takes 540 bytes, the file has 500"},
      {"header size 0", with(0, int32_t{0}),
       "file: not a NIfTI volume: it does not begin with a header size of 348 or 540"},
      {"ANALYZE", with(344, int32_t{0}),
       "file: an ANALYZE header or damaged: found '\\x00\\x00\\x00\\x00' at byte 344, NIfTI-1 has \"n+1\""},
      {"a pair of files", with(344, std::array<char, 4>{'n', 'i', '1', 0}),
       "file: the header of a pair of files (.hdr and .img); convert it to one .nii file"},
      {"a pair of files, version 2", with(4, std::array<char, 4>{'n', 'i', '2', 0}, second),
       "file: the header of a pair of files (.hdr and .img); convert it to one .nii file"},
      {"version 2 through a text mode", with(8, std::array<char, 3>{'\n', '\x1a', '\n'}, second),
       "file: damaged: found 'n+2\\x00\\x0a\\x1a\\x0a\\x0a' at byte 4, NIfTI-2 has "
       "\"n+2\\0\\r\\n\\x1a\\n\""},
      {"no dimensions", dims({0, 3, 2, 2, 1, 1, 1, 1}), "file: dim[0]: must be 1 to 7 dimensions, got 0"},
      {"8 dimensions", dims({8, 3, 2, 2, 1, 1, 1, 1}), "file: dim[0]: must be 1 to 7 dimensions, got 8"},
      {"-1 dimensions", dims({-1, 3, 2, 2, 1, 1, 1, 1}), "file: dim[0]: must be 1 to 7 dimensions, got -1"},
      {"a dimension of 0", dims({3, 3, 0, 2, 1, 1, 1, 1}), "file: dim[2]: a size must be positive, got 0"},
      {"a negative dimension", dims({3, 3, 2, -2, 1, 1, 1, 1}),
       "file: dim[3]: a size must be positive, got -2"},
      {"two negative dimensions", dims({3, -3, 2, -2, 1, 1, 1, 1}),
       "file: dim[1]: a size must be positive, got -3"},
      {"a seventh dimension of 0", dims({7, 3, 2, 2, 1, 1, 1, 0}),
       "file: dim[7]: a size must be positive, got 0"},
      {"one slice more", dims({3, 3, 2, 3, 1, 1, 1, 1}),
       "file: the header declares 3 x 2 x 3 voxels of 1 bytes from byte 352 on, but the file ends at byte "
       "364: truncated, or dim is wrong"},
      {"32767 in all directions", dims({7, 32767, 32767, 32767, 32767, 32767, 32767, 32767}),
       "file: the volume of 32767 x 32767 x 32767 x 32767 x 32767 voxels has more than 64 bits can count"},
      {"a dimension of 2^31", wide({3, int64_t{1} << 31, 2, 2, 1, 1, 1, 1}),
       "file: the header declares 2147483648 x 2 x 2 voxels of 1 bytes from byte 544 on, but the file ends "
       "at byte 556: truncated, or dim is wrong"},
      {"a dimension of 2^62", wide({3, int64_t{1} << 62, 2, 2, 1, 1, 1, 1}),
       "file: the volume of 4611686018427387904 x 2 voxels has more than 64 bits can count"},
      {"a dimension of -2^63", wide({3, INT64_MIN, 2, 2, 1, 1, 1, 1}),
       "file: dim[1]: a size must be positive, got -9223372036854775808"},
      {"a product that wraps", wide({3, int64_t{1} << 32, int64_t{1} << 32, 1, 1, 1, 1, 1}),
       "file: the volume of 4294967296 x 4294967296 voxels has more than 64 bits can count"},
      {"bytes that wrap",
       with(12, int16_t{64}, with(14, int16_t{64}, wide({1, int64_t{1} << 61, 1, 1, 1, 1, 1, 1}))),
       "file: the volume of 2305843009213693952 voxels has more bytes than 64 bits can count"},
      {"datatype 0", with(70, int16_t{0}),
       "file: unsupported datatype 0; integers of 8 to 64 bits and floats of 32 and 64 bits are supported"},
      {"bits", with(70, int16_t{1}),
       "file: unsupported datatype 1; integers of 8 to 64 bits and floats of 32 and 64 bits are supported"},
      {"complex", with(70, int16_t{32}),
       "file: unsupported datatype 32; integers of 8 to 64 bits and floats of 32 and 64 bits are supported"},
      {"colours", with(70, int16_t{128}),
       "file: unsupported datatype 128; integers of 8 to 64 bits and floats of 32 and 64 bits are supported"},
      {"float128", with(70, int16_t{1536}),
       "file: unsupported datatype 1536; integers of 8 to 64 bits and floats of 32 and 64 bits are "
       "supported"},
      {"bitpix 16 for bytes", with(72, int16_t{16}),
       "file: bitpix is 16, but values of datatype 2 have 8 bits"},
      {"more bits than there are", with(70, int16_t{64}, with(72, int16_t{64})),
       "file: the header declares 3 x 2 x 2 voxels of 8 bytes from byte 352 on, but the file ends at byte "
       "364: truncated, or dim is wrong"},
      {"vox_offset 0", with(108, 0.0f), "file: vox_offset: must be at least 352, got 0"},
      {"vox_offset inside the header", with(108, 348.0f), "file: vox_offset: must be at least 352, got 348"},
      {"vox_offset -1", with(108, -1.0f), "file: vox_offset: must be at least 352, got -1"},
      {"vox_offset NaN", with(108, nan), "file: vox_offset: must be at least 352, got nan"},
      {"vox_offset 352.5", with(108, 352.5f), "file: vox_offset: must be at least 352, got 352.5"},
      {"vox_offset 1e30", with(108, 1e30f),
       "file: vox_offset: must be at least 352, got 1.0000000150474662e+30"},
      {"vox_offset one too far", with(108, 353.0f),
       "file: the header declares 3 x 2 x 2 voxels of 1 bytes from byte 353 on, but the file ends at byte "
       "364: truncated, or dim is wrong"},
      {"vox_offset beyond the end", with(108, 1e6f),
       "file: vox_offset: the data should begin at byte 1000000, but the file ends at byte 364"},
      {"vox_offset 540 in version 2", with(168, int64_t{540}, second),
       "file: vox_offset: must be at least 544, got 540"},
      {"vox_offset 2^63 - 1", with(168, INT64_MAX, second),
       "file: vox_offset: must be at least 544, got 9.223372036854776e+18"},
      {"an intercept of NaN", with(116, nan, with(112, 2.0f)),
       "file: scl_inter must be a finite number where scl_slope is 2"},
      {"a flat sform", sform(flat), "file: srow_x, srow_y, srow_z are not an invertible matrix"},
      {"an sform of zeros", with(254, int16_t{1}),
       "file: srow_x, srow_y, srow_z are not an invertible matrix"},
      {"an infinite sform", sform(infinite), "file: srow holds inf, which is not a finite number"},
      {"no unit quaternion", with(252, int16_t{1}, with(256, std::array<float, 3>{2, 0, 0})),
       "file: quatern_b, c, d (2, 0, 0) are not part of a unit quaternion"},
      {"a quaternion of NaN", with(252, int16_t{1}, with(256, nan)),
       "file: quatern_b, c, d (nan, 0, 0) are not part of a unit quaternion"},
      {"an offset of NaN", with(252, int16_t{1}, with(268, nan)),
       "file: the quaternion's offset holds nan, which is not a finite number"},
      {"a byte less", valid.substr(0, valid.size() - 1),
       "file: the header declares 3 x 2 x 2 voxels of 1 bytes from byte 352 on, but the file ends at byte "
       "363: truncated, or dim is wrong"},
  };
  EXPECT_GE(corruptions.size(), 45u);
  expect_refused(try_nifti, corruptions);
}

TEST(Nifti, RefusesDamageUnderCompression) {
  const std::string valid = small_file(), compressed = gzip_of(valid);
  EXPECT_EQ(parse_nifti(to_bytes(compressed), "file"), parse_nifti(to_bytes(valid), "file"));
  std::string checksum = compressed;
  checksum[checksum.size() - 6] ^= 1;
  const std::array<int16_t, 8> huge = {7, 32767, 32767, 32767, 32767, 1, 1, 1},
                               large = {3, 2000, 2000, 200, 1, 1, 1, 1};
  const std::vector<Corruption> corruptions = {
      {"truncated", compressed.substr(0, compressed.size() / 2),
       "file: the compressed data is truncated: it ends within its content, after …"},
      {"without its checksum", compressed.substr(0, compressed.size() - 8),
       "file: the compressed data is truncated: it ends within its content, after 364 bytes of it"},
      {"checksum", checksum, "file: its compressed data is damaged near byte …"},
      {"not a volume", gzip_of("text"),
       "file: not a NIfTI volume, or truncated: its header takes 348 bytes, the file has 4"},
      {"nothing", gzip_of(""), "file: the file is empty, a NIfTI volume was expected"},
      {"twice compressed", gzip_of(compressed), "file: expected a NIfTI volume, got a gzip file"},
      {"content cut", gzip_of(valid.substr(0, valid.size() - 1)),
       "file: the header declares 3 x 2 x 2 voxels of 1 bytes from byte 352 on, but the file ends at byte "
       "363: truncated, or dim is wrong"},
      {"offset beyond the content", gzip_of(with(108, 1e6f)),
       "file: vox_offset: the data should begin at byte 1000000, but the file ends at byte 364"},
      {"800 MB declared", gzip_of(with(40, large)),
       "file: the header declares 2000 x 2000 x 200 voxels of 1 bytes from byte 352 on, but the file ends at "
       "byte 364: truncated, or dim is wrong"},
      {"10^18 voxels declared", gzip_of(with(40, huge)),
       "file: the header declares 32767 x 32767 x 32767 x 32767 voxels; the limit for compressed volumes is "
       "1073741824"},
      {"a bomb", gzip_of(valid + std::string(size_t{64} << 20, '\0')),
       "file: the header declares 3 x 2 x 2 voxels of 1 bytes, but the compressed content is longer"},
  };
  expect_refused(try_nifti, corruptions);
}

TEST(Nifti, SurvivesTruncationsAndFlips) {
  for (const int version : {1, 2}) {
    expect_every_truncation_fails(try_nifti, small_file(version));
    expect_flips_are_clean(try_nifti, small_file(version));
  }
  expect_every_truncation_fails(try_nifti, gzip_of(small_file()));
  expect_flips_are_clean(try_nifti, gzip_of(small_file()));
  const auto vectors = load_vectors("images.json");
  for (const auto& test : vectors["nifti"])
    expect_flips_are_clean(try_nifti, to_text(from_hex(test["file"])));
}

TEST(Nifti, GoesThroughAFile) {
  const auto path = std::filesystem::path(testing::TempDir()) / "volume.nii.gz";
  write_file_atomically(path, std::string_view(gzip_of(small_file())));
  EXPECT_EQ(read_nifti(path).values.size(), 12u);
  std::filesystem::remove(path);
  try {
    read_nifti(path);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::no_input);
  }
}

}  // namespace
}  // namespace modewise::io
