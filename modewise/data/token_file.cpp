#include "modewise/data/token_file.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <limits>
#include <utility>

#include "modewise/core/hash.h"
#include "modewise/io/arrays/safetensors.h"

namespace modewise::data {
namespace {

constexpr const char* kTokenFormat = "modewise tokens 1";
constexpr int64_t kNarrowLimit = 65536;

template <class T>
T load_as(std::span<const std::byte> bytes, int64_t index) {
  T value;
  std::memcpy(&value, bytes.data() + static_cast<size_t>(index) * sizeof(T), sizeof(T));
  return value;
}

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span<const T>(values));
}

/// The I64 tensor `name` with `count` elements (any number when negative).
io::TensorView integers_of(const io::SafetensorsFile& file, const std::string& path, const char* name,
                           int64_t count) {
  const auto tensor = file.find(name);
  require(tensor.has_value(), ErrorKind::data, "{} is not a token file: it has no tensor '{}'", path, name);
  require(
      tensor->dtype == "I64" && tensor->shape.size() == 1 && (count < 0 || tensor->shape.front() == count),
      ErrorKind::data, "{}: '{}' must be I64 of one dimension{}, got {} of {} dimensions", path, name,
      count < 0 ? "" : fmt::format(" and {} elements", count), tensor->dtype, tensor->shape.size());
  return *tensor;
}

std::string metadata_text(const std::map<std::string, std::string>& metadata, const char* key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? "" : found->second;
}

int64_t sum_over(const std::vector<TokenSpan>& spans, int64_t (*value)(const TokenSpan&)) {
  int64_t sum = 0;
  for (const TokenSpan& span : spans) sum += value(span);
  return sum;
}

}  // namespace

TokenFile::TokenFile(const std::filesystem::path& path) : source_(path.string()) {
  const auto file = std::make_shared<const io::SafetensorsFile>(path);
  const auto tokens = file->find("tokens");
  require(tokens.has_value(), ErrorKind::data, "{} is not a token file: it has no tensor 'tokens'", source_);
  require((tokens->dtype == "U16" || tokens->dtype == "U32") && tokens->shape.size() == 1, ErrorKind::data,
          "{}: 'tokens' must be U16 or U32 of one dimension, got {} of {}", source_, tokens->dtype,
          tokens->shape.size());
  const auto& metadata = file->metadata();
  const std::string format = metadata_text(metadata, "format");
  require(format == kTokenFormat, ErrorKind::data, "{}: the metadata must have format = '{}', got '{}'",
          source_, kTokenFormat, format);
  tokenizer_ = {metadata_text(metadata, "tokenizer"), metadata_text(metadata, "tokenizer_hash"),
                metadata_text(metadata, "tokenizer_path"), 0};
  const std::string size = metadata_text(metadata, "vocabulary");
  const auto read = std::from_chars(size.data(), size.data() + size.size(), tokenizer_.vocabulary);
  require(read.ec == std::errc() && read.ptr == size.data() + size.size() && tokenizer_.vocabulary > 0 &&
              tokenizer_.vocabulary <= std::numeric_limits<int32_t>::max(),
          ErrorKind::data, "{}: the metadata's vocabulary must be a size, got '{}'", source_, size);
  owner_ = file;
  bytes_ = tokens->bytes;
  wide_ = tokens->dtype == "U32";
  count_ = tokens->shape.front();
  const io::TensorView offsets = integers_of(*file, source_, "documents", -1);
  const int64_t count = offsets.shape.front() - 1;
  require(count >= 0, ErrorKind::data, "{}: 'documents' must have at least one element", source_);
  const io::TensorView sizes = integers_of(*file, source_, "bytes", count);
  const io::TensorView words = integers_of(*file, source_, "words", count);
  require(load_as<int64_t>(offsets.bytes, 0) == 0 && load_as<int64_t>(offsets.bytes, count) == count_,
          ErrorKind::data, "{}: 'documents' must range from 0 to {}, the number of tokens", source_, count_);
  documents_.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const TokenSpan span{load_as<int64_t>(offsets.bytes, i), load_as<int64_t>(offsets.bytes, i + 1),
                         load_as<int64_t>(sizes.bytes, i), load_as<int64_t>(words.bytes, i)};
    require(span.begin <= span.end && span.end <= count_ && span.bytes >= 0 && span.words >= 0,
            ErrorKind::data, "{}: document {} has tokens {} to {}, {} bytes and {} words", source_, i,
            span.begin, span.end, span.bytes, span.words);
    documents_.push_back(span);
  }
  check();
}

void TokenFile::check() {
  const auto limit = static_cast<uint64_t>(tokenizer_.vocabulary);
  const auto scan = [&]<class T>(T) {
    for (int64_t i = 0; i < count_; ++i) {
      const T id = load_as<T>(bytes_, i);
      require(id < limit, ErrorKind::data, "{}: token {} is {}, but the vocabulary size is {}", source_, i,
              id, limit);
    }
  };
  if (wide_)
    scan(uint32_t{});
  else
    scan(uint16_t{});
  std::string text = content_hash(bytes_);
  for (const TokenSpan& span : documents_) text += fmt::format(" {}", span.end);
  hash_ = content_hash(std::as_bytes(std::span<const char>(text)));
}

