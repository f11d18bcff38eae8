#include "modewise/ops/cpu/windows.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "modewise/ops/cpu/row_tasks.h"

namespace modewise::ops {

Padding Padding::of(const ModeWindows& mode, int64_t n) {
  const int64_t last = mode.first + (mode.positions - 1) * mode.step + (mode.taps - 1) * mode.tap_step;
  return {std::max<int64_t>(-mode.first, 0), std::max<int64_t>(last - (n - 1), 0)};
}

Padding Padding::with(const Padding& other) const {
  return {std::max(before, other.before), std::max(behind, other.behind)};
}

namespace {

/// Line of x [B, N_1 … N_k] at `line` of the padded tensor, −1 for zero padding.
int64_t line_of(const at::Tensor& x, const std::vector<Padding>& padding, int64_t line) {
  int64_t of_x = 0, lines = 1;
  for (size_t i = padding.size() - 1; i-- > 0;) {
    const int64_t n = x.sizes()[i + 1], padded = n + padding[i].before + padding[i].behind;
    const int64_t cell = line % padded - padding[i].before;
    if (cell < 0 || cell >= n) return -1;
    of_x += cell * lines;
    lines *= n;
    line /= padded;
  }
  return of_x + line * lines;
}

at::Tensor padded_copy(const at::Tensor& x, const std::vector<Padding>& padding) {
  auto sizes = x.sizes().vec();
  for (size_t i = 0; i < padding.size(); ++i) sizes[i + 1] += padding[i].before + padding[i].behind;
  const at::Tensor out = at::empty(sizes, x.options());
  const int64_t cell = x.size(-1) * x.element_size(), line = x.size(-2) * cell;
  const int64_t before = padding.back().before * cell, whole = out.size(-2) * cell;
  const auto* from = static_cast<const char*>(x.const_data_ptr());
  auto* to = static_cast<char*>(out.mutable_data_ptr());
  const int64_t lines = whole == 0 ? 0 : out.numel() * x.element_size() / whole;
  for_tasks(lines, whole, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      char* start = to + i * whole;
      const int64_t source = line_of(x, padding, i);
      const int64_t zeros = source < 0 ? whole : before, copied = source < 0 ? 0 : line;
      std::memset(start, 0, static_cast<size_t>(zeros));
      if (copied > 0) std::memcpy(start + zeros, from + source * line, static_cast<size_t>(copied));
      std::memset(start + zeros + copied, 0, static_cast<size_t>(whole - zeros - copied));
    }
  });
  return out;
}

bool is_none(const Padding& padding) {
  return padding.before == 0 && padding.behind == 0;
}

}  // namespace

PaddedCells::PaddedCells(const at::Tensor& x, std::vector<Padding> padding)
    : padding_(std::move(padding)),
      cells_(std::ranges::all_of(padding_, is_none) ? x.contiguous()
                                                    : padded_copy(x.contiguous(), padding_)) {}

namespace {

/// All sums of one element of `outer` and one of begin, begin + step …, `count` of them, the latter fastest.
std::vector<int64_t> sums(const std::vector<int64_t>& outer, int64_t begin, int64_t count, int64_t step) {
  std::vector<int64_t> all;
  all.reserve(outer.size() * static_cast<size_t>(count));
  for (const int64_t at : outer)
    for (int64_t i = 0; i < count; ++i) all.push_back(at + begin + i * step);
  return all;
}

/// zero_runs of a LinedMatrix: taps of the outer modes that read only padding.
std::vector<uint64_t> zero_runs(const PaddedCells& padded, const std::vector<ModeWindows>& modes,
                                int64_t samples, int64_t runs_each) {
  std::vector<std::vector<bool>> lines(1), next;  // per line: whether each of its runs is zero
  lines[0] = {false};
  for (size_t i = 0; i + 1 < modes.size(); ++i) {
    const ModeWindows& mode = modes[i];
    const Padding& padding = padded.padding(i);
    const int64_t n = padded.cells().sizes()[i + 1] - padding.before - padding.behind;
    next.clear();
    for (const auto& outer : lines)
      for (int64_t p = 0; p < mode.positions; ++p) {
        next.emplace_back();
        for (const bool zero : outer)
          for (int64_t t = 0; t < mode.taps; ++t) {
            const int64_t cell = mode.first + p * mode.step + t * mode.tap_step;
            next.back().push_back(zero || cell < 0 || cell >= n);
          }
      }
    lines.swap(next);
  }
  std::vector<uint64_t> of_sample, all;
  for (const auto& line : lines) {
    uint64_t bits = 0;
    for (size_t r = 0; r < line.size() * static_cast<size_t>(runs_each) && r < 64; ++r)
      if (line[r / static_cast<size_t>(runs_each)]) bits |= uint64_t{1} << r;
    of_sample.push_back(bits);
  }
  all.reserve(of_sample.size() * static_cast<size_t>(samples));
  for (int64_t sample = 0; sample < samples; ++sample)
    all.insert(all.end(), of_sample.begin(), of_sample.end());
  return all;
}

}  // namespace

Windows::Windows(const PaddedCells& padded, const std::vector<ModeWindows>& modes) : run_at_{0} {
  const at::Tensor& x = padded.cells();
  const size_t last = modes.size() - 1;
  const int64_t channels = x.size(-1);
  bool same_place = true;
  for (size_t i = 0; i <= last; ++i)
    same_place = same_place && modes[i].taps == 1 && modes[i].first == 0 && modes[i].step == 1 &&
                 modes[i].positions == x.sizes()[i + 1];
  if (same_place) dense_ = x.view({-1, channels});
  line_at_ = sums({0}, 0, x.size(0), x.stride(0));
  for (size_t i = 0; i <= last; ++i) {
    const ModeWindows& mode = modes[i];
    const int64_t cell = x.strides()[i + 1], first = (mode.first + padded.padding(i).before) * cell;
    line_at_ = sums(line_at_, first, i < last ? mode.positions : 1, mode.step * cell);
    // Taps on adjacent cells of the last mode form one run.
    const int64_t runs = i == last && mode.tap_step == 1 ? 1 : mode.taps;
    run_at_ = sums(run_at_, 0, runs, mode.tap_step * cell);
  }
  const bool neighbours = modes[last].tap_step == 1;
  const int64_t run = neighbours ? modes[last].taps * channels : channels;
  zero_runs_ = zero_runs(padded, modes, x.size(0), neighbours ? 1 : modes[last].taps);
  matrix_ = {.at = x.const_data_ptr(),
             .line = modes[last].positions,
             .step = modes[last].step * channels,
             .line_at = line_at_.data(),
             .run = run,
             .run_at = run_at_.data(),
             .zero_runs = zero_runs_.data()};
}

}  // namespace modewise::ops
