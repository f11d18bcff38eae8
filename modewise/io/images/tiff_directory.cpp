#include "modewise/io/images/tiff_directory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <set>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/io/file_kind.h"

namespace modewise::io {
namespace {

constexpr uint64_t kLargestTag = uint64_t{1} << 20;
constexpr int64_t kMaxPages = 1000;
constexpr uint16_t kSubfileType = 254, kReduced = 1, kMask = 4, kImageWidth = 256, kImageHeight = 257;

// Bytes per value of each type, 0 for unknown types.
constexpr std::array<uint8_t, 19> kTypeSizes = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
constexpr uint16_t kByte = 1, kAscii = 2, kShort = 3, kLong = 4, kDouble = 12, kIfd = 13, kLong8 = 16,
                   kIfd8 = 18;

uint64_t type_size(uint16_t type) {
  return type < kTypeSizes.size() ? kTypeSizes[type] : 0;
}

std::string_view tag_name(uint16_t tag) {
  static constexpr std::array<std::pair<uint16_t, std::string_view>, 23> kNames = {
      {{254, "NewSubfileType"},    {256, "ImageWidth"},        {257, "ImageLength"},
       {258, "BitsPerSample"},     {259, "Compression"},       {262, "PhotometricInterpretation"},
       {266, "FillOrder"},         {273, "StripOffsets"},      {277, "SamplesPerPixel"},
       {278, "RowsPerStrip"},      {279, "StripByteCounts"},   {284, "PlanarConfiguration"},
       {317, "Predictor"},         {320, "ColorMap"},          {322, "TileWidth"},
       {323, "TileLength"},        {324, "TileOffsets"},       {325, "TileByteCounts"},
       {339, "SampleFormat"},      {33550, "ModelPixelScale"}, {33922, "ModelTiepoint"},
       {34735, "GeoKeyDirectory"}, {42113, "GDAL_NODATA"}}};
  for (const auto& [number, name] : kNames) {
    if (number == tag) return name;
  }
  return {};
}

uint64_t whole_number(const std::byte* bytes, uint64_t size, bool big_endian) {
  uint64_t value = 0;
  for (uint64_t i = 0; i < size; ++i) {
    value = value << 8 | std::to_integer<uint64_t>(bytes[big_endian ? i : size - 1 - i]);
  }
  return value;
}

bool is_whole(uint16_t type) {
  return type == kByte || type == kShort || type == kLong || type == kIfd || type == kLong8 || type == kIfd8;
}

}  // namespace

TiffDirectory::TiffDirectory(const ByteSource& bytes, std::string source)
    : bytes_(bytes), source_(std::move(source)) {
  require(bytes.size() > 0, ErrorKind::data, "{}: the file is empty, a TIFF image was expected", source_);
  std::array<std::byte, 64> magic{};
  const size_t there = bytes.read(0, magic);
  big_endian_ = magic[0] == std::byte{'M'};
  const uint64_t version = whole_number(&magic[2], 2, big_endian_);
  const std::string_view kind = file_kind(std::span(magic).first(there)).name;
  big_ = version == 43;
  require(there >= 4 && magic[0] == magic[1] && (magic[0] == std::byte{'I'} || big_endian_) &&
              (version == 42 || version == 43),
          ErrorKind::data, "{}: not a TIFF image: it begins with none of TIFF's signatures{}", source_,
          kind.empty() ? "" : fmt::format("; it is {}", kind));
  if (big_) {
    require(field(4, 2, "the header") == 8 && field(6, 2, "the header") == 0, ErrorKind::data,
            "{}: the header of BigTIFF must declare offsets of 8 bytes", source_);
  }
  offset_ = big_ ? field(8, 8, "the header") : field(4, 4, "the header");
  require(offset_ != 0, ErrorKind::data, "{}: the file holds no image: its first directory is at byte 0",
          source_);
  next_ = read_directory(offset_);
  check_entries();
}

void TiffDirectory::read_all(uint64_t offset, std::span<std::byte> out, const char* what) const {
  const bool inside = offset <= bytes_.size() && out.size() <= bytes_.size() - offset;
  require(inside && bytes_.read(offset, out) == out.size(), ErrorKind::data,
          "{}: {} at byte {} ({} bytes) lies beyond the end of the file ({} bytes)", source_, what, offset,
          out.size(), bytes_.size());
}

uint64_t TiffDirectory::field(uint64_t offset, int size, const char* what) const {
  std::array<std::byte, 8> raw;
  const auto part = std::span(raw).first(static_cast<size_t>(size));
  read_all(offset, part, what);
  return whole_number(part.data(), part.size(), big_endian_);
}

// Reads entries without checking their values; returns the offset of the next directory, 0 for none.
uint64_t TiffDirectory::read_directory(uint64_t offset) {
  const int count_size = big_ ? 8 : 2, entry_size = big_ ? 20 : 12, word = big_ ? 8 : 4;
  const uint64_t count = field(offset, count_size, "a directory");
  require(count > 0 && count <= 65535, ErrorKind::data,
          "{}: the directory at byte {} declares {} entries, expected 1 to 65535", source_, offset, count);
  std::vector<std::byte> raw;
  const uint64_t begin = offset + static_cast<uint64_t>(count_size),
                 size = count * static_cast<uint64_t>(entry_size);
  require(begin <= bytes_.size() && size <= bytes_.size() - begin, ErrorKind::data,
          "{}: the directory at byte {} declares {} entries, which end beyond the file ({} bytes)", source_,
          offset, count, bytes_.size());
  raw.resize(size);
  read_all(begin, raw, "a directory");
  entries_.clear();
  entries_.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    const std::byte* at = raw.data() + i * static_cast<uint64_t>(entry_size);
    TiffEntry entry;
    entry.tag = static_cast<uint16_t>(whole_number(at, 2, big_endian_));
    entry.type = static_cast<uint16_t>(whole_number(at + 2, 2, big_endian_));
    entry.count = whole_number(at + 4, static_cast<uint64_t>(word), big_endian_);
    const uint64_t place = begin + i * static_cast<uint64_t>(entry_size) + 4 + static_cast<uint64_t>(word);
    const uint64_t each = type_size(entry.type);
    const bool within = entry.count <= static_cast<uint64_t>(word) / std::max<uint64_t>(each, 1);
    entry.offset = within ? place : whole_number(at + 4 + word, static_cast<uint64_t>(word), big_endian_);
    entries_.push_back(entry);
  }
  return field(begin + size, word, "the link to the next directory");
}