void TokenFile::read(int64_t begin, int64_t count, int64_t* out) const {
  require(begin >= 0 && count >= 0 && begin + count <= count_, ErrorKind::internal,
          "tokens {} … {} of {} requested", begin, begin + count, count_);
  if (wide_)
    for (int64_t i = 0; i < count; ++i) out[i] = load_as<uint32_t>(bytes_, begin + i);
  else
    for (int64_t i = 0; i < count; ++i) out[i] = load_as<uint16_t>(bytes_, begin + i);
}

void TokenFile::write(const std::filesystem::path& path) const {
  std::vector<int64_t> offsets = {0}, sizes, words;
  for (const TokenSpan& span : documents_) {
    offsets.push_back(span.end);
    sizes.push_back(span.bytes);
    words.push_back(span.words);
  }
  const int64_t count = std::ssize(documents_);
  const std::vector<io::TensorView> tensors = {{"tokens", wide_ ? "U32" : "U16", {count_}, bytes_},
                                               {"documents", "I64", {count + 1}, bytes_of(offsets)},
                                               {"bytes", "I64", {count}, bytes_of(sizes)},
                                               {"words", "I64", {count}, bytes_of(words)}};
  io::write_safetensors(path, tensors,
                        {{"format", kTokenFormat},
                         {"tokenizer", tokenizer_.name},
                         {"tokenizer_hash", tokenizer_.hash},
                         {"tokenizer_path", tokenizer_.path},
                         {"vocabulary", std::to_string(tokenizer_.vocabulary)},
                         {"source", source_}});
}

TokenFileBuilder::TokenFileBuilder(SpecialToken tokenizer, std::string source)
    : tokenizer_(std::move(tokenizer)), source_(std::move(source)) {
  require(tokenizer_.vocabulary > 0, ErrorKind::internal, "a tokenizer without tokens");
}

void TokenFileBuilder::begin_document(int64_t bytes, int64_t words) {
  const int64_t begin = documents_.empty() ? 0 : documents_.back().end;
  documents_.push_back({begin, begin, bytes, words});
}

void TokenFileBuilder::add(std::span<const int32_t> ids) {
  if (tokenizer_.vocabulary <= kNarrowLimit)
    for (const int32_t id : ids) narrow_.push_back(static_cast<uint16_t>(id));
  else
    for (const int32_t id : ids) wide_.push_back(static_cast<uint32_t>(id));
  documents_.back().end += std::ssize(ids);
}

TokenFile TokenFileBuilder::finish() {
  TokenFile file;
  file.wide_ = tokenizer_.vocabulary > kNarrowLimit;
  file.tokenizer_ = std::move(tokenizer_);
  file.source_ = std::move(source_);
  file.documents_ = std::move(documents_);
  const auto keep = [&](auto& values) {
    const auto owned = std::make_shared<const std::remove_reference_t<decltype(values)>>(std::move(values));
    file.bytes_ = bytes_of(*owned);
    file.count_ = std::ssize(*owned);
    file.owner_ = owned;
  };
  if (file.wide_)
    keep(wide_);
  else
    keep(narrow_);
  file.check();
  return file;
}

int64_t TokenPart::tokens() const {
  return sum_over(spans, [](const TokenSpan& span) { return span.size(); });
}

int64_t TokenPart::bytes() const {
  return sum_over(spans, [](const TokenSpan& span) { return span.bytes; });
}

int64_t TokenPart::words() const {
  return sum_over(spans, [](const TokenSpan& span) { return span.words; });
}

bool is_token_file(const std::filesystem::path& path) {
  if (path.extension() != ".safetensors" || !std::filesystem::is_regular_file(path)) return false;
  const io::SafetensorsFile file(path);
  return file.find("tokens").has_value() && file.find("documents").has_value();
}

int64_t count_words(std::string_view text) {
  int64_t runs = 0;
  bool inside = false;
  for (size_t i = 0; i < text.size();) {
    const auto at = [&](size_t k) -> unsigned {
      return i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0;
    };
    const unsigned a = at(0), b = at(1), c = at(2);
    size_t length = 1;
    bool space = (a >= 9 && a <= 13) || (a >= 28 && a <= 32);
    if (a == 0xC2 && (b == 0x85 || b == 0xA0)) {  // U+0085, U+00A0
      space = true;
      length = 2;
    } else if ((a == 0xE1 && b == 0x9A && c == 0x80) ||                                  // U+1680
               (a == 0xE2 && b == 0x80 &&                                                // U+2000 … U+200A,
                ((c >= 0x80 && c <= 0x8A) || (c >= 0xA8 && c <= 0xA9) || c == 0xAF)) ||  // 2028, 2029, 202F
               (a == 0xE2 && b == 0x81 && c == 0x9F) ||                                  // U+205F
               (a == 0xE3 && b == 0x80 && c == 0x80)) {                                  // U+3000
      space = true;
      length = 3;
    }
    if (space && !inside) ++runs;
    inside = space;
    i += length;
  }
  return runs + 1;
}

}  // namespace modewise::data
