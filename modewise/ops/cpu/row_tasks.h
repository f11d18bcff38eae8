#pragma once
// Parallel loops over tasks with disjoint outputs, so that results do not depend on the partition.

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace modewise::ops {

/// Elements per chunk of memory-bound work: a few microseconds, and small enough for a core's cache.
constexpr int64_t kChunkElements = 16384;

/// Rows per chunk for rows of `width` elements, a multiple of `multiple`.
inline int64_t chunk_rows(int64_t width, int64_t multiple = 1) {
  const int64_t rows = std::max<int64_t>(kChunkElements / std::max<int64_t>(width, 1), 1);
  return (rows + multiple - 1) / multiple * multiple;
}

/// Calls body(begin, end) for ranges of [0, tasks); on the calling thread only if waking others would cost
/// more than `task_work`, the approximate number of multiply-adds or elements per task.
template <class Body>
void for_tasks(int64_t tasks, int64_t task_work, const Body& body) {
  constexpr int64_t kWorthAThread = 32768;
  at::parallel_for(0, tasks, std::max<int64_t>(kWorthAThread / std::max<int64_t>(task_work, 1), 1), body);
}

/// Number of parts into which the `pieces` of each of `groups` are split: about `tasks` parts in all for any
/// number of threads, and at least 16 pieces per part.
inline int64_t parts_wanted(int64_t tasks, int64_t groups, int64_t pieces) {
  return std::clamp<int64_t>((tasks + groups - 1) / std::max<int64_t>(groups, 1), 1,
                             std::max<int64_t>(pieces / 16, 1));
}

/// Calls body(first, last) for consecutive chunks of [0, rows); chunk borders do not depend on the number of
/// threads.
template <class Body>
void for_row_chunks(int64_t rows, int64_t chunk, const Body& body) {
  at::parallel_for(0, (rows + chunk - 1) / chunk, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i * chunk, std::min((i + 1) * chunk, rows));
  });
}

/// Sums rows [begin, end) into `sum` [width] in pieces of 16 rows, each summed by body(first, last, piece):
/// rounding errors grow with the length of a sum.
template <class F, class Body>
void add_in_pieces(int64_t begin, int64_t end, int64_t width, F* sum, const Body& body) {
  constexpr int64_t kPieceRows = 16;
  std::vector<F> piece(static_cast<size_t>(width));
  for (int64_t first = begin; first < end; first += kPieceRows) {
    std::fill(piece.begin(), piece.end(), F{0});
    body(first, std::min(first + kPieceRows, end), piece.data());
    for (int64_t c = 0; c < width; ++c) sum[c] += piece[static_cast<size_t>(c)];
  }
}

/// Sums rows 0 … count−1 of parts [count, width] into row 0 by a reduction tree.
template <class F>
void sum_rows(F* parts, int64_t count, int64_t width) {
  for (int64_t gap = 1; gap < count; gap *= 2)
    for (int64_t i = 0; i + gap < count; i += 2 * gap)
      for (int64_t c = 0; c < width; ++c) parts[i * width + c] += parts[(i + gap) * width + c];
}

}  // namespace modewise::ops
