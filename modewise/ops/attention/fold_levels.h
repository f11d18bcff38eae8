#pragma once
// The tree of blocks that folding a sequence makes: tokens, blocks of n_m tokens, blocks of n_{m−1} of those,
// …

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace modewise::ops {

/// Level 0 are the tokens; a block of level l = 1 … m−1 is made of `children` blocks of level l−1. Mode 1 has
/// no blocks of its own: the coarsest level's blocks are the positions of mode 1, as many as the text needs.
struct FoldLevel {
  int64_t children;  // of one block: n_{m−l+1}
  int64_t tokens;    // in one block
  int64_t siblings;  // blocks in a group, n_{m−l}; the coarsest level has one group, of all its blocks
  int64_t finished;  // blocks that n tokens fill
  int64_t known;     // n_1 for the coarsest level's: with more siblings the share of each gets smaller; 0: it
                     // does not

  /// Finished siblings before the block of `token`: [group(token), own(token)).
  int64_t own(int64_t token) const { return token / tokens; }
  int64_t group(int64_t token) const { return own(token) / siblings * siblings; }
  /// What is taken from the logits of `seen` siblings, so that together they weigh what the known ones did.
  double excess(int64_t seen) const {
    return known > 0 && seen > known ? std::log(static_cast<double>(seen) / static_cast<double>(known)) : 0;
  }
};

/// Levels 1 … m−1 of a fold n_1 … n_m over n tokens, finest first.
inline std::vector<FoldLevel> fold_levels(const std::vector<int64_t>& fold, int64_t n) {
  std::vector<FoldLevel> levels;
  int64_t tokens = 1;
  for (size_t mode = fold.size(); mode-- > 1;) {
    // A block of more tokens than there are is never finished, however many more; so the product cannot
    // overflow.
    tokens = fold[mode] > n / tokens ? n + 1 : tokens * fold[mode];
    const int64_t finished = n / tokens;
    const int64_t siblings = mode == 1 ? std::max<int64_t>(n, 1) : fold[mode - 1];
    levels.push_back({fold[mode], tokens, siblings, finished, mode == 1 ? fold[0] : 0});
  }
  return levels;
}

}  // namespace modewise::ops
