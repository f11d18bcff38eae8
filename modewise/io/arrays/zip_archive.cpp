#include "modewise/io/arrays/zip_archive.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

#include "modewise/core/error.h"
#include "modewise/io/file_kind.h"
#include "modewise/io/utf8.h"

namespace modewise::io {
namespace {

constexpr uint32_t kLocalHeader = 0x04034b50, kDirectoryEntry = 0x02014b50, kDirectoryEnd = 0x06054b50;
constexpr uint32_t kZip64End = 0x06064b50, kZip64Locator = 0x07064b50;
constexpr uint32_t kUnknown32 = 0xFFFFFFFF;
constexpr uint64_t kMemberLimit = 100'000;

// Little-endian fields at checked offsets.
class Fields {
 public:
  Fields(std::span<const std::byte> bytes, const std::string& source) : bytes_(bytes), source_(source) {}

  std::span<const std::byte> at(uint64_t offset, uint64_t size, const char* what) const {
    require(offset <= bytes_.size() && size <= bytes_.size() - offset, ErrorKind::data,
            "{}: the archive is damaged: {} at byte {} lies beyond its end ({} bytes)", source_, what, offset,
            bytes_.size());
    return bytes_.subspan(offset, size);
  }
  template <class T>
  static T get(std::span<const std::byte> bytes, size_t offset) {
    T value;
    std::memcpy(&value, bytes.subspan(offset, sizeof(T)).data(), sizeof(T));
    return value;
  }
  uint64_t size() const { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
  const std::string& source_;
};

struct Directory {
  uint64_t entries = 0, size = 0, offset = 0;
};

uint64_t find_directory_end(const Fields& fields, std::span<const std::byte> archive,
                            const std::string& source) {
  if (archive.size() >= 22) {
    // A comment of up to 64 KiB may follow; it must end exactly at the end of the file.
    const uint64_t last = archive.size() - 22;
    for (uint64_t at = last + 1; at-- > 0 && last - at <= 65535;) {
      const auto record = fields.at(at, 22, "the end of the directory");
      if (Fields::get<uint32_t>(record, 0) == kDirectoryEnd && Fields::get<uint16_t>(record, 20) == last - at)
        return at;
    }
  }
  const bool zip = archive.size() >= 4 && Fields::get<uint32_t>(archive, 0) == kLocalHeader;
  if (!archive.empty() && !zip) refuse_other_kind(archive, source, "an NPZ (ZIP) archive");
  fail(ErrorKind::data, "{}: {}", source,
       archive.empty() ? "the file is empty, an NPZ archive was expected"
       : zip           ? "the archive is truncated: its directory is missing"
                       : "not an NPZ (ZIP) archive: it has no directory at its end");
}

Directory read_directory_end(const Fields& fields, std::span<const std::byte> archive,
                             const std::string& source) {
  const uint64_t end = find_directory_end(fields, archive, source);
  const auto record = fields.at(end, 22, "the end of the directory");
  Directory directory{Fields::get<uint16_t>(record, 10), Fields::get<uint32_t>(record, 12),
                      Fields::get<uint32_t>(record, 16)};
  uint64_t limit = end;
  require(Fields::get<uint16_t>(record, 4) == 0 && Fields::get<uint16_t>(record, 6) == 0, ErrorKind::data,
          "{}: the archive is split over several files, which is not supported", source);
  const bool zip64 =
      directory.entries == 0xFFFF || directory.size == kUnknown32 || directory.offset == kUnknown32;
  if (zip64) {
    require(end >= 20, ErrorKind::data, "{}: the archive is damaged: it has no zip64 locator", source);
    const auto locator = fields.at(end - 20, 20, "the zip64 locator");
    require(Fields::get<uint32_t>(locator, 0) == kZip64Locator, ErrorKind::data,
            "{}: the archive is damaged: it has no zip64 locator", source);
    limit = Fields::get<uint64_t>(locator, 8);
    const auto wide = fields.at(limit, 56, "the zip64 end of the directory");
    require(Fields::get<uint32_t>(wide, 0) == kZip64End, ErrorKind::data,
            "{}: the archive is damaged: no zip64 end of the directory at byte {}", source, limit);
    directory = {Fields::get<uint64_t>(wide, 32), Fields::get<uint64_t>(wide, 40),
                 Fields::get<uint64_t>(wide, 48)};
  }
  require(directory.offset <= limit && directory.size == limit - directory.offset, ErrorKind::data,
          "{}: the archive is damaged: its directory should take {} bytes from byte {}, but ends at byte {}",
          source, directory.size, directory.offset, limit);
  require(directory.entries <= directory.size / 46, ErrorKind::data,
          "{}: the archive declares {} members, more than its directory of {} bytes can hold", source,
          directory.entries, directory.size);
  require(directory.entries <= kMemberLimit, ErrorKind::data,
          "{}: the archive has {} members; the limit is {}", source, directory.entries, kMemberLimit);
  return directory;
}

struct Entry {
  ZipMember member;
  uint64_t compressed = 0, local = 0;
};

// Sizes beyond 32 bits are in an extra field, in this order and only if the plain field is all ones.
void read_zip64_extra(std::span<const std::byte> extra, Entry& entry, const std::string& place) {
  while (extra.size() >= 4) {
    const auto id = Fields::get<uint16_t>(extra, 0), size = Fields::get<uint16_t>(extra, 2);
    require(size <= extra.size() - 4, ErrorKind::data, "{}: its extra field is damaged", place);
    if (id == 1) {
      auto fields = extra.subspan(4, size);
      for (uint64_t* value : {&entry.member.size, &entry.compressed, &entry.local}) {
        if (*value != kUnknown32) continue;
        require(fields.size() >= 8, ErrorKind::data, "{}: its zip64 sizes are damaged", place);
        *value = Fields::get<uint64_t>(fields, 0);
        fields = fields.subspan(8);
      }
      return;
    }
    extra = extra.subspan(size_t{4} + size);
  }
}

// Reads the entry at `at` and moves on to the next.
Entry read_entry(const Fields& fields, uint64_t& at, const std::string& source) {
  const auto head = fields.at(at, 46, "a directory entry");
  require(Fields::get<uint32_t>(head, 0) == kDirectoryEntry, ErrorKind::data,
          "{}: the archive is damaged: no directory entry at byte {}", source, at);
  const auto flags = Fields::get<uint16_t>(head, 8), method = Fields::get<uint16_t>(head, 10);
  const auto name_size = Fields::get<uint16_t>(head, 28), extra_size = Fields::get<uint16_t>(head, 30),
             comment_size = Fields::get<uint16_t>(head, 32);
  const auto name = fields.at(at + 46, name_size, "a member's name");
  Entry entry;
  entry.member.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
  const std::string place = source + ": member " + quote_for_message(entry.member.name);
  require((flags & 1) == 0, ErrorKind::data, "{} is encrypted, which is not supported", place);
  require(method == 0 || method == 8, ErrorKind::data,
          "{} is compressed by method {}; stored and deflated are supported", place, method);
  entry.member.deflated = method == 8;
  entry.member.checksum = Fields::get<uint32_t>(head, 16);
  entry.compressed = Fields::get<uint32_t>(head, 20);
  entry.member.size = Fields::get<uint32_t>(head, 24);
  entry.local = Fields::get<uint32_t>(head, 42);
  read_zip64_extra(fields.at(at + 46 + name_size, extra_size, "a member's extra field"), entry, place);
  require(entry.member.deflated || entry.member.size == entry.compressed, ErrorKind::data,
          "{} is stored, but its sizes {} and {} differ", place, entry.member.size, entry.compressed);
  at += uint64_t{46} + name_size + extra_size + comment_size;
  return entry;
}

void find_data(const Fields& fields, Entry& entry, const Directory& directory, const std::string& source) {
  const auto head = fields.at(entry.local, 30, "a member");
  const std::string place = source + ": member " + quote_for_message(entry.member.name);
  require(Fields::get<uint32_t>(head, 0) == kLocalHeader, ErrorKind::data, "{} is not at byte {}", place,
          entry.local);
  const auto name_size = Fields::get<uint16_t>(head, 26), extra_size = Fields::get<uint16_t>(head, 28);
  const auto name = fields.at(entry.local + 30, name_size, "a member's name");
  require(std::string_view(reinterpret_cast<const char*>(name.data()), name.size()) == entry.member.name &&
              Fields::get<uint16_t>(head, 8) == (entry.member.deflated ? 8 : 0),
          ErrorKind::data, "{}: the directory and the entry at byte {} disagree", place, entry.local);
  const uint64_t begin = entry.local + 30 + name_size + extra_size;
  require(begin <= directory.offset && entry.compressed <= directory.offset - begin, ErrorKind::data,
          "{} should take {} bytes from byte {}, but the directory begins at byte {}", place,
          entry.compressed, begin, directory.offset);
  entry.member.data = fields.at(begin, entry.compressed, "a member's data");
}

}  // namespace

std::vector<ZipMember> read_zip_directory(std::span<const std::byte> archive, const std::string& source) {
  const Fields fields(archive, source);
  const Directory directory = read_directory_end(fields, archive, source);
  std::vector<Entry> entries;
  std::set<std::string_view> names;
  entries.reserve(directory.entries);
  uint64_t at = directory.offset;
  for (uint64_t i = 0; i < directory.entries; ++i) {
    entries.push_back(read_entry(fields, at, source));
    find_data(fields, entries.back(), directory, source);
    const std::string& name = entries.back().member.name;
    require(names.insert(name).second, ErrorKind::data, "{}: duplicate member {}", source,
            quote_for_message(name));
  }
  require(at == directory.offset + directory.size, ErrorKind::data,
          "{}: the archive is damaged: its directory ends at byte {}, not at byte {}", source, at,
          directory.offset + directory.size);
  names.clear();
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.local < b.local; });
  const std::byte* end = archive.data();
  std::vector<ZipMember> members;
  for (Entry& entry : entries) {
    // Overlapping members would let a small archive expand without limit.
    require(archive.data() + entry.local >= end, ErrorKind::data,
            "{}: member {} overlaps the member before it", source, quote_for_message(entry.member.name));
    end = entry.member.data.data() + entry.member.data.size();
    members.push_back(std::move(entry.member));
  }
  return members;
}

