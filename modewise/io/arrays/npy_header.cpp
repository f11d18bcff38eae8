#include "modewise/io/arrays/npy_header.h"

#include <fmt/ranges.h>

#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

#include "modewise/core/error.h"
#include "modewise/io/file_kind.h"

namespace modewise::io {
namespace {

// Scanner for the subset of Python's literal syntax that a header may use.
class HeaderScanner {
 public:
  HeaderScanner(std::string_view text, size_t offset, const std::string& source)
      : text_(text), offset_(offset), source_(source) {}

  void spaces() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  bool take(char c) {
    spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c, const char* where) {
    if (!take(c)) wrong(fmt::format("'{}' expected {}", c, where));
  }
  bool done() {
    spaces();
    return at_ == text_.size();
  }

  std::string_view string() {
    spaces();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') wrong("a quoted string expected");
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) wrong("the string that begins here is not closed");
    const std::string_view value = text_.substr(at_ + 1, end - at_ - 1);
    if (value.find('\\') != std::string_view::npos) wrong("a string with a backslash is not supported");
    at_ = end + 1;
    return value;
  }
  bool boolean() {
    spaces();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return value;
    }
    wrong("fortran_order must be True or False");
  }
  int64_t dimension() {
    spaces();
    int64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range) wrong("a dimension beyond 64 bits");
    if (error != std::errc()) wrong("shape must be a tuple of integers");
    if (value < 0) wrong("a dimension is negative");
    at_ += static_cast<size_t>(end - begin);
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // a Python 2 long
    return value;
  }
  std::vector<int64_t> shape() {
    std::vector<int64_t> dims;
    expect('(', "at the start of the shape");
    while (!take(')')) {
      if (dims.size() == 64) wrong("more than 64 dimensions");
      dims.push_back(dimension());
      if (take(',')) continue;
      expect(')', "at the end of the shape");
      if (dims.size() == 1) wrong("the shape is a number in parentheses, not a tuple");
      break;
    }
    return dims;
  }

  [[noreturn]] void wrong(const std::string& what) const {
    fail(ErrorKind::data, "{}: the NPY header is malformed at byte {}: {}", source_, offset_ + at_, what);
  }
  [[noreturn]] void refuse(const std::string& what) const { fail(ErrorKind::data, "{}: {}", source_, what); }

 private:
  std::string_view text_;
  size_t offset_;
  const std::string& source_;
  size_t at_ = 0;
};

std::optional<Array::DType> dtype_of(std::string_view kind_and_size) {
  static constexpr std::pair<std::string_view, Array::DType> kKinds[] = {
      {"u1", Array::u8},  {"i1", Array::i8},  {"u2", Array::u16}, {"i2", Array::i16},
      {"u4", Array::u32}, {"i4", Array::i32}, {"u8", Array::u64}, {"i8", Array::i64},
      {"f2", Array::f16}, {"f4", Array::f32}, {"f8", Array::f64}, {"b1", Array::boolean}};
  for (const auto& [name, dtype] : kKinds) {
    if (name == kind_and_size) return dtype;
  }
  return std::nullopt;
}

void read_descr(std::string_view descr, NpyHeader& header, const HeaderScanner& scanner) {
  const char order = descr.empty() ? '\0' : descr[0];
  const bool has_order = order == '<' || order == '>' || order == '|' || order == '=';
  const std::string_view type = has_order ? descr.substr(1) : descr;
  if (type.starts_with('O')) {
    scanner.wrong("it holds Python objects, which would have to be unpickled; only numbers are read");
  }
  if (type.starts_with('U') || type.starts_with('S'))
    scanner.refuse(
        fmt::format("texts of type '{}' are not read from NPY and NPZ files, only numbers: "
                    "numpy.unique(labels, return_inverse=True)[1] numbers labels",
                    descr));
  const auto dtype = dtype_of(type);
  if (!dtype) {
    scanner.wrong(fmt::format(
        "the type '{}' is not supported; numbers of kind b1, i1-i8, u1-u8, f2, f4 and f8 are", descr));
  }
  if (order == '|' && item_size(*dtype) > 1)
    scanner.wrong(fmt::format("the type '{}' has no byte order", descr));
  header.dtype = *dtype;
  header.big_endian = order == '>';
}

