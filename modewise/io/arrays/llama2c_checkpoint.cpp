#include "modewise/io/arrays/llama2c_checkpoint.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "modewise/core/error.h"
#include "modewise/core/file.h"

namespace modewise::io {
namespace {

static_assert(std::endian::native == std::endian::little, "weights are used in the byte order of the file");

constexpr uint32_t kLlama2cMagic = 0x616b3432;  // "ak42"
constexpr size_t kLegacyHeader = 28;
constexpr size_t kVersionedHeader = 256;
constexpr size_t kSharedFlag = 36;
constexpr double kLlama2cRotaryBase = 10000;
constexpr unsigned __int128 kMaxTables = 64 << 20;

/// One weight of the file: `bytes` bytes, kept at `weights.*part`.
struct Part {
  Llama2cPart part;
  const char* name;
  unsigned __int128 floats;
};

constexpr Llama2cPart kTables = nullptr;

/// The weights in file order; the rotary tables of version 0 are a part without a name.
std::vector<Part> parts_of(const Llama2cHeader& h) {
  using W = Llama2cWeights;
  const auto layers = static_cast<unsigned __int128>(h.layers);
  const auto width = static_cast<unsigned __int128>(h.width),
             hidden = static_cast<unsigned __int128>(h.hidden);
  const auto kv = static_cast<unsigned __int128>(h.kv_width());
  const auto vocabulary = static_cast<unsigned __int128>(h.vocabulary);
  const Part embedding{&W::embedding, "embedding", vocabulary * width};
  const Part attention_norm{&W::attention_norm, "attention norm", layers * width};
  const Part feed_norm{&W::feed_norm, "feed-forward norm", layers * width};
  const Part final_norm{&W::final_norm, "final norm", width};
  const std::array<Part, 4> attention = {{{&W::query, "query", layers * width * width},
                                          {&W::key, "key", layers * kv * width},
                                          {&W::value, "value", layers * kv * width},
                                          {&W::out, "attention output", layers * width * width}}};
  const std::array<Part, 3> feed = {{{&W::gate, "w1", layers * hidden * width},
                                     {&W::down, "w2", layers * width * hidden},
                                     {&W::up, "w3", layers * hidden * width}}};
  std::vector<Part> parts;
  const auto add = [&](const auto& list) { parts.insert(parts.end(), list.begin(), list.end()); };
  if (h.version == 0) {
    parts = {embedding, attention_norm};
    add(attention);
    parts.push_back(feed_norm);
    add(feed);
    parts.push_back(final_norm);
    parts.push_back({kTables, "rotary tables",
                     static_cast<unsigned __int128>(h.context) *
                         (static_cast<unsigned __int128>(h.head_width()) / 2 * 2)});
  } else {
    parts = {attention_norm, feed_norm, final_norm, embedding};
    add(attention);
    add(feed);
  }
  if (!h.tied) parts.push_back({&W::classifier, "classifier", vocabulary * width});
  return parts;
}

void check_llama2c_sizes(const Llama2cHeader& h, const std::string& source) {
  const auto positive = [&](int32_t value, const char* name) {
    require(value >= 1, ErrorKind::data,
            "{}: not a llama2.c checkpoint: its {} is {}, which is not positive, and its first bytes are not "
            "the magic number ak42",
            source, name, value);
  };
  positive(h.width, "width");
  positive(h.hidden, "feed-forward width");
  positive(h.layers, "number of layers");
  positive(h.heads, "number of heads");
  positive(h.kv_heads, "number of key and value heads");
  positive(h.vocabulary, "vocabulary");
  positive(h.context, "context length");
  require(h.heads <= h.width && h.width % h.heads == 0 && h.width / h.heads % 2 == 0, ErrorKind::data,
          "{}: the width {} cannot be split into {} heads of an even width", source, h.width, h.heads);
  require(h.kv_heads <= h.heads && h.heads % h.kv_heads == 0, ErrorKind::data,
          "{}: {} key and value heads do not divide {} heads", source, h.kv_heads, h.heads);
}

int32_t int_at(std::span<const std::byte> bytes, size_t offset) {
  int32_t value;
  std::memcpy(&value, bytes.data() + offset, 4);
  return value;
}

void read_sizes(std::span<const std::byte> bytes, size_t offset, Llama2cHeader& h) {
  const std::array<int32_t*, 7> fields = {&h.width,    &h.hidden,     &h.layers, &h.heads,
                                          &h.kv_heads, &h.vocabulary, &h.context};
  for (size_t i = 0; i < fields.size(); ++i) *fields[i] = int_at(bytes, offset + 4 * i);
}

bool has_magic(std::span<const std::byte> bytes) {
  return bytes.size() >= 4 && static_cast<uint32_t>(int_at(bytes, 0)) == kLlama2cMagic;
}

size_t read_versioned_header(std::span<const std::byte> bytes, const std::string& source, Llama2cHeader& h) {
  require(bytes.size() >= kVersionedHeader, ErrorKind::data,
          "{}: {} bytes are fewer than the {} of the header of an ak42 checkpoint", source, bytes.size(),
          kVersionedHeader);
  h.version = int_at(bytes, 4);
  require(h.version != 2, ErrorKind::data,
          "{}: version 2 of llama2.c's checkpoints holds 8-bit weights, which are not supported; export the "
          "model as version 0 or 1",
          source);
  require(h.version == 1, ErrorKind::data,
          "{}: ak42 checkpoints of version 1 are supported, this is version {}", source, h.version);
  read_sizes(bytes, 8, h);
  const auto shared = std::to_integer<int>(bytes[kSharedFlag]);
  require(shared <= 1, ErrorKind::data,
          "{}: the byte at offset {} (shared classifier) must be 0 or 1, got {}", source, kSharedFlag,
          shared);
  h.tied = shared == 1;
  return kVersionedHeader;
}

size_t read_legacy_header(std::span<const std::byte> bytes, const std::string& source, Llama2cHeader& h) {
  require(bytes.size() >= kLegacyHeader, ErrorKind::data,
          "{}: not a llama2.c checkpoint: {} bytes are fewer than the {} of its header", source, bytes.size(),
          kLegacyHeader);
  read_sizes(bytes, 0, h);
  h.tied = h.vocabulary > 0;
  require(h.vocabulary != INT32_MIN, ErrorKind::data, "{}: a vocabulary of {} has no positive counterpart",
          source, h.vocabulary);
  if (!h.tied) h.vocabulary = -h.vocabulary;
  return kLegacyHeader;
}

void append_ints(std::string& out, std::span<const int32_t> values) {
  out.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}

std::string format_header(const Llama2cHeader& h) {
  std::string out;
  const bool negative = h.version == 0 && !h.tied;
  const std::array<int32_t, 7> sizes = {
      h.width, h.hidden, h.layers, h.heads, h.kv_heads, negative ? -h.vocabulary : h.vocabulary, h.context};
  if (h.version == 1) append_ints(out, std::array<int32_t, 2>{static_cast<int32_t>(kLlama2cMagic), 1});
  append_ints(out, sizes);
  if (h.version == 1) {
    out.push_back(h.tied ? 1 : 0);
    out.resize(kVersionedHeader, '\0');
  }
  return out;
}

/// Cosines, then sines, of positions × frequencies; llama2.c writes them and ignores them when reading.
void give_tables(const Llama2cHeader& h, const ByteSink& sink) {
  std::vector<float> row(static_cast<size_t>(h.head_width() / 2));
  for (const bool sines : {false, true})
    for (int64_t position = 0; position < h.context; ++position) {
      for (size_t i = 0; i < row.size(); ++i) {
        const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(h.head_width());
        const double angle = static_cast<double>(position) * std::pow(kLlama2cRotaryBase, exponent);
        row[i] = static_cast<float>(sines ? std::sin(angle) : std::cos(angle));
      }
      sink(std::as_bytes(std::span(row)));
    }
}

/// The size of the tables depends on the context only, which a file of any size can declare.
void check_tables(const std::vector<Part>& parts, const Llama2cHeader& h) {
  unsigned __int128 tables = 0, weights = 0;
  for (const Part& part : parts) (part.part == kTables ? tables : weights) += 4 * part.floats;
  require(
      tables <= 2 * weights + kMaxTables, ErrorKind::data,
      "version 0 of llama2.c's checkpoints holds rotary tables for each position of the context: {} "
      "positions "
      "take {} bytes, the weights {}; the limit is twice the weights plus 64 MiB. Version 1 has no tables",
      h.context, static_cast<uint64_t>(tables), static_cast<uint64_t>(weights));
}

}  // namespace

Llama2cCheckpoint parse_llama2c(std::span<const std::byte> bytes, const std::string& source) {
  Llama2cCheckpoint out;
  size_t offset = has_magic(bytes) ? read_versioned_header(bytes, source, out.header)
                                   : read_legacy_header(bytes, source, out.header);
  check_llama2c_sizes(out.header, source);
  const std::vector<Part> parts = parts_of(out.header);
  unsigned __int128 wanted = offset;
  for (const Part& part : parts) wanted += 4 * part.floats;
  // Capped at 64 bits for the message.
  const auto shown = static_cast<uint64_t>(std::min<unsigned __int128>(wanted, UINT64_MAX));
  require(
      wanted == bytes.size(), ErrorKind::data,
      "{}: the sizes in its header (width {}, feed-forward {}, {} layers, {} heads, {} key and value heads, "
      "vocabulary {}, context {}) need {} bytes, but the file has {}: {}",
      source, out.header.width, out.header.hidden, out.header.layers, out.header.heads, out.header.kv_heads,
      out.header.vocabulary, out.header.context, shown, bytes.size(),
      wanted > bytes.size() ? "it is truncated, or not a llama2.c checkpoint" : "it has trailing bytes");
  for (const Part& part : parts) {
    const auto size = static_cast<size_t>(4 * part.floats);
    if (part.part != kTables) out.weights.*part.part = bytes.subspan(offset, size);
    offset += size;
  }
  return out;
}

void write_llama2c(const Llama2cHeader& h, const GiveLlama2cPart& give, const ByteSink& sink) {
  require(h.version == 0 || h.version == 1, ErrorKind::data,
          "llama2.c checkpoints of version {} are not written", h.version);
  check_llama2c_sizes(h, "llama2.c checkpoint");
  const std::vector<Part> parts = parts_of(h);
  check_tables(parts, h);
  sink(as_bytes(format_header(h)));
  for (const Part& part : parts) {
    if (part.part == kTables) {
      give_tables(h, sink);
      continue;
    }
    uint64_t given = 0;
    give(part.part, [&](std::span<const std::byte> bytes) {
      given += bytes.size();
      sink(bytes);
    });
    require(4 * part.floats == given, ErrorKind::data,
            "the {} weights of a llama2.c checkpoint take {} bytes by its header, got {}", part.name,
            static_cast<uint64_t>(4 * part.floats), given);
  }
}

std::string format_llama2c(const Llama2cCheckpoint& checkpoint) {
  std::string out;
  const auto give = [&](Llama2cPart part, const ByteSink& sink) { sink(checkpoint.weights.*part); };
  write_llama2c(checkpoint.header, give, [&](std::span<const std::byte> bytes) {
    out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  });
  return out;
}

}  // namespace modewise::io
