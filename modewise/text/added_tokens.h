#pragma once
// Added tokens, matched before pre-tokenization: as in Hugging Face tokenizers, tokens with normalized =
// false in the raw text, the others in the normalized text.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "modewise/io/tokenizers/tokenizer_json.h"
#include "modewise/text/prefix_index.h"
#include "modewise/text/white_space.h"

namespace modewise::text {

class AddedTokens {
 public:
  using Token = io::TokenizerJson::AddedToken;
  enum class Pass : uint8_t { raw, normalized };

  /// `normalize(content)`: the form of a token in the normalized text.
  template <class Normalize>
  AddedTokens(std::vector<Token> tokens, Normalize&& normalize) : tokens_(std::move(tokens)) {
    std::array<std::vector<int32_t>, 2> of_pass;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      sought_.push_back(token.normalized ? normalize(token.content) : token.content);
      if (!sought_.back().empty()) of_pass[token.normalized ? 1 : 0].push_back(static_cast<int32_t>(i));
      by_id_.push_back(i);
    }
    for (size_t pass = 0; pass < passes_.size(); ++pass)
      passes_[pass] = PrefixIndex(std::move(of_pass[pass]), [this](int32_t i) { return sought(i); });
    std::sort(by_id_.begin(), by_id_.end(),
              [&](size_t a, size_t b) { return tokens_[a].id < tokens_[b].id; });
  }

  const std::vector<Token>& list() const { return tokens_; }
  /// nullptr for other ids.
  const Token* of_id(int32_t id) const {
    const auto found = std::lower_bound(by_id_.begin(), by_id_.end(), id,
                                        [&](size_t i, int32_t wanted) { return tokens_[i].id < wanted; });
    return found != by_id_.end() && tokens_[*found].id == id ? &tokens_[*found] : nullptr;
  }
  /// The id of a special token; nullopt if there is none.
  std::optional<int32_t> special(std::string_view content) const {
    for (const Token& token : tokens_)
      if (token.special && token.content == content) return token.id;
    return std::nullopt;
  }

  /// Calls in order `on_token(token, begin, end)` for the tokens of a pass and `on_text(begin, end)` for the
  /// text between them; offsets are bytes of `text`.
  template <class OnText, class OnToken>
  void around(Pass pass, std::string_view text, OnText&& on_text, OnToken&& on_token) const {
    const PrefixIndex& index = passes_[static_cast<size_t>(pass)];
    size_t taken = 0;
    size_t space_end = 0;  // end of the white space that was stripped last
    for (size_t at = 0; at < text.size() && !index.empty();) {
      const int32_t number = longest_at(index, text.substr(at));
      if (number < 0) {
        ++at;
        continue;
      }
      const Token& token = tokens_[static_cast<size_t>(number)];
      size_t begin = at, end = at + sought(number).size();
      at = end;
      if (token.left_strip)
        begin = begin > taken ? begin - white_space_before(text.substr(taken, begin - taken)) : taken;
      if (token.right_strip) {
        // Inside white space that was stripped before, its end is known.
        if (end > space_end) space_end = end + white_space_after(text.substr(end));
        end = space_end;
      }
      // A token inside white space that the previous token stripped is matched too, as in the reference.
      if (begin > taken) on_text(taken, begin);
      on_token(token, begin, end);
      taken = end;
    }
    if (taken < text.size()) on_text(taken, text.size());
  }

 private:
  std::string_view sought(int32_t i) const { return sought_[static_cast<size_t>(i)]; }
  /// The longest token at the front of `text`, or -1.
  int32_t longest_at(const PrefixIndex& index, std::string_view text) const {
    int32_t longest = -1;
    index.visit(
        text, [this](int32_t i) { return sought(i); }, [&](size_t, int32_t i) { longest = i; });
    return longest;
  }

  std::vector<Token> tokens_;
  std::vector<std::string> sought_;
  std::vector<size_t> by_id_;
  std::array<PrefixIndex, 2> passes_;
};

}  // namespace modewise::text
