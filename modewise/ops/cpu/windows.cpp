#include "modewise/ops/cpu/windows.h"

#include <algorithm>
#include <utility>

#include "modewise/ops/cpu/loops.h"

namespace modewise::ops {

Windows::Windows(std::vector<ModeWindows> modes, const std::vector<int64_t>& sizes, int64_t channels)
    : modes_(std::move(modes)), strides_(sizes.size()), channels_(channels), sample_(channels) {
  for (size_t i = sizes.size(); i-- > 0;) {
    strides_[i] = sample_;
    sample_ *= sizes[i];
    rows_ *= modes_[i].positions;
    taps_ *= modes_[i].taps;
    identity_ = identity_ && modes_[i].taps == 1 && modes_[i].positions == sizes[i];
    for (int64_t p = 0; identity_ && p < sizes[i]; ++p)
      identity_ = modes_[i].source[static_cast<size_t>(p)] == p;
  }
  const ModeWindows& last = modes_.back();
  for (int64_t p = 0; p < last.positions; ++p) {
    const int64_t* source = last.source.data() + p * last.taps;
    std::vector<Run>& runs = runs_.emplace_back();
    for (int64_t t = 0; t < last.taps; ++t) {
      const int64_t follows = t == 0 || source[t - 1] < 0 ? -1 : source[t - 1] + 1;
      if (t > 0 && source[t] == follows)
        ++runs.back().count;
      else
        runs.push_back({1, source[t]});
    }
  }
}

template <class T>
void Windows::gather_row(const T* x, int64_t row, T* to) const {
  int64_t place[8];  // position of each mode, then what is left of the row: the sample
  for (size_t i = modes_.size(); i-- > 0; row /= modes_[i].positions) place[i] = row % modes_[i].positions;
  const T* sample = x + row * sample_;
  const size_t outer = modes_.size() - 1;
  const int64_t width = modes_.back().taps * channels_;
  for (int64_t tap = 0; tap < taps_ / modes_.back().taps; ++tap, to += width) {
    int64_t rest = tap, offset = 0;
    bool inside = true;
    for (size_t i = outer; i-- > 0; rest /= modes_[i].taps) {
      const int64_t cell =
          modes_[i].source[static_cast<size_t>(place[i] * modes_[i].taps + rest % modes_[i].taps)];
      inside = inside && cell >= 0;
      offset += cell * strides_[i];
    }
    if (!inside) {
      std::fill_n(to, width, T{});
      continue;
    }
    T* out = to;
    for (const Run& run : runs_[static_cast<size_t>(place[outer])]) {
      const int64_t count = run.count * channels_;
      if (run.start < 0)
        std::fill_n(out, count, T{});
      else
        std::copy_n(sample + offset + run.start * channels_, count, out);
      out += count;
    }
  }
}

template <class T>
void Windows::gather(const T* x, int64_t begin, int64_t end, T* to) const {
  for (int64_t row = begin; row < end; ++row, to += depth()) gather_row(x, row, to);
}

template void Windows::gather(const float*, int64_t, int64_t, float*) const;
template void Windows::gather(const double*, int64_t, int64_t, double*) const;
template void Windows::gather(const Half16*, int64_t, int64_t, Half16*) const;

}  // namespace modewise::ops