void read_fields(HeaderScanner& scanner, NpyHeader& header) {
  bool has_descr = false, has_order = false, has_shape = false;
  scanner.expect('{', "at the start of the header");
  while (!scanner.take('}')) {
    const std::string_view key = scanner.string();
    scanner.expect(':', "after a key");
    bool* seen = key == "descr"           ? &has_descr
                 : key == "fortran_order" ? &has_order
                 : key == "shape"         ? &has_shape
                                          : nullptr;
    if (seen == nullptr)
      scanner.wrong(fmt::format("unknown key '{}', expected descr, fortran_order or shape", key));
    if (*seen) scanner.wrong(fmt::format("duplicate key '{}'", key));
    *seen = true;
    if (seen == &has_descr) {
      if (scanner.take('[')) scanner.wrong("structured types are not supported");
      read_descr(scanner.string(), header, scanner);
    } else if (seen == &has_order) {
      header.fortran_order = scanner.boolean();
    } else {
      header.shape = scanner.shape();
    }
    if (scanner.take(',')) continue;
    scanner.expect('}', "at the end of the header");
    break;
  }
  if (!has_descr || !has_order || !has_shape)
    scanner.wrong("the keys descr, fortran_order and shape are all required");
  if (!scanner.done()) scanner.wrong("unexpected text after the header's dictionary");
}

uint64_t checked_bytes(const NpyHeader& header, const std::string& source) {
  uint64_t bytes = item_size(header.dtype);
  bool zero = false;
  for (const int64_t dim : header.shape) zero = zero || dim == 0;
  for (const int64_t dim : header.shape) {
    // Zeros are skipped, so that a shape is valid or not independently of the order of its axes.
    if (dim == 0) continue;
    require(!__builtin_mul_overflow(bytes, static_cast<uint64_t>(dim), &bytes) &&
                bytes <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()),
            ErrorKind::data, "{}: the NPY header declares the shape {}, which is more than 64 bits of bytes",
            source, header.shape_text());
  }
  return zero ? 0 : bytes;
}

}  // namespace

std::string NpyHeader::shape_text() const {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

NpyHeader parse_npy_header(std::span<const std::byte> bytes, const std::string& source) {
  const auto byte_at = [&](size_t i) { return std::to_integer<unsigned>(bytes[i]); };
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  require(!bytes.empty(), ErrorKind::data, "{}: the file is empty, an NPY array was expected", source);
  const bool begins = text.starts_with("\x93NUMPY");
  if (!begins) refuse_other_kind(bytes, source, "an NPY array");
  require(begins, ErrorKind::data, "{}: not an NPY array: it does not begin with the bytes 93 'NUMPY'",
          source);
  require(bytes.size() >= 8, ErrorKind::data, "{}: the NPY array ends within its version at byte {}", source,
          bytes.size());
  const unsigned major = byte_at(6), minor = byte_at(7);
  require(major >= 1 && major <= 3 && minor == 0, ErrorKind::data,
          "{}: NPY format version {}.{} is unknown; 1.0, 2.0 and 3.0 are read", source, major, minor);
  const size_t prefix = major == 1 ? 10 : 12;
  require(bytes.size() >= prefix, ErrorKind::data,
          "{}: the NPY array ends within its header's length at byte {}", source, bytes.size());
  uint64_t length = byte_at(8) | byte_at(9) << 8;
  if (major > 1) length |= uint64_t{byte_at(10)} << 16 | uint64_t{byte_at(11)} << 24;
  require(length <= kNpyHeaderLimit - 12, ErrorKind::data,
          "{}: the NPY header is {} bytes long; the limit is 10000", source, length);
  require(length <= bytes.size() - prefix, ErrorKind::data,
          "{}: the NPY header should be {} bytes long, but the file ends after {} of them", source, length,
          bytes.size() - prefix);

  NpyHeader header;
  HeaderScanner scanner(text.substr(prefix, length), prefix, source);
  read_fields(scanner, header);
  header.data_offset = prefix + length;
  header.data_bytes = checked_bytes(header, source);
  return header;
}

}  // namespace modewise::io