// All values lie in the file, no tag is duplicate, and values do not overlap so much that reading all of them
// would take more memory than the file's size.
void TiffDirectory::check_entries() const {
  std::set<uint16_t> tags;
  uint64_t total = 0;
  for (const TiffEntry& entry : entries_) {
    const uint64_t each = type_size(entry.type);
    if (each == 0) continue;  // readers skip unknown types
    require(tags.insert(entry.tag).second, ErrorKind::data, "{}: duplicate tag", place(entry.tag));
    require(entry.offset <= bytes_.size() && entry.count <= (bytes_.size() - entry.offset) / each,
            ErrorKind::data, "{}: its {} values at byte {} lie beyond the end of the file ({} bytes)",
            place(entry.tag), entry.count, entry.offset, bytes_.size());
    total += entry.count * each;
    require(total <= bytes_.size() + 65536, ErrorKind::data,
            "{}: the values of the directory's tags overlap and take more than the whole file "
            "({} bytes)",
            place(entry.tag), bytes_.size());
  }
}

std::string TiffDirectory::place(uint16_t tag) const {
  const std::string_view name = tag_name(tag);
  return fmt::format("{}: directory at byte {}, tag {}{}{}{}", source_, offset_, tag,
                     name.empty() ? "" : " (", name, name.empty() ? "" : ")");
}

const TiffEntry* TiffDirectory::find(uint16_t tag) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const TiffEntry& e) { return e.tag == tag && type_size(e.type) > 0; });
  return found == entries_.end() ? nullptr : &*found;
}

const TiffEntry& TiffDirectory::at(uint16_t tag) const {
  const TiffEntry* entry = find(tag);
  require(entry != nullptr, ErrorKind::data, "{}: the tag is missing", place(tag));
  return *entry;
}

uint64_t TiffDirectory::number(uint16_t tag, uint64_t otherwise) const {
  return find(tag) == nullptr ? otherwise : number(tag);
}

