#pragma once
// Streaming JSON scanner that builds no document: for files with long lists and a known structure. Strict
// (RFC 8259); other values are skipped without recursion.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace modewise::io {

class JsonScanner {
 public:
  /// A string of the file: a view, decoded on demand if it has escapes.
  struct Text {
    std::string_view raw;  // without the quotes
    size_t at = 0;
    bool escaped = false;
  };

  /// `json` must be valid UTF-8 and, like `source`, outlive this; it begins at byte `first` of the file.
  /// `format` names the format in messages.
  JsonScanner(std::string_view json, const std::string& source, std::string_view format, size_t first = 0)
      : json_(json), source_(&source), format_(format), first_(first) {}

  size_t position();  // of the next value, in bytes
  void go_to(size_t position) { at_ = position; }

  bool take(char c);
  void expect(char c, std::string_view where);
  bool take_null();
  Text string();
  std::string decode(const Text& text) const;
  bool boolean();
  double number();
  int64_t integer(std::string_view what);
  /// 0 … 2^64 − 1, exactly.
  uint64_t natural(std::string_view what);
  /// Skips the next value; returns the number of elements if it is an array. Nesting is limited to 512.
  size_t skip();
  void expect_end();
  /// Expects only spaces up to the end.
  void expect_padding();

  /// Iterates over the members of an object: `member(key)` must consume the value.
  template <class Member>
  void object(std::string_view what, Member&& member) {
    expect('{', what);
    if (take('}')) return;
    do {
      const std::string key = decode(string());
      expect(':', "after a key");
      member(key);
    } while (take(','));
    expect('}', "or ',' after a member");
  }
  /// Iterates over the elements of an array: `element()` must consume each.
  template <class Element>
  void array(std::string_view what, Element&& element) {
    expect('[', what);
    if (take(']')) return;
    do {
      element();
    } while (take(','));
    expect(']', "or ',' after an element");
  }

  /// Throws a data error with the byte offset in the file.
  [[noreturn]] void wrong(std::string_view what) { wrong_at(position(), what); }
  [[noreturn]] void wrong_at(size_t at, std::string_view what) const;

 private:
  void skip_space();
  bool take_word(std::string_view word);
  char32_t hex4(const Text& text, size_t at) const;

  std::string_view json_;
  const std::string* source_;
  std::string_view format_;
  size_t first_, at_ = 0;
};

}  // namespace modewise::io