ZipMemberReader::ZipMemberReader(const ZipMember& member, const std::string& source)
    : member_(member), place_(source + ": member " + quote_for_message(member.name)), rest_(member.data) {
  checksum_ = static_cast<uint32_t>(crc32_z(0, nullptr, 0));
  if (!member.deflated) return;
  require(inflateInit2(&stream_, -MAX_WBITS) == Z_OK, ErrorKind::internal, "zlib cannot start inflating");
}

ZipMemberReader::~ZipMemberReader() {
  if (member_.deflated) inflateEnd(&stream_);
}

size_t ZipMemberReader::inflate_some(std::span<std::byte> out) {
  constexpr size_t kMax = std::numeric_limits<uInt>::max();
  stream_.next_out = reinterpret_cast<Bytef*>(out.data());
  stream_.avail_out = static_cast<uInt>(std::min(out.size(), kMax));
  const size_t wanted = stream_.avail_out;
  stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(rest_.data()));
  stream_.avail_in = static_cast<uInt>(std::min(rest_.size(), kMax));
  const size_t given = stream_.avail_in;
  const int status = ended_ ? Z_STREAM_END : inflate(&stream_, Z_NO_FLUSH);
  rest_ = rest_.subspan(given - stream_.avail_in);
  require(status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR, ErrorKind::data,
          "{}: its compressed data is damaged after {} bytes of content", place_, done_);
  ended_ = status == Z_STREAM_END;
  return wanted - stream_.avail_out;
}

