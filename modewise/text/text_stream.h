#pragma once
// Streaming decoder: emits whole characters although tokens may split them.

#include <memory>
#include <string>

#include "modewise/text/tokenizer.h"

namespace modewise::text {

class TextStream {
 public:
  /// `start`: the tokens begin a text; false if they continue a prompt.
  explicit TextStream(std::shared_ptr<const Tokenizer> tokenizer, bool start = true);

  /// The bytes that can be emitted now; an incomplete UTF-8 character at the end is buffered. Bytes that
  /// cannot become a character are emitted unchanged.
  std::string push(Tokenizer::Id id);
  /// The buffered rest.
  std::string finish();

 private:
  std::shared_ptr<const Tokenizer> tokenizer_;
  bool start_;
  std::string held_;
};

/// Number of bytes at the end of `text` that begin an incomplete UTF-8 character: 0 to 3.
size_t unfinished_utf8(std::string_view text);

}  // namespace modewise::text