uint64_t TiffDirectory::number(uint16_t tag) const {
  const TiffEntry& entry = at(tag);
  require(entry.count == 1, ErrorKind::data, "{}: expected one value, got {}", place(tag), entry.count);
  uint64_t value = 0;
  numbers(entry, 0, {&value, 1});
  return value;
}

void TiffDirectory::numbers(const TiffEntry& entry, uint64_t first, std::span<uint64_t> out) const {
  require(is_whole(entry.type), ErrorKind::data, "{}: expected integers, got values of type {}",
          place(entry.tag), entry.type);
  const uint64_t each = type_size(entry.type);
  std::array<std::byte, 8192> raw;
  for (size_t done = 0; done < out.size();) {
    const size_t count = std::min<size_t>(out.size() - done, raw.size() / each);
    read_all(entry.offset + (first + done) * each, std::span(raw).first(count * each), "a tag's values");
    for (size_t i = 0; i < count; ++i) {
      out[done + i] = whole_number(raw.data() + i * each, each, big_endian_);
    }
    done += count;
  }
}

void TiffDirectory::values(const TiffEntry& entry, std::vector<std::byte>& raw) const {
  const uint64_t size = entry.count * type_size(entry.type);
  require(size <= kLargestTag, ErrorKind::data, "{}: its {} values take {} bytes, the limit is {}",
          place(entry.tag), entry.count, size, kLargestTag);
  raw.resize(size);
  read_all(entry.offset, raw, "a tag's values");
}

std::vector<uint64_t> TiffDirectory::numbers(uint16_t tag) const {
  const TiffEntry* entry = find(tag);
  if (entry == nullptr) return {};
  require(entry->count * type_size(entry->type) <= kLargestTag, ErrorKind::data,
          "{}: its {} values take more than {} bytes", place(tag), entry->count, kLargestTag);
  std::vector<uint64_t> result(entry->count);
  numbers(*entry, 0, result);
  return result;
}

std::vector<double> TiffDirectory::doubles(uint16_t tag) const {
  const TiffEntry* entry = find(tag);
  if (entry == nullptr) return {};
  require(entry->type == kDouble, ErrorKind::data, "{}: expected doubles, got values of type {}", place(tag),
          entry->type);
  std::vector<std::byte> raw;
  values(*entry, raw);
  std::vector<double> result(entry->count);
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = std::bit_cast<double>(whole_number(raw.data() + 8 * i, 8, big_endian_));
  }
  return result;
}

std::string TiffDirectory::text(uint16_t tag) const {
  const TiffEntry* entry = find(tag);
  if (entry == nullptr) return {};
  require(entry->type == kAscii, ErrorKind::data, "{}: expected text, got values of type {}", place(tag),
          entry->type);
  std::vector<std::byte> raw;
  values(*entry, raw);
  const std::string all(reinterpret_cast<const char*>(raw.data()), raw.size());
  return all.substr(0, all.find('\0'));
}

void TiffDirectory::for_each_further(const std::function<void(const TiffDirectory&)>& take) const {
  TiffDirectory page = *this;
  std::set<uint64_t> seen = {offset_};
  while (page.next_ != 0 && seen.insert(page.next_).second &&
         static_cast<int64_t>(seen.size()) <= kMaxPages) {
    try {
      page.offset_ = page.next_;
      page.next_ = page.read_directory(page.offset_);
      take(page);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::data) throw;
      break;  // only the first image is read, and it is complete
    }
  }
}

int64_t TiffDirectory::count_pages() const {
  int64_t pages = 1;
  for_each_further([&](const TiffDirectory& page) {
    if ((page.number(kSubfileType, 0) & (kReduced | kMask)) == 0) ++pages;
  });
  return pages;
}

std::optional<TiffDirectory> TiffDirectory::find_mask() const {
  std::optional<TiffDirectory> mask;
  for_each_further([&](const TiffDirectory& page) {
    const bool is_mask = (page.number(kSubfileType, 0) & (kReduced | kMask)) == kMask;
    if (is_mask && !mask && page.number(kImageWidth, 0) == number(kImageWidth) &&
        page.number(kImageHeight, 0) == number(kImageHeight))
      mask.emplace(page);
  });
  if (mask) mask->check_entries();
  return mask;
}

}  // namespace modewise::io
