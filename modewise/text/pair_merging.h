#pragma once
// BPE merge loop: the adjacent pair with the smallest priority merges first, the leftmost of equals. Short
// words by linear scans, long ones by a heap over a linked list, so that a megabyte without spaces takes n
// log n steps.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

namespace modewise::text {

struct Symbol {
  int32_t id = -1;                 // -1: no token; never merges by id
  uint32_t begin = 0, length = 0;  // byte range of the word; length 0 once merged into its left neighbour
};

/// Priority: any ordered type.
template <class Priority>
struct Merge {
  Priority priority;
  int32_t id;  // of the merged symbol
};

/// Merges `symbols` in place and removes merged ones. `find(left, right)` returns the Merge of two neighbours
/// or nullopt.
template <class Priority, class Find>
void merge_few(std::vector<Symbol>& symbols, std::vector<std::optional<Merge<Priority>>>& merges,
               Find&& find) {
  merges.resize(symbols.size());
  for (size_t i = 0; i + 1 < symbols.size(); ++i) merges[i] = find(symbols[i], symbols[i + 1]);
  while (symbols.size() > 1) {
    size_t best = symbols.size();
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      if (merges[i] && (best == symbols.size() || merges[i]->priority < merges[best]->priority)) best = i;
    }
    if (best == symbols.size()) return;
    symbols[best].id = merges[best]->id;
    symbols[best].length += symbols[best + 1].length;
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    merges.erase(merges.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    const auto again = [&](size_t i) {
      merges[i] = i + 1 < symbols.size() ? find(symbols[i], symbols[i + 1]) : std::nullopt;
    };
    again(best);
    if (best > 0) again(best - 1);
  }
}

template <class Priority, class Find>
void merge_many(std::vector<Symbol>& symbols, Find&& find) {
  struct Candidate {
    Priority priority;
    uint32_t left, right, length;  // sum of both lengths: stale if one of them has changed
    int32_t id;
    bool operator<(const Candidate& other) const {  // the top of the heap is its greatest element
      if (other.priority < priority) return true;
      return !(priority < other.priority) && other.left < left;
    }
  };
  constexpr uint32_t kNone = UINT32_MAX;
  const auto count = static_cast<uint32_t>(symbols.size());
  std::vector<uint32_t> previous(count), next(count);
  std::vector<Candidate> initial;
  std::priority_queue<Candidate> heap;
  const auto candidate = [&](uint32_t left, uint32_t right) -> std::optional<Candidate> {
    if (const std::optional<Merge<Priority>> merge = find(symbols[left], symbols[right]))
      return Candidate{merge->priority, left, right, symbols[left].length + symbols[right].length, merge->id};
    return std::nullopt;
  };
  for (uint32_t i = 0; i < count; ++i) {
    previous[i] = i == 0 ? kNone : i - 1;
    next[i] = i + 1 == count ? kNone : i + 1;
    if (i + 1 == count) continue;
    if (const auto one = candidate(i, i + 1)) initial.push_back(*one);
  }
  heap = std::priority_queue<Candidate>(std::less<Candidate>(), std::move(initial));
  while (!heap.empty()) {
    const Candidate top = heap.top();
    heap.pop();
    Symbol &left = symbols[top.left], &right = symbols[top.right];
    if (left.length == 0 || right.length == 0 || left.length + right.length != top.length) continue;
    left.id = top.id;
    left.length = top.length;
    right.length = 0;
    next[top.left] = next[top.right];
    if (next[top.left] != kNone) previous[next[top.left]] = top.left;
    if (previous[top.left] != kNone) {
      if (const auto one = candidate(previous[top.left], top.left)) heap.push(*one);
    }
    if (next[top.left] != kNone) {
      if (const auto one = candidate(top.left, next[top.left])) heap.push(*one);
    }
  }
  std::erase_if(symbols, [](const Symbol& symbol) { return symbol.length == 0; });
}

template <class Priority, class Find>
void merge_symbols(std::vector<Symbol>& symbols, std::vector<std::optional<Merge<Priority>>>& merges,
                   Find&& find) {
  constexpr size_t kFew = 48;
  if (symbols.size() <= kFew)
    merge_few<Priority>(symbols, merges, find);
  else
    merge_many<Priority>(symbols, find);
}

}  // namespace modewise::text
