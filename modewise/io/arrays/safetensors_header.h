#pragma once
// The strict JSON of a safetensors header. Its form is fixed (an object of flat objects), so that it is read
// in one pass without building a document.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace modewise::io {

/// A JSON string: a piece of the header when it holds no escapes, else decoded.
struct HeaderString {
  std::string_view raw;  // between the quotes
  bool escaped = false;
};

class SafetensorsScanner {
 public:
  SafetensorsScanner(std::string_view header, const std::string& source) : header_(header), source_(source) {}

  bool take(char c);
  void expect(char c, std::string_view where);
  HeaderString string();
  std::string decode(const HeaderString& text) const;
  uint64_t number(std::string_view what);
  /// After the object only spaces may follow.
  void expect_padding();

  /// Throws with the byte's place in the file.
  [[noreturn]] void wrong(std::string_view what) const;

 private:
  void skip_space();
  char32_t hex4(std::string_view digits) const;

  std::string_view header_;
  const std::string& source_;
  size_t at_ = 0;
};

}  // namespace modewise::io
