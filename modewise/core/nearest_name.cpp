#include "modewise/core/nearest_name.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace modewise {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string nearest_name_hint(std::string_view name, std::span<const std::string> names) {
  const std::string* best = nullptr;
  size_t best_distance = std::max<size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : names) {
    const size_t length = candidate.size();
    // The distance is at least the difference of the lengths: a long name is not compared with short ones.
    if (std::max(name.size(), length) - std::min(name.size(), length) >= best_distance) continue;
    const size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best = &candidate;
      best_distance = distance;
    }
  }
  return best ? " (did you mean '" + *best + "'?)" : "";
}

std::string listed_names(std::span<const std::string> names) {
  constexpr size_t kMaxListed = 20;
  if (names.size() <= kMaxListed) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{}, … {} in all", fmt::join(names.first(kMaxListed), ", "), names.size());
}

}  // namespace modewise
