#include "modewise/ops/cpu/windows.h"

#include <algorithm>
#include <array>
#include <utility>

#include "modewise/ops/cpu/loops.h"

namespace modewise::ops {

Windows::Windows(std::vector<ModeWindows> modes, const std::vector<int64_t>& sizes, int64_t channels)
    : modes_(std::move(modes)), offsets_(sizes.size()), channels_(channels), sample_(channels) {
  for (size_t i = sizes.size(); i-- > 0;) {
    for (const int64_t cell : modes_[i].source) offsets_[i].push_back(cell < 0 ? -1 : cell * sample_);
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
      const int64_t of_mode =
          offsets_[i][static_cast<size_t>(place[i] * modes_[i].taps + rest % modes_[i].taps)];
      inside = inside && of_mode >= 0;
      offset += of_mode;
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

namespace {

/// Places in a tensor of these sizes one after another, the last mode fastest.
class Odometer {
 public:
  template <class SizeOf>
  Odometer(size_t modes, int64_t at, const SizeOf& size_of) : modes_(modes) {
    for (size_t i = modes; i-- > 0; at /= size_of(i)) place_[i] = at % size_of(i);
    rest_ = at;
  }
  template <class SizeOf>
  void next(const SizeOf& size_of) {
    size_t i = modes_;
    while (i-- > 0) {
      if (++place_[i] < size_of(i)) return;
      place_[i] = 0;
    }
    ++rest_;
  }
  int64_t operator[](size_t mode) const { return place_[mode]; }
  /// How often all places were passed.
  int64_t rest() const { return rest_; }

 private:
  size_t modes_;
  std::array<int64_t, 8> place_;
  int64_t rest_;
};

}  // namespace

template <class T>
void Windows::gather_part(const T* x, int64_t begin, int64_t end, int64_t first, int64_t count, T* to) const {
  if (count == depth()) return gather(x, begin, end, to);
  const auto positions = [&](size_t i) { return modes_[i].positions; };
  const auto taps = [&](size_t i) { return modes_[i].taps; };
  const size_t modes = modes_.size();
  const Odometer first_tap(modes, first / channels_, taps);
  Odometer place(modes, begin, positions);
  for (int64_t row = begin; row < end; ++row, place.next(positions)) {
    const T* sample = x + place.rest() * sample_;
    std::array<const int64_t*, 8> offsets;
    for (size_t i = 0; i < modes; ++i) offsets[i] = offsets_[i].data() + place[i] * modes_[i].taps;
    Odometer tap = first_tap;
    int64_t channel = first % channels_;
    for (int64_t left = count; left > 0; channel = 0, tap.next(taps)) {
      const int64_t width = std::min(channels_ - channel, left);
      int64_t offset = channel;
      bool inside = true;
      for (size_t i = 0; i < modes; ++i) {
        const int64_t of_mode = offsets[i][tap[i]];
        inside = inside && of_mode >= 0;
        offset += of_mode;
      }
      if (inside)
        std::copy_n(sample + offset, width, to);
      else
        std::fill_n(to, width, T{});
      to += width;
      left -= width;
    }
  }
}

template void Windows::gather(const float*, int64_t, int64_t, float*) const;
template void Windows::gather(const double*, int64_t, int64_t, double*) const;
template void Windows::gather(const Half16*, int64_t, int64_t, Half16*) const;
template void Windows::gather_part(const float*, int64_t, int64_t, int64_t, int64_t, float*) const;
template void Windows::gather_part(const double*, int64_t, int64_t, int64_t, int64_t, double*) const;
template void Windows::gather_part(const Half16*, int64_t, int64_t, int64_t, int64_t, Half16*) const;

}  // namespace modewise::ops
