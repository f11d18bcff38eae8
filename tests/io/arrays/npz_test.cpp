#include "modewise/io/arrays/npz.h"

#include <cstring>
#include <filesystem>

#include "modewise/io/arrays/zip_archive.h"
#include "tests/io/damage.h"
#include "tests/io/vector_file.h"

namespace modewise::io {
namespace {

void try_npz(std::span<const std::byte> bytes) {
  parse_npz(bytes, "file");
}

std::map<std::string, Array> example() {
  const std::vector<float> a = {1, 2, 3, 4, 5, 6};
  const std::vector<int64_t> b = {7};
  return {{"a", make_array({2, 3}, std::span(a))}, {"b", make_array({}, std::span(b))}};
}

std::string valid_archive(bool compress = false) {
  return format_npz(example(), compress);
}

// `text` with `bytes` at `offset`, counted from the end when negative.
std::string patched(std::string text, ptrdiff_t offset, std::string_view bytes) {
  const size_t at = offset < 0 ? text.size() - static_cast<size_t>(-offset) : static_cast<size_t>(offset);
  return text.replace(at, bytes.size(), bytes);
}

std::string zip_of(const std::vector<std::pair<std::string, std::string>>& members, bool compress = false) {
  ZipWriter writer(compress);
  for (const auto& [name, content] : members) writer.add(name, content);
  return writer.finish();
}

// Offset of the n-th directory entry.
size_t directory_entry(const std::string& archive, int n) {
  size_t at = 0;
  for (int i = 0; i <= n; ++i) at = archive.find("PK\x01\x02", at + 1);
  return at;
}

TEST(Npz, ReadsWhatNumpyWrote) {
  const auto vectors = load_vectors("numpy.json");
  for (const auto& test : vectors["npz"]) {
    const auto arrays = parse_npz(from_hex(test["file"]), "file");
    ASSERT_EQ(arrays.size(), test["arrays"].size());
    for (const auto& [name, values] : test["arrays"].items()) {
      ASSERT_TRUE(arrays.contains(name)) << name;
      const std::vector<double> ours = to_doubles(arrays.at(name));
      ASSERT_EQ(ours.size(), values.size());
      for (size_t i = 0; i < ours.size(); ++i) EXPECT_EQ(ours[i], from_hex_float(values[i])) << name;
    }
  }
}

TEST(Npz, ReadsWhatItWrote) {
  for (const bool compress : {false, true}) {
    const auto path = std::filesystem::path(testing::TempDir()) / "arrays.npz";
    write_npz(path, example(), compress);
    EXPECT_THAT(npz_names(path), testing::ElementsAre("a", "b"));
    const auto arrays = read_npz(path);
    ASSERT_EQ(arrays.size(), 2u);
    for (const auto& [name, array] : example()) {
      EXPECT_EQ(arrays.at(name).shape, array.shape);
      EXPECT_EQ(arrays.at(name).bytes, array.bytes);
    }
    std::filesystem::remove(path);
  }
  EXPECT_TRUE(parse_npz(to_bytes(format_npz({})), "file").empty());
}

// Programs that unpack a stream read the header before each member, others the directory.
TEST(Npz, SaysTheSameBeforeAMemberAsInTheDirectory) {
  for (const bool compress : {false, true}) {
    const std::string archive = valid_archive(compress);
    for (int n = 0; n < 2; ++n) {
      const size_t entry = directory_entry(archive, n);
      uint32_t local;
      std::memcpy(&local, &archive[entry + 42], 4);
      ASSERT_EQ(archive.substr(local, 4), "PK\x03\x04");
      // From the version to the length of the name, and the name.
      EXPECT_EQ(archive.substr(local + 4, 24), archive.substr(entry + 6, 24));
      EXPECT_EQ(archive.substr(local + 30, 5), archive.substr(entry + 46, 5));
    }
  }
}

TEST(Npz, ReadsBeyond65535MembersInZip64) {
  ZipWriter writer(false);
  const std::vector<uint8_t> one = {1};
  const std::string content = format_npy(make_array({1}, std::span(one)));
  for (int i = 0; i < 65600; ++i) writer.add(std::to_string(i) + ".npy", content);
  const auto arrays = parse_npz(to_bytes(writer.finish()), "file");
  EXPECT_EQ(arrays.size(), 65600u);
}

// Moves the sizes and the offset of the first directory entry to a zip64 field, truncated to `size` bytes.
std::string with_zip64_entry(uint16_t size) {
  std::string archive = valid_archive();
  const size_t entry = directory_entry(archive, 0);
  std::string field("\x01\x00", 2);
  field.append(reinterpret_cast<const char*>(&size), 2);
  for (const size_t at : {entry + 24, entry + 20, entry + 42}) {
    field += archive.substr(at, 4) + std::string(4, '\0');
    archive.replace(at, 4, "\xFF\xFF\xFF\xFF");
  }
  // Another field before it must be skipped.
  field = std::string("\x99\x00\x02\x00zz", 6) + field;
  archive[entry + 30] = static_cast<char>(field.size());
  archive.insert(entry + 46 + 5, field);
  uint32_t directory_size;
  std::memcpy(&directory_size, &archive[archive.size() - 10], 4);
  directory_size += static_cast<uint32_t>(field.size());
  std::memcpy(&archive[archive.size() - 10], &directory_size, 4);
  return archive;
}

TEST(Npz, ReadsSizesOfZip64) {
  const auto arrays = parse_npz(to_bytes(with_zip64_entry(24)), "file");
  EXPECT_EQ(arrays.at("a").bytes, example().at("a").bytes);
  EXPECT_THAT(message_of(try_npz, with_zip64_entry(20)), testing::HasSubstr("zip64 sizes are damaged"));
  EXPECT_THAT(message_of(try_npz, with_zip64_entry(25)), testing::HasSubstr("extra field is damaged"));
  expect_every_truncation_fails(try_npz, with_zip64_entry(24));
  expect_flips_are_clean(try_npz, with_zip64_entry(24));
}

TEST(Npz, RefusesAnEmptyFieldOfZip64) {
  std::string archive = valid_archive();
  const size_t entry = directory_entry(archive, 0);
  archive.replace(entry + 24, 4, "\xFF\xFF\xFF\xFF");
  archive[entry + 30] = 4;
  archive.insert(entry + 46 + 5, std::string("\x01\0\0\0", 4));
  archive[archive.size() - 10] = static_cast<char>(archive[archive.size() - 10] + 4);
  EXPECT_EQ(message_of(try_npz, archive), "file: member 'a.npy': its zip64 sizes are damaged");
}

TEST(Npz, LeavesOutOtherMembers) {
  const auto arrays = parse_npz(
      to_bytes(zip_of({{"a.npy", format_npy(example().at("a"))}, {"readme.txt", "hello"}, {"folder/", ""}})),
      "file");
  EXPECT_EQ(arrays.size(), 1u);
}

TEST(Npz, AllowsACommentAtTheEnd) {
  std::string archive = valid_archive();
  archive = patched(archive, -2, std::string_view("\x05\x00", 2)) + "hello";
  EXPECT_EQ(message_of(try_npz, archive), "");
  EXPECT_NE(message_of(try_npz, archive + "x"), "");
}

TEST(Npz, RefusesCorruptions) {
  const std::string archive = valid_archive(), packed = valid_archive(true);
  const std::string a = format_npy(example().at("a"));
  const auto entry = static_cast<ptrdiff_t>(directory_entry(archive, 0));
  const auto second = static_cast<ptrdiff_t>(directory_entry(archive, 1));
  const auto packed_entry = static_cast<ptrdiff_t>(directory_entry(packed, 0));
  const std::string_view zero(std::string_view("\0\0\0\0\0\0\0\0", 8));
  const std::string longer = std::string("\x93NUMPY\x01\x00\x46\x00", 10) +
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (2500000000,)}      ";
  std::string overlapping = archive;
  overlapping.replace(static_cast<size_t>(second) + 42, 4,
                      archive.substr(static_cast<size_t>(entry) + 42, 4));
  const std::vector<Corruption> corruptions = {
      {"empty", "", "file: the file is empty, an NPZ archive was expected"},
      {"text", "a,b\n1,2\n", "file: not an NPZ (ZIP) archive: it has no directory at its end"},
      {"an NPY file", a, "file: expected an NPZ (ZIP) archive, got a NumPy .npy file"},
      {"truncated archive", archive.substr(0, archive.size() / 2),
       "file: the archive is truncated: its directory is missing"},
      {"no end record", archive.substr(0, archive.size() - 22),
       "file: the archive is truncated: its directory is missing"},
      {"a byte appended", archive + "x", "file: the archive is truncated: its directory is missing"},
      {"a byte in front", "x" + archive,
       "file: the archive is damaged: its directory should take 102 bytes from byte 358, but ends at byte "
       "461"},
      {"disk number", patched(archive, -18, std::string_view("\1\0", 2)),
       "file: the archive is split over several files, which is not supported"},
      {"directory disk", patched(archive, -16, std::string_view("\1\0", 2)),
       "file: the archive is split over several files, which is not supported"},
      {"too few entries", patched(archive, -12, std::string_view("\1\0", 2)),
       "file: the archive is damaged: its directory ends at byte 409, not at byte 460"},
      {"too many entries", patched(archive, -12, std::string_view("\3\0", 2)),
       "file: the archive declares 3 members, more than its directory of 102 bytes can hold"},
      {"no entries", patched(archive, -12, std::string_view("\0\0", 2)),
       "file: the archive is damaged: its directory ends at byte 358, not at byte 460"},
      {"directory too short", patched(archive, -10, std::string_view("\1\0\0\0", 4)),
       "file: the archive is damaged: its directory should take 1 bytes from byte 358, but ends at byte 460"},
      {"directory beyond the end", patched(archive, -6, std::string_view("\xFF\xFF\xFF\x7F", 4)),
       "file: the archive is damaged: its directory should take 102 bytes from byte 2147483647, but ends at "
       "byte 460"},
      {"zip64 without locator", patched(archive, -6, std::string_view("\xFF\xFF\xFF\xFF", 4)),
       "file: the archive is damaged: it has no zip64 locator"},
      {"zip64 without room for a locator",
       patched(archive.substr(archive.size() - 22), -12, std::string_view("\xFF\xFF", 2)),
       "file: the archive is damaged: it has no zip64 locator"},
      {"zip64 with nothing but a locator",
       std::string("PK\x06\x07", 4) + std::string(16, '\0') +
           patched(archive.substr(archive.size() - 22), -12, std::string_view("\xFF\xFF", 2)),
       "file: the archive is damaged: the zip64 end of the directory at byte 0 lies beyond its end (42 "
       "bytes)"},
      {"entry signature", patched(archive, entry, "PK\x01\x03"),
       "file: the archive is damaged: no directory entry at byte 358"},
      {"encrypted", patched(archive, entry + 8, std::string_view("\1\0", 2)),
       "file: member 'a.npy' is encrypted, which is not supported"},
      {"method 12", patched(archive, entry + 10, std::string_view("\x0c\0", 2)),
       "file: member 'a.npy' is compressed by method 12; stored and deflated are supported"},
      {"method differs", patched(archive, entry + 10, std::string_view("\x08\0", 2)),
       "file: member 'a.npy': the directory and the entry at byte 0 disagree"},
      {"stored sizes differ", patched(archive, entry + 20, std::string_view("\1\0\0\0", 4)),
       "file: member 'a.npy' is stored, but its sizes 152 and 1 differ"},
      {"name length", patched(archive, entry + 28, std::string_view("\xFF\xFF", 2)),
       "file: the archive is damaged: a member's name at byte 404 lies beyond its end (482 bytes)"},
      {"extra length", patched(archive, entry + 30, std::string_view("\xFF\xFF", 2)),
       "file: the archive is damaged: a member's extra field at byte 409 lies beyond its end (482 bytes)"},
      {"name differs", patched(archive, entry + 46, "z"),
       "file: member 'z.npy': the directory and the entry at byte 0 disagree"},
      {"local offset", patched(archive, entry + 42, std::string_view("\1\0\0\0", 4)),
       "file: member 'a.npy' is not at byte 1"},
      {"local offset beyond", patched(archive, entry + 42, std::string_view("\xFE\xFF\xFF\xFF", 4)),
       "file: the archive is damaged: a member at byte 4294967294 lies beyond its end (482 bytes)"},
      {"zip64 size without field", patched(archive, entry + 24, std::string_view("\xFF\xFF\xFF\xFF", 4)),
       "file: member 'a.npy' is stored, but its sizes 4294967295 and 152 differ"},
      {"zip64 sizes without field",
       patched(patched(archive, entry + 24, std::string_view("\xFF\xFF\xFF\xFF", 4)), entry + 20,
               std::string_view("\xFF\xFF\xFF\xFF", 4)),
       "file: member 'a.npy' should take 4294967295 bytes from byte 35, but the directory begins at byte "
       "358"},
      {"local signature", patched(archive, 0, "PK\x03\x05"), "file: member 'a.npy' is not at byte 0"},
      {"local name length", patched(archive, 26, std::string_view("\x06\0", 2)),
       "file: member 'a.npy': the directory and the entry at byte 0 disagree"},
      {"local extra length", patched(archive, 28, std::string_view("\xFF\0", 2)),
       "file: member 'a.npy' should take 152 bytes from byte 290, but the directory begins at byte 358"},
      {"data damaged", patched(archive, 30 + 5 + 128, "x"),
       "file: member 'a.npy': its checksum is d7b2db30, but the archive says a2de9c7c: the content is "
       "damaged"},
      {"checksum damaged", patched(archive, entry + 16, "xxxx"),
       "file: member 'a.npy': its checksum is a2de9c7c, but the archive says 78787878: the content is "
       "damaged"},
      {"deflated data damaged", patched(packed, 30 + 5 + 4, "\xFF\xFF\xFF\xFF"),
       "file: member 'a.npy': its compressed data is damaged after 0 bytes of content"},
      {"declares less than there is", patched(packed, packed_entry + 24, std::string_view("\x90\0\0\0", 4)),
       "file: member 'a.npy': the array's header declares 24 bytes of data ((2, 3) float32), but the member "
       "has 16"},
      {"declares more than there is", patched(packed, packed_entry + 24, std::string_view("\xFF\0\0\0", 4)),
       "file: member 'a.npy' declares 255 bytes, but its content ends after 152"},
      {"declares 4 GB", patched(packed, packed_entry + 24, std::string_view("\xFE\xFF\xFF\xFF", 4)),
       "file: member 'a.npy' declares 4294967294 bytes from …"},
      {"one name twice", zip_of({{"a.npy", a}, {"a.npy", a}}), "file: duplicate member 'a.npy'"},
      {"overlapping members", overlapping,
       "file: member 'b.npy': the directory and the entry at byte 0 disagree"},
      {"member is no array", zip_of({{"a.npy", "hello"}}),
       "file: member 'a.npy': not an NPY array: it does not begin with the bytes 93 'NUMPY'"},
      {"empty member", zip_of({{"a.npy", ""}}),
       "file: member 'a.npy': the file is empty, an NPY array was expected"},
      {"array declares 10 GB", zip_of({{"a.npy", longer + std::string(900, 'x')}}),
       "file: member 'a.npy': the array's header declares 10000000000 bytes of data ((2500000000,) float32), "
       "but the member has 900"},
      {"array truncated", zip_of({{"a.npy", a.substr(0, a.size() - 1)}}),
       "file: member 'a.npy': the array's header declares 24 bytes of data ((2, 3) float32), but the member "
       "has 23"},
      {"array with a tail", zip_of({{"a.npy", a + "x"}}),
       "file: member 'a.npy': the array's header declares 24 bytes of data ((2, 3) float32), but the member "
       "has 25"},
      {"zeros", patched(archive, 0, zero), "file: member 'a.npy' is not at byte 0"},
  };
  EXPECT_GE(corruptions.size(), 40u);
  expect_refused(try_npz, corruptions);
}

TEST(Npz, RefusesMembersThatShareBytes) {
  // Two directory entries point to the same data, as in zip bombs.
  const std::string a = format_npy(example().at("a"));
  std::string archive = zip_of({{"a.npy", a}, {"b.npy", a}});
  const size_t second = directory_entry(archive, 1);
  const size_t local = archive.find("b.npy") - 30;
  // The first member claims to overlap the second.
  const size_t first = directory_entry(archive, 0);
  const auto size = static_cast<uint32_t>(a.size() + 100);
  for (const size_t at : {first + 20, first + 24}) std::memcpy(&archive[at], &size, 4);
  EXPECT_GT(second, local);
  EXPECT_THAT(message_of(try_npz, archive), testing::HasSubstr("overlaps the member before it"));
}

TEST(Npz, RefusesAZipBombAndTheTotalLimit) {
  // 256 MiB of zeros deflate to less than a thousandth.
  std::string zeros =
      format_npy(Array{Array::u8, {int64_t{256} << 20}, std::vector<std::byte>(size_t{256} << 20)});
  const std::string bomb = zip_of({{"a.npy", zeros}}, true);
  EXPECT_LT(bomb.size(), 1u << 20);
  EXPECT_THAT(message_of(try_npz, bomb), testing::HasSubstr("refused"));
  const auto limited = [](std::span<const std::byte> bytes) { parse_npz(bytes, "file", 200); };
  EXPECT_THAT(message_of(limited, valid_archive()), testing::HasSubstr("more than 200 bytes together"));
}

TEST(Npz, ReadsAnArrayOfZerosBelowTheFreeExpansion) {
  const Array zeros{Array::u8, {int64_t{32} << 20}, std::vector<std::byte>(size_t{32} << 20)};
  const auto arrays = parse_npz(to_bytes(format_npz({{"z", zeros}}, true)), "file");
  EXPECT_EQ(arrays.at("z").bytes, zeros.bytes);
}

TEST(Npz, ReadsALargeArrayOfFewValues) {
  if (kLarge < size_t{64} << 20) GTEST_SKIP() << "too slow with sanitizers or without optimisation";
  Array few{Array::u8, {int64_t{65} << 20}, std::vector<std::byte>(size_t{65} << 20)};
  uint32_t state = 1;
  for (size_t i = 0; i < few.bytes.size(); i += 4001)
    few.bytes[i] = std::byte((state = state * 1664525 + 1013904223) >> 24);
  const std::string archive = format_npz({{"z", few}}, true);
  EXPECT_LT(archive.size(), few.bytes.size() / 100);  // by more than a hundred times, less than 1024
  EXPECT_TRUE(parse_npz(to_bytes(archive), "file").at("z").bytes == few.bytes);
}

TEST(Npz, SurvivesTruncationsAndFlips) {
  for (const bool compress : {false, true}) {
    expect_every_truncation_fails(try_npz, valid_archive(compress));
    expect_flips_are_clean(try_npz, valid_archive(compress));
  }
  const auto vectors = load_vectors("numpy.json");
  for (const auto& test : vectors["npz"]) {
    expect_every_truncation_fails(try_npz, to_text(from_hex(test["file"])));
    expect_flips_are_clean(try_npz, to_text(from_hex(test["file"])));
  }
}

}  // namespace
}  // namespace modewise::io
