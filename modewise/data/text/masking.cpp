#include "modewise/data/text/masking.h"

#include <ATen/ops/full.h>

#include <algorithm>

#include "modewise/core/error.h"

namespace modewise::data {

MaskingVocabulary masking_vocabulary(const text::Tokenizer& tokenizer, const text::TextFrame& frame) {
  require(frame.mask.has_value(), ErrorKind::data,
          "the tokenizer ({}) has no mask token, which masked_lm needs", tokenizer.name());
  const auto own = static_cast<size_t>(tokenizer.size()), size = static_cast<size_t>(frame.size);
  MaskingVocabulary out{*frame.mask, tokenizer.size(), std::vector<bool>(size, false),
                        std::vector<bool>(size, false)};
  for (const int32_t mark : frame.special) out.is_special_token[static_cast<size_t>(mark)] = true;
  for (size_t id = 0; id < own; ++id) {
    bool start = false;
    std::string text;
    tokenizer.append(static_cast<text::Tokenizer::Id>(id), start, text);
    out.starts_word[id] = text.starts_with(' ') || text.starts_with('\n') || text.starts_with('\t');
  }
  return out;
}

MaskedRows mask_rows(const at::Tensor& ids, const MaskingVocabulary& vocabulary, const MaskingConfig& config,
                     const RandomStream& stream) {
  MaskedRows out{ids.clone(), at::full(ids.sizes(), -1, at::kLong)};
  const int64_t n = ids.size(1);
  const int64_t* from = ids.const_data_ptr<int64_t>();
  int64_t* inputs = out.inputs.mutable_data_ptr<int64_t>();
  int64_t* targets = out.targets.mutable_data_ptr<int64_t>();
  const auto mark = [&](int64_t i) { return vocabulary.is_special_token[static_cast<size_t>(from[i])]; };
  const auto ask = [&](int64_t i) {
    const auto at = static_cast<uint64_t>(i);
    const double fate = stream.uniform(4 * at + 1);
    targets[i] = from[i];
    if (fate < config.hidden)
      inputs[i] = vocabulary.mask;
    else if (fate < config.hidden + config.exchanged)
      inputs[i] = static_cast<int64_t>(
          (uint64_t{stream.word(4 * at + 2)} * static_cast<uint64_t>(vocabulary.tokens)) >> 32);
  };
  bool any = false, word = false;  // word: whether the current word is selected
  for (int64_t i = 0; i < ids.numel(); ++i) {
    if (mark(i)) continue;
    const bool within = config.whole_words && i % n > 0 && !mark(i - 1) &&
                        !vocabulary.starts_word[static_cast<size_t>(from[i])];
    if (!within) word = stream.uniform(4 * static_cast<uint64_t>(i)) < config.share;
    if (!word) continue;
    any = true;
    ask(i);
  }
  for (int64_t i = 0; i < ids.numel() && !any; ++i)
    if (!mark(i)) {
      any = true;
      ask(i);
    }
  return out;
}

}  // namespace modewise::data
