#pragma once
// sentencepiece text normalizer: the compiled character map of the model, then its rules for spaces.

#include <functional>
#include <string>
#include <string_view>

#include "modewise/io/tokenizers/sentencepiece_model.h"

namespace modewise::text {

class PieceNormalizer {
 public:
  /// Length of the user-defined piece at the front of a text, which is never normalised; 0: none.
  using Protect = std::function<size_t(std::string_view)>;

  /// `model` must outlive this. `protect` may be empty.
  PieceNormalizer(const io::SentencePieceModel& model, Protect protect);
  /// `dummy_prefix`: whether the text gets the dummy prefix of the model, if it has one.
  std::string operator()(std::string_view text, bool dummy_prefix = true) const;

 private:
  /// Replacement of the front of a text, and the number of replaced bytes.
  struct Prefix {
    std::string_view becomes;
    size_t bytes;
  };
  Prefix prefix(std::string_view text) const;
  void add_space(std::string& normalized) const;

  const io::SentencePieceModel* model_;
  Protect protect_;
};

}  // namespace modewise::text
