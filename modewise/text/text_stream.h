#pragma once
// Tokens shown one by one: characters come out whole, however tokens cut them.

#include <memory>
#include <string>

#include "modewise/text/tokenizer.h"

namespace modewise::text {

class TextStream {
 public:
  /// `start`: the tokens begin a text; false where they go on after a prompt.
  explicit TextStream(std::shared_ptr<const Tokenizer> tokenizer, bool start = true);

  /// The bytes that can be shown now; an unfinished UTF-8 character at the end is held back. Bytes that
  /// cannot become a character any more pass as they are.
  std::string push(Tokenizer::Id id);
  /// What is still held back.
  std::string finish();

 private:
  std::shared_ptr<const Tokenizer> tokenizer_;
  bool start_;
  std::string held_;
};

/// Bytes at the end of `text` that are a UTF-8 character's beginning: 0 to 3.
size_t unfinished_utf8(std::string_view text);

}  // namespace modewise::text
