#include "modewise/metrics/ngrams.h"

namespace modewise::metrics {
namespace {

/// Mixes all bits into the upper ones and back (the finalizer of MurmurHash3).
uint64_t mixed(uint64_t key) {
  key = (key ^ (key >> 33)) * 0xFF51AFD7ED558CCDu;
  key = (key ^ (key >> 33)) * 0xC4CEB9FE1A85EC53u;
  return key ^ (key >> 33);
}

}  // namespace

size_t NgramNumbers::slot_of(uint32_t prefix, int32_t word) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = mixed(static_cast<uint64_t>(prefix) << 32 | static_cast<uint32_t>(word)) & mask;
  while (slots_[slot] != 0) {
    const Ngram& there = ngrams_[slots_[slot] - 1];
    if (there.prefix == prefix && there.word == word) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

void NgramNumbers::number_again() {
  size_t slots = 256;
  while (ngrams_.size() * 4 >= slots * 3) slots *= 2;
  slots_ = std::vector<uint32_t>(slots, 0);
  for (size_t i = 0; i < ngrams_.size(); ++i)
    slots_[slot_of(ngrams_[i].prefix, ngrams_[i].word)] = static_cast<uint32_t>(i + 1);
}

uint32_t NgramNumbers::number(uint32_t prefix, int32_t word) {
  if (ngrams_.size() * 4 >= slots_.size() * 3) number_again();
  const size_t slot = slot_of(prefix, word);
  if (slots_[slot] == 0) {
    ngrams_.push_back({prefix, word});
    slots_[slot] = static_cast<uint32_t>(ngrams_.size());
  }
  return slots_[slot] - 1;
}

uint32_t NgramNumbers::find(uint32_t prefix, int32_t word) const {
  if (slots_.empty()) return kNone;
  return slots_[slot_of(prefix, word)] - 1;  // a free slot gives kNone
}

}  // namespace modewise::metrics
