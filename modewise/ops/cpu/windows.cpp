#include "modewise/ops/cpu/windows.h"

#include <algorithm>
#include <array>
#include <cstring>
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

// What one tap sees along a line of the last mode: cells at x + of_last[0], x + of_last[step], …, 0 where
// that is negative, to `to`, `row` elements apart.

template <class T>
void put_zeros(int64_t line, int64_t width, T* to, int64_t row) {
  for (int64_t i = 0; i < line; ++i, to += row) std::fill_n(to, width, T{});
}

template <class T>
void put_elements(const T* x, const int64_t* of_last, int64_t step, int64_t line, T* to, int64_t row) {
  for (int64_t i = 0; i < line; ++i, of_last += step, to += row) *to = *of_last < 0 ? T{} : x[*of_last];
}

template <class T>
void put_cells(const T* x, const int64_t* of_last, int64_t step, int64_t line, int64_t width, T* to,
               int64_t row) {
  constexpr int64_t kBlock = 64 / sizeof(T);  // a copy of known size is no call
  for (int64_t i = 0; i < line; ++i, of_last += step, to += row) {
    if (*of_last < 0) {
      std::fill_n(to, width, T{});
      continue;
    }
    const T* cell = x + *of_last;
    int64_t c = 0;
    for (; c + kBlock <= width; c += kBlock) std::memcpy(to + c, cell + c, 64);
    for (; c < width; ++c) to[c] = cell[c];
  }
}

}  // namespace

// One tap after another, each down all rows: along a line of the last mode nothing but the cell changes.
template <class T>
void Windows::gather(const T* x, int64_t begin, int64_t end, int64_t first, int64_t count, T* to) const {
  const auto positions = [&](size_t i) { return modes_[i].positions; };
  const auto taps = [&](size_t i) { return modes_[i].taps; };
  const size_t last = modes_.size() - 1;
  Odometer tap(modes_.size(), first / channels_, taps);
  int64_t channel = first % channels_;
  for (int64_t column = 0; column < count; channel = 0, tap.advance(1, taps)) {
    const int64_t width = std::min(channels_ - channel, count - column);
    T* out = to + column;
    Odometer place(modes_.size(), begin, positions);
    for (int64_t row = begin; row < end;) {
      const int64_t line = std::min(positions(last) - place[last], end - row);
      int64_t offset = place.rest() * sample_ + channel;
      bool inside = true;
      for (size_t i = 0; i < last; ++i) {
        const int64_t of_mode = offsets_[i][static_cast<size_t>(place[i] * taps(i) + tap[i])];
        inside = inside && of_mode >= 0;
        offset += of_mode;
      }
      const int64_t* of_last = offsets_[last].data() + place[last] * taps(last) + tap[last];
      if (!inside)
        put_zeros(line, width, out, count);
      else if (width == 1)
        put_elements(x + offset, of_last, taps(last), line, out, count);
      else
        put_cells(x + offset, of_last, taps(last), line, width, out, count);
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
