#pragma once
// Block hierarchy of a folded sequence: tokens, blocks of n_m tokens, blocks of n_{m−1} such blocks, …

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace modewise::ops {

/// Level 0 is the tokens; a block of level l = 1 … m−1 consists of `children` blocks of level l−1. The
/// positions of mode 1 are the blocks of the outermost level, as many as the sequence needs.
struct FoldLevel {
  int64_t children;  // per block: n_{m−l+1}
  int64_t tokens;    // per block
  int64_t siblings;  // blocks per group, n_{m−l}; the outermost level has one group of all its blocks
  int64_t finished;  // complete blocks of n tokens
  int64_t known;     // outermost level: n_1, above which excess() limits the blocks' total weight;
                     // 0: no limit

  /// Complete siblings before the block of `token`: [group(token), own(token)).
  int64_t own(int64_t token) const { return token / tokens; }
  int64_t group(int64_t token) const { return own(token) / siblings * siblings; }
  /// Subtracted from the logits of `seen` siblings, so that their total weight is that of `known` ones.
  double excess(int64_t seen) const {
    return known > 0 && seen > known ? std::log(static_cast<double>(seen) / static_cast<double>(known)) : 0;
  }
};

/// Levels 1 … m−1 of a fold n_1 … n_m over n tokens, innermost first.
inline std::vector<FoldLevel> fold_levels(const std::vector<int64_t>& fold, int64_t n) {
  std::vector<FoldLevel> levels;
  int64_t tokens = 1;
  for (size_t mode = fold.size(); mode-- > 1;) {
    // A block of more than n tokens is never complete, so its size is capped at n + 1 and the product cannot
    // overflow.
    tokens = fold[mode] > n / tokens ? n + 1 : tokens * fold[mode];
    const int64_t finished = n / tokens;
    const int64_t siblings = mode == 1 ? std::max<int64_t>(n, 1) : fold[mode - 1];
    levels.push_back({fold[mode], tokens, siblings, finished, mode == 1 ? fold[0] : 0});
  }
  return levels;
}

}  // namespace modewise::ops
