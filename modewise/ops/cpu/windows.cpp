#include "modewise/ops/cpu/windows.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "modewise/ops/cpu/loops.h"

namespace modewise::ops {

Windows::Windows(std::vector<ModeWindows> modes, const std::vector<int64_t>& sizes, int64_t channels)
    : modes_(std::move(modes)), offsets_(sizes.size() - 1), channels_(channels), sample_(channels) {
  make_runs(modes_.back());
  for (size_t i = sizes.size(); i-- > 0;) {
    if (i < offsets_.size())
      for (const int64_t cell : modes_[i].source) offsets_[i].push_back(cell < 0 ? -1 : cell * sample_);
    sample_ *= sizes[i];
    rows_ *= modes_[i].positions;
    taps_ *= modes_[i].taps;
    identity_ = identity_ && modes_[i].taps == 1 && modes_[i].positions == sizes[i];
    for (int64_t p = 0; identity_ && p < sizes[i]; ++p)
      identity_ = modes_[i].source[static_cast<size_t>(p)] == p;
  }
}

// Where the taps see neighbouring cells, and nothing beyond the edge between them, they are one run of
// memory.
void Windows::make_runs(const ModeWindows& last) {
  constexpr int64_t kAny = -1, kNone = std::numeric_limits<int64_t>::max();
  bool neighbours = true;
  for (size_t first = 0; first < last.source.size(); first += static_cast<size_t>(last.taps)) {
    int64_t next = kAny;  // what may follow
    for (size_t t = first; t < first + static_cast<size_t>(last.taps); ++t) {
      const int64_t cell = last.source[t];
      if (cell >= 0) {
        neighbours = neighbours && (next == kAny || next == cell);
        next = cell + 1;
      } else if (next != kAny) {
        next = kNone;
      }
    }
  }
  const int64_t taps = neighbours ? last.taps : 1;
  run_ = taps * channels_;
  runs_each_ = last.taps / taps;
  for (size_t first = 0; first < last.source.size(); first += static_cast<size_t>(taps)) {
    Run run{};
    for (int64_t t = 0; t < taps; ++t) {
      const int64_t cell = last.source[first + static_cast<size_t>(t)];
      if (cell < 0) continue;
      if (run.end == 0) run = {(cell - t) * channels_, t * channels_, 0};
      run.end = (t + 1) * channels_;
    }
    runs_.push_back(run);
  }
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
  /// `steps` places on; it must not pass more than the end of the last mode.
  template <class SizeOf>
  void advance(int64_t steps, const SizeOf& size_of) {
    size_t i = modes_ - 1;
    for (place_[i] += steps; place_[i] >= size_of(i); ++place_[--i]) {
      place_[i] = 0;
      if (i > 0) continue;
      ++rest_;
      return;
    }
  }
  int64_t operator[](size_t mode) const { return place_[mode]; }
  /// How often all places were passed.
  int64_t rest() const { return rest_; }

 private:
  size_t modes_;
  std::array<int64_t, 8> place_;
  int64_t rest_;
};

template <class T>
void put_zeros(int64_t line, int64_t width, T* to, int64_t row) {
  for (int64_t i = 0; i < line; ++i, to += row) std::fill_n(to, width, T{});
}

}  // namespace

/// Elements [first, first + width) of the runs of a line, `step` apart, to `to`, `row` elements apart.
template <class T>
void Windows::put_runs(const T* x, const Run* run, int64_t step, int64_t line, int64_t first, int64_t width,
                       T* to, int64_t row) {
  constexpr int64_t kBlock = 64 / sizeof(T), kPart = 16 / sizeof(T);  // a copy of known size is no call
  for (int64_t i = 0; i < line; ++i, run += step, to += row) {
    const int64_t begin = std::clamp<int64_t>(run->begin - first, 0, width);
    const int64_t end = std::clamp<int64_t>(run->end - first, begin, width);
    const T* from = x + run->from + first;
    for (int64_t c = 0; c < begin; ++c) to[c] = T{};
    int64_t c = begin;
    for (; c + kBlock <= end; c += kBlock) std::memcpy(to + c, from + c, 64);
    for (; c + kPart <= end; c += kPart) std::memcpy(to + c, from + c, 16);
    for (; c < end; ++c) to[c] = from[c];
    for (; c < width; ++c) to[c] = T{};
  }
}

// One tap of the outer modes after another, each down all rows: along a line of the last mode nothing but the
// run changes.
template <class T>
void Windows::gather(const T* x, int64_t begin, int64_t end, int64_t first, int64_t count, T* to) const {
  const size_t last = modes_.size() - 1;
  const auto positions = [&](size_t i) { return modes_[i].positions; };
  const auto taps = [&](size_t i) { return i == last ? runs_each_ : modes_[i].taps; };
  Odometer tap(modes_.size(), first / run_, taps);
  int64_t skipped = first % run_;
  for (int64_t column = 0; column < count; skipped = 0, tap.advance(1, taps)) {
    const int64_t width = std::min(run_ - skipped, count - column);
    T* out = to + column;
    Odometer place(modes_.size(), begin, positions);
    for (int64_t row = begin; row < end;) {
      const int64_t line = std::min(positions(last) - place[last], end - row);
      int64_t offset = place.rest() * sample_;
      bool inside = true;
      for (size_t i = 0; i < last; ++i) {
        const int64_t of_mode = offsets_[i][static_cast<size_t>(place[i] * taps(i) + tap[i])];
        inside = inside && of_mode >= 0;
        offset += of_mode;
      }
      const Run* runs = runs_.data() + place[last] * runs_each_ + tap[last];
      if (inside)
        put_runs(x + offset, runs, runs_each_, line, skipped, width, out, count);
      else
        put_zeros(line, width, out, count);
      out += line * count;
      row += line;
      place.advance(line, positions);
    }
    column += width;
  }
}

template void Windows::gather(const float*, int64_t, int64_t, int64_t, int64_t, float*) const;
template void Windows::gather(const double*, int64_t, int64_t, int64_t, int64_t, double*) const;
template void Windows::gather(const Half16*, int64_t, int64_t, int64_t, int64_t, Half16*) const;

}  // namespace modewise::ops
