#include "modewise/io/arrays/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "modewise/core/error.h"
#include "modewise/io/file_kind.h"
#include "modewise/io/json_scanner.h"
#include "modewise/io/utf8.h"

namespace modewise::io {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are used in the byte order of the file");

constexpr uint64_t kHeaderLimit = 100'000'000;
constexpr size_t kMetadataLimit = 100'000;
constexpr std::string_view kMetadataKey = "__metadata__";

struct StoredType {
  std::string_view name;
  int bits;
};

// In the alignment order of the reference implementation; format_safetensors sorts by it, last first.
constexpr std::array<StoredType, 22> kStoredTypes = {
    {{"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6},     {"U8", 8},          {"I8", 8},
     {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
     {"U16", 16},    {"F16", 16},    {"BF16", 16},   {"I32", 32},        {"U32", 32},        {"F32", 32},
     {"C64", 64},    {"F64", 64},    {"I64", 64},    {"U64", 64}}};

size_t type_index(std::string_view name) {
  const auto found = std::find_if(kStoredTypes.begin(), kStoredTypes.end(),
                                  [&](const StoredType& type) { return type.name == name; });
  return static_cast<size_t>(found - kStoredTypes.begin());
}

std::string_view header_of(std::span<const std::byte> bytes, const std::string& source) {
  require(bytes.size() >= 8, ErrorKind::data,
          "{}: not a safetensors file: {} bytes are fewer than the 8 of the header's length", source,
          bytes.size());
  if (bytes.size() > 8 && bytes[8] != std::byte{'{'}) refuse_other_kind(bytes, source, "a safetensors file");
  uint64_t length;
  std::memcpy(&length, bytes.data(), 8);
  require(length <= kHeaderLimit, ErrorKind::data,
          "{}: the safetensors header declares {} bytes; the limit is {}", source, length, kHeaderLimit);
  require(length <= bytes.size() - 8, ErrorKind::data,
          "{}: the safetensors header declares {} bytes, but the file ends after {} of them", source, length,
          bytes.size() - 8);
  const std::string_view header(reinterpret_cast<const char*>(bytes.data()) + 8, length);
  require(header.starts_with('{'), ErrorKind::data,
          "{}: the safetensors header must begin with '{{' at byte 8", source);
  const size_t invalid = find_invalid_utf8(header);
  require(invalid == std::string_view::npos, ErrorKind::data,
          "{}: the safetensors header is not UTF-8 at byte {}", source, 8 + invalid);
  return header;
}

}  // namespace

int safetensors_bits(std::string_view dtype) {
  const size_t index = type_index(dtype);
  return index < kStoredTypes.size() ? kStoredTypes[index].bits : 0;
}

int safetensors_rank(std::string_view dtype) {
  const size_t index = type_index(dtype);
  return index < kStoredTypes.size() ? static_cast<int>(index) : -1;
}

// Fills an index from its header.
class SafetensorsHeaderParser {
 public:
  SafetensorsHeaderParser(SafetensorsIndex& index, const std::string& source)
      : index_(index), source_(source), scanner_(index.header_, source, "safetensors header", 8) {}

  void parse() {
    // Every tensor takes one '{' and at least 45 bytes; reserving by both never costs more than the header.
    const auto braces = static_cast<size_t>(std::count(index_.header_.begin(), index_.header_.end(), '{'));
    index_.entries_.reserve(std::min(braces, index_.header_.size() / 45 + 1));
    scanner_.expect('{', "at the start");
    if (!scanner_.take('}')) {
      do {
        parse_entry();
      } while (scanner_.take(','));
      scanner_.expect('}', "at the end of the header");
    }
    scanner_.expect_padding();
    check_offsets();
    check_names();
  }

 private:
  using Entry = SafetensorsIndex::Entry;

  bool is_metadata(const JsonScanner::Text& name) const {
    return name.escaped ? scanner_.decode(name) == kMetadataKey : name.raw == kMetadataKey;
  }

  void parse_entry() {
    const JsonScanner::Text name = scanner_.string();
    scanner_.expect(':', "after a name");
    if (!is_metadata(name)) return parse_tensor(name);
    if (has_metadata_) scanner_.wrong("duplicate key __metadata__");
    has_metadata_ = true;
    parse_metadata();
  }

  void parse_metadata() {
    scanner_.expect('{', "at the start of __metadata__");
    if (scanner_.take('}')) return;
    do {
      std::string key = scanner_.decode(scanner_.string());
      scanner_.expect(':', "after a key of __metadata__");
      std::string value = scanner_.decode(scanner_.string());
      if (!index_.metadata_.try_emplace(std::move(key), std::move(value)).second) {
        scanner_.wrong("duplicate key in __metadata__");
      }
      if (index_.metadata_.size() > kMetadataLimit) {
        scanner_.wrong(fmt::format("__metadata__ has more than {} keys", kMetadataLimit));
      }
    } while (scanner_.take(','));
    scanner_.expect('}', "at the end of __metadata__");
  }

  void parse_tensor(const JsonScanner::Text& name) {
    Entry entry;
    set_name(name, entry);
    bool has_dtype = false, has_shape = false, has_offsets = false;
    scanner_.expect('{', "at the start of a tensor's entry");
    for (bool more = true; more;) {
      const std::string key = scanner_.decode(scanner_.string());
      scanner_.expect(':', "after a key");
      bool* seen = key == "dtype"          ? &has_dtype
                   : key == "shape"        ? &has_shape
                   : key == "data_offsets" ? &has_offsets
                                           : nullptr;
      if (seen == nullptr)
        scanner_.wrong(
            fmt::format("unknown key {}, expected dtype, shape or data_offsets", quote_for_message(key)));
      if (*seen) scanner_.wrong(fmt::format("duplicate key '{}' in one entry", key));
      *seen = true;
      if (seen == &has_dtype) {
        parse_dtype(entry);
      } else if (seen == &has_shape) {
        parse_shape(entry);
      } else {
        scanner_.expect('[', "at the start of data_offsets");
        entry.begin = scanner_.natural("a data offset");
        scanner_.expect(',', "between the two data offsets");
        entry.end = scanner_.natural("a data offset");
        scanner_.expect(']', "after two data offsets");
      }
      more = scanner_.take(',');
    }
    scanner_.expect('}', "at the end of a tensor's entry");
    if (!has_dtype || !has_shape || !has_offsets)
      scanner_.wrong("an entry needs dtype, shape and data_offsets");
    check_size(entry);
    index_.entries_.push_back(entry);
  }

  void set_name(const JsonScanner::Text& name, Entry& entry) {
    entry.escaped = name.escaped;
    if (name.escaped) {
      const std::string decoded = scanner_.decode(name);
      entry.name = static_cast<uint32_t>(index_.unescaped_.size());
      entry.name_length = static_cast<uint32_t>(decoded.size());
      index_.unescaped_ += decoded;
    } else {
      entry.name = static_cast<uint32_t>(name.raw.data() - index_.header_.data());
      entry.name_length = static_cast<uint32_t>(name.raw.size());
    }
  }

  void parse_dtype(Entry& entry) {
    const std::string dtype = scanner_.decode(scanner_.string());
    const size_t type = type_index(dtype);
    if (type == kStoredTypes.size())
      scanner_.wrong(fmt::format("unknown dtype {}", quote_for_message(dtype)));
    entry.dtype = static_cast<uint8_t>(type);
  }

  void parse_shape(Entry& entry) {
    entry.shape = static_cast<uint32_t>(index_.shapes_.size());
    scanner_.expect('[', "at the start of a shape");
    if (scanner_.take(']')) return;
    do {
      const uint64_t dim = scanner_.natural("a dimension");
      if (dim > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
        scanner_.wrong("a dimension is beyond 63 bits");
      if (entry.rank == 64) scanner_.wrong("a tensor has more than 64 dimensions");
      ++entry.rank;
      index_.shapes_.push_back(static_cast<int64_t>(dim));
    } while (scanner_.take(','));
    scanner_.expect(']', "at the end of a shape");
  }

  void check_size(const Entry& entry) {
    uint64_t count = 1, bits = 0;
    bool fits = true;
    for (size_t axis = 0; axis < entry.rank; ++axis) {
      fits = fits && !__builtin_mul_overflow(count, static_cast<uint64_t>(index_.shapes_[entry.shape + axis]),
                                             &count);
    }
    fits =
        fits && !__builtin_mul_overflow(count, static_cast<uint64_t>(kStoredTypes[entry.dtype].bits), &bits);
    if (!fits) scanner_.wrong(fmt::format("the size of {} is beyond 64 bits", quoted(entry)));
    if (bits % 8 != 0) scanner_.wrong(fmt::format("{} does not fill whole bytes", quoted(entry)));
    if (entry.begin > entry.end || entry.end - entry.begin != bits / 8) {
      scanner_.wrong(fmt::format("{} takes {} bytes by shape and dtype, but its data_offsets are [{}, {}]",
                                 quoted(entry), bits / 8, entry.begin, entry.end));
    }
  }

  // No gaps, no overlap, nothing after the last tensor: every data byte belongs to one tensor.
  void check_offsets() {
    const auto before = [](const Entry& a, const Entry& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    };
    if (!std::is_sorted(index_.entries_.begin(), index_.entries_.end(), before)) {
      std::sort(index_.entries_.begin(), index_.entries_.end(), before);
    }
    uint64_t expected = 0;
    for (const Entry& entry : index_.entries_) {
      if (entry.begin != expected) {
        fail(ErrorKind::data,
             "{}: the bytes of tensor {} begin at data offset {}, but the tensor before it ends at {}: {}",
             source_, quoted(entry), entry.begin, expected,
             entry.begin < expected ? "they overlap" : "there is a gap");
      }
      expected = entry.end;
    }
    const uint64_t there = index_.data_.size();
    require(expected == there, ErrorKind::data,
            "{}: the tensors take {} bytes of data, but {} bytes follow the header: {}", source_, expected,
            there, there < expected ? "the file is truncated" : "it has trailing bytes");
  }

  // Sorts by the first eight bytes of the names, which keeps the sort of a million names in the cache.
  void check_names() {
    struct Key {
      uint64_t front;
      uint32_t entry;
    };
    const auto name = [&](uint32_t i) { return index_.name_of(index_.entries_[i]); };
    const size_t skip = common_prefix();
    std::vector<Key> keys(index_.entries_.size());
    for (uint32_t i = 0; i < keys.size(); ++i) {
      unsigned char bytes[8] = {};
      const std::string_view rest = name(i).substr(skip);
      std::memcpy(bytes, rest.data(), std::min<size_t>(rest.size(), 8));
      uint64_t front;
      std::memcpy(&front, bytes, 8);
      keys[i] = {__builtin_bswap64(front), i};
    }
    std::sort(keys.begin(), keys.end(), [&](const Key& a, const Key& b) {
      return a.front != b.front ? a.front < b.front : name(a.entry) < name(b.entry);
    });
    index_.by_name_.reserve(keys.size());
    for (const Key& key : keys) {
      if (!index_.by_name_.empty() && name(index_.by_name_.back()) == name(key.entry)) {
        fail(ErrorKind::data, "{}: duplicate tensor name {} in the header", source_,
             quote_for_message(name(key.entry)));
      }
      index_.by_name_.push_back(key.entry);
    }
  }

  size_t common_prefix() const {
    if (index_.entries_.empty()) return 0;
    const std::string_view first = index_.name_of(index_.entries_[0]);
    size_t common = first.size();
    for (const Entry& entry : index_.entries_) {
      const std::string_view name = index_.name_of(entry);
      const auto end = first.begin() + static_cast<ptrdiff_t>(std::min(common, name.size()));
      common = static_cast<size_t>(std::mismatch(first.begin(), end, name.begin()).first - first.begin());
    }
    return common;
  }

  std::string quoted(const Entry& entry) const { return quote_for_message(index_.name_of(entry)); }

  SafetensorsIndex& index_;
  const std::string& source_;
  JsonScanner scanner_;
  bool has_metadata_ = false;
};

SafetensorsIndex::SafetensorsIndex(std::span<const std::byte> bytes, const std::string& source)
    : header_(header_of(bytes, source)), data_(bytes.subspan(8 + header_.size())) {
  SafetensorsHeaderParser(*this, source).parse();
}

std::string_view SafetensorsIndex::name_of(const Entry& entry) const {
  const std::string_view text = entry.escaped ? std::string_view(unescaped_) : header_;
  return text.substr(entry.name, entry.name_length);
}

TensorView SafetensorsIndex::tensor(size_t index) const {
  const Entry& entry = entries_.at(index);
  const auto shape = shapes_.begin() + entry.shape;
  return {std::string(name_of(entry)),
          std::string(kStoredTypes[entry.dtype].name),
          {shape, shape + entry.rank},
          data_.subspan(entry.begin, entry.end - entry.begin)};
}

std::vector<TensorView> SafetensorsIndex::tensors() const {
  std::vector<TensorView> views;
  views.reserve(size());
  for (size_t i = 0; i < size(); ++i) views.push_back(tensor(i));
  return views;
}

std::optional<TensorView> SafetensorsIndex::find(std::string_view name) const {
  const auto before = [&](uint32_t i, std::string_view wanted) { return name_of(entries_[i]) < wanted; };
  const auto found = std::lower_bound(by_name_.begin(), by_name_.end(), name, before);
  if (found == by_name_.end() || name_of(entries_[*found]) != name) return std::nullopt;
  return tensor(*found);
}

}  // namespace modewise::io
