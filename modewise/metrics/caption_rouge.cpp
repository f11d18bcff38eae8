#include "modewise/metrics/caption_rouge.h"

#include <algorithm>
#include <bit>
#include <map>

namespace modewise::metrics {

int64_t common_subsequence(Words a, Words b) {
  const size_t blocks = (a.size() + 63) / 64;
  std::map<int32_t, std::vector<uint64_t>> places;  // positions of each word in a, one bit per position
  for (size_t i = 0; i < a.size(); ++i) {
    std::vector<uint64_t>& bits = places[a[i]];
    bits.resize(blocks);
    bits[i / 64] |= uint64_t{1} << (i % 64);
  }
  // A cleared bit: the longest common subsequence of a up to this position and b so far grows by one.
  std::vector<uint64_t> row(blocks, ~uint64_t{0});
  for (const int32_t word : b) {
    const auto found = places.find(word);
    if (found == places.end()) continue;
    uint64_t carry = 0;
    for (size_t k = 0; k < blocks; ++k) {
      const uint64_t matches = row[k] & found->second[k];
      const uint64_t sum = row[k] + matches;
      const uint64_t with_carry = sum + carry;
      carry = static_cast<uint64_t>(sum < matches) | static_cast<uint64_t>(with_carry < sum);
      row[k] = with_carry | (row[k] & ~matches);
    }
  }
  int64_t length = 0;
  for (size_t i = 0; i < a.size(); ++i) length += static_cast<int64_t>(~row[i / 64] >> (i % 64) & 1);
  return length;
}

double caption_rouge_l(const CaptionCase& image) {
  constexpr double kBetaSquared = 1.2 * 1.2;
  const size_t candidate = std::max<size_t>(image.candidate.size(), 1);
  double precision = 0, recall = 0;
  for (const Words reference : image.references) {
    const bool both_empty = reference.empty() && image.candidate.empty();
    const auto common = static_cast<double>(both_empty ? 1 : common_subsequence(image.candidate, reference));
    precision = std::max(precision, common / static_cast<double>(candidate));
    recall = std::max(recall, common / static_cast<double>(std::max<size_t>(reference.size(), 1)));
  }
  if (precision == 0 || recall == 0) return 0;
  return (1 + kBetaSquared) * precision * recall / (recall + kBetaSquared * precision);
}

}  // namespace modewise::metrics
