#include "modewise/metrics/meteor_alignment.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

namespace modewise::metrics {
namespace {

using Match = MeteorAlignment::Match;

constexpr size_t kBeam = 40;

/// For each word of the reference its possible matches in the candidate: equal words, then words with the
/// same stem. If the captions are equal, equal words only.
std::vector<std::vector<Match>> possible_matches(Words candidate, Words reference,
                                                 const std::vector<int32_t>& stems) {
  std::map<int32_t, std::vector<int32_t>> places;  // positions of each stem in the candidate
  const auto stem = [&](int32_t word) { return stems[static_cast<size_t>(word)]; };
  for (size_t i = 0; i < candidate.size(); ++i) places[stem(candidate[i])].push_back(static_cast<int32_t>(i));
  const bool equal = std::equal(candidate.begin(), candidate.end(), reference.begin(), reference.end());
  std::vector<std::vector<Match>> matches(reference.size());
  for (size_t j = 0; j < reference.size(); ++j) {
    const auto found = places.find(stem(reference[j]));
    if (found == places.end()) continue;
    for (const bool exact : {true, false}) {
      if (!exact && equal) continue;
      for (const int32_t place : found->second)
        if ((candidate[static_cast<size_t>(place)] == reference[j]) == exact)
          matches[j].push_back({place, exact});
    }
  }
  return matches;
}

/// Score of a partial alignment in the beam search.
struct AlignmentState {
  int64_t exact = 0, chunks = 0, distance = 0;
  int32_t last_end = -1;  // end of the last matched word of the candidate; −1: the last word has no match

  bool operator<(const AlignmentState& other) const {
    return std::tuple(-exact, chunks, distance) < std::tuple(-other.exact, other.chunks, other.distance);
  }
  void take(const Match& match) {
    exact += match.exact ? 1 : 0;
    if (last_end != -1 && match.place != last_end) ++chunks;
    last_end = match.place + 1;
  }
  void close_chunk() {
    if (last_end != -1) ++chunks;
    last_end = -1;
  }
};

struct Path {
  AlignmentState state;
  std::vector<Match> matches;
  std::vector<bool> used;  // [words of the candidate]
};

/// A path and its possible extension.
struct Step {
  AlignmentState state;
  size_t path = 0;
  Match match;
};

class Search {
 public:
  Search(Words candidate, const std::vector<std::vector<Match>>& possible) : possible_(possible) {
    Path start;
    start.matches.resize(possible.size());
    start.used.assign(candidate.size(), false);
    fixed_.assign(possible.size(), false);
    fix_definite(start);
    paths_.push_back(std::move(start));
  }

  std::vector<Match> best() {
    for (size_t at = 0; at < possible_.size(); ++at) advance(at);
    for (Path& path : paths_) path.state.close_chunk();
    const auto first = std::min_element(paths_.begin(), paths_.end(),
                                        [](const Path& a, const Path& b) { return a.state < b.state; });
    return first->matches;
  }

 private:
  /// Matches words that have a unique match on both sides.
  void fix_definite(Path& start) {
    std::vector<int> covered(start.used.size(), 0);
    for (const auto& matches : possible_)
      for (const Match& match : matches) ++covered[static_cast<size_t>(match.place)];
    for (size_t j = 0; j < possible_.size(); ++j) {
      if (possible_[j].size() != 1) continue;
      const Match match = possible_[j].front();
      if (covered[static_cast<size_t>(match.place)] != 1) continue;
      start.matches[j] = match;
      start.used[static_cast<size_t>(match.place)] = true;
      fixed_[j] = true;
    }
  }

  void advance(size_t at) {
    std::vector<Step> steps;
    for (size_t p = 0; p < paths_.size(); ++p) {
      AlignmentState state = paths_[p].state;
      const auto distance = [&](const Match& match) {
        return std::abs(static_cast<int64_t>(at) - match.place);
      };
      if (fixed_[at]) {
        const Match match = paths_[p].matches[at];
        state.take(match);
        state.distance += distance(match);
        steps.push_back({state, p, match});
        continue;
      }
      for (const Match& match : possible_[at]) {
        if (paths_[p].used[static_cast<size_t>(match.place)]) continue;
        steps.push_back({state, p, match});
        steps.back().state.take(match);
        // METEOR 1.5 adds the distance to the extensions tried after this one, not to this one.
        state.distance += distance(match);
      }
      state.close_chunk();
      steps.push_back({state, p, {}});
    }
    std::stable_sort(steps.begin(), steps.end(),
                     [](const Step& a, const Step& b) { return a.state < b.state; });
    steps.resize(std::min(steps.size(), kBeam));
    follow(steps, at);
  }

  void follow(const std::vector<Step>& steps, size_t at) {
    std::vector<Path> next;
    next.reserve(steps.size());
    for (const Step& step : steps) {
      Path& path = next.emplace_back(paths_[step.path]);
      path.state = step.state;
      path.matches[at] = step.match;
      if (step.match.place >= 0) path.used[static_cast<size_t>(step.match.place)] = true;
    }
    paths_ = std::move(next);
  }

  const std::vector<std::vector<Match>>& possible_;
  std::vector<bool> fixed_;  // [words of the reference]
  std::vector<Path> paths_;  // the beam, best first
};

int64_t chunks_of(const std::vector<Match>& matches) {
  AlignmentState state;
  for (const Match& match : matches) {
    if (match.place >= 0)
      state.take(match);
    else
      state.close_chunk();
  }
  state.close_chunk();
  return state.chunks;
}

}  // namespace

MeteorAlignment align_words(Words candidate, Words reference, const std::vector<int32_t>& stems) {
  const std::vector<std::vector<Match>> possible = possible_matches(candidate, reference, stems);
  MeteorAlignment alignment;
  alignment.matches = Search(candidate, possible).best();
  alignment.chunks = chunks_of(alignment.matches);
  return alignment;
}

}  // namespace modewise::metrics