void ZipMemberReader::read(std::span<std::byte> out) {
  while (!out.empty()) {
    size_t taken = 0;
    if (member_.deflated) {
      taken = inflate_some(out);
    } else {
      taken = std::min(out.size(), rest_.size());
      std::copy_n(rest_.begin(), taken, out.begin());
      rest_ = rest_.subspan(taken);
    }
    require(taken > 0, ErrorKind::data, "{} declares {} bytes, but its content ends after {}", place_,
            member_.size, done_);
    checksum_ = static_cast<uint32_t>(crc32_z(checksum_, reinterpret_cast<const Bytef*>(out.data()), taken));
    done_ += taken;
    out = out.subspan(taken);
  }
}

void ZipMemberReader::finish() {
  std::byte extra;
  const bool more =
      done_ != member_.size || (member_.deflated ? inflate_some({&extra, 1}) > 0 : !rest_.empty());
  require(!more, ErrorKind::data, "{} declares {} bytes, but its content is longer", place_, member_.size);
  require(!member_.deflated || (ended_ && rest_.empty()), ErrorKind::data,
          "{}: its compressed data does not end where the archive says", place_);
  require(checksum_ == member_.checksum, ErrorKind::data,
          "{}: its checksum is {:08x}, but the archive says {:08x}: the content is damaged", place_,
          checksum_, member_.checksum);
}

}  // namespace modewise::io
