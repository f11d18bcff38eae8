#pragma once
// What the taps of a kernel see from each position, mode by mode, and the gathering of it into rows of a
// matrix.

#include <cstdint>
#include <vector>

namespace modewise::ops {

/// source[p · taps + t] is the cell of the mode that tap t sees from position p, −1 beyond the edge.
struct ModeWindows {
  int64_t positions, taps;
  std::vector<int64_t> source;
};

/// Windows over a dense tensor [B, N_1 … N_k, C]: row (b, p_1 … p_k) of the gathered matrix holds the C
/// channels of the cell that each tap (t_1 … t_k) sees, taps in row-major order, 0 beyond the edge.
class Windows {
 public:
  Windows(std::vector<ModeWindows> modes, const std::vector<int64_t>& sizes, int64_t channels);

  int64_t rows() const { return rows_; }  // of one sample
  int64_t taps() const { return taps_; }
  int64_t depth() const { return taps_ * channels_; }
  /// Whether every row is the cell of the same place.
  bool identity() const { return identity_; }

  /// Columns [first, first + count) of rows [begin, end), which are counted through all samples, to `to` [end
  /// − begin, count].
  template <class T>
  void gather(const T* x, int64_t begin, int64_t end, int64_t first, int64_t count, T* to) const;

 private:
  /// What one or all taps of the last mode see from one position: elements [begin, end) lie at x + from +
  /// begin, the others are 0.
  struct Run {
    int64_t from, begin, end;
  };
  template <class T>
  static void put_runs(const T* x, const Run* run, int64_t step, int64_t line, int64_t first, int64_t width,
                       T* to, int64_t row);
  void make_runs(const ModeWindows& last);

  std::vector<ModeWindows> modes_;
  /// Of ModeWindows::source of the outer modes, in elements; −1 as there.
  std::vector<std::vector<int64_t>> offsets_;
  std::vector<Run> runs_;            // [positions of the last mode, runs_each_]
  int64_t runs_each_ = 0, run_ = 0;  // of a position; elements of a run
  int64_t channels_, rows_ = 1, taps_ = 1, sample_;
  bool identity_ = true;
};

}  // namespace modewise::ops
