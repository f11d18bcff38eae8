#include "modewise/ops/cuda/summary_tokens.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/sin.h>

#include <algorithm>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/cpu/dense_channels.h"

namespace modewise::ops::cuda {
namespace {

/// Keys that a program of summary tokens reads, at least.
constexpr int64_t kStripKeys = 512;

void set_rotary_table(SummaryInputs& to, const SummaryOptions& options, const RotaryEmbedding& rotary) {
  const auto type = to.q.options().dtype(accumulate_type(to.q.scalar_type()));
  if (!rotary.used()) {
    to.rotations.assign(to.levels.size(), 0);
    to.cosine = to.sine = at::empty({0}, type);
    return;
  }
  const auto wide = to.q.options().dtype(at::kDouble);
  to.given = rotary.positions.defined();
  std::vector<at::Tensor> angles;
  std::vector<double> gains;
  int64_t rows = 0;
  const auto add = [&](const at::Tensor& positions, int64_t level, double gain) {
    angles.push_back(at::outer(positions.to(at::kDouble), rotary.level_frequencies(level)));
    gains.push_back(gain);
    rows += positions.size(0);
  };
  add(to.given ? rotary.positions : at::arange(std::min(to.n(), to.window + kMaxTile), wide), 0,
      rotary.gain(0));
  to.far = rows;
  // The keys at this distance have position 0: the queries' row has the gain of both.
  add(at::full({1}, static_cast<double>(options.window), wide), 0, rotary.gain(0) * rotary.gain(0));
  for (size_t l = 0; l < to.levels.size(); ++l) {
    const auto level = static_cast<int64_t>(l) + 1;
    to.rotations.push_back(rows);
    add(at::arange(std::min(to.levels[l].siblings, to.levels[l].finished + 1), wide), level,
        rotary.gain(level));
  }
  const auto all = at::cat(angles);
  to.cosine = at::cos(all), to.sine = at::sin(all);
  if (!rotary.gains.empty()) {
    int64_t row = 0;
    for (size_t i = 0; i < angles.size(); row += angles[i].size(0), ++i)
      for (at::Tensor& x : {std::ref(to.cosine), std::ref(to.sine)})
        x.narrow(0, row, angles[i].size(0)).mul_(gains[i]);
  }
  to.cosine = to.cosine.to(type.dtype()), to.sine = to.sine.to(type.dtype());
}

}  // namespace

SummaryInputs::SummaryInputs(const at::Tensor& q_in, const at::Tensor& k_in, const at::Tensor& v_in,
                             const std::optional<at::Tensor>& latents_in, const SummaryOptions& options,
                             const RotaryEmbedding& rotary)
    : q(dense_channels(q_in)), k(dense_channels(k_in)), v(dense_channels(v_in)) {
  if (latents_in) latents = latents_in->contiguous(), summaries = latents.size(2);
  window = std::min(options.window, n());
  sinks = std::max<int64_t>(std::min(options.sinks, n() - window), 0);
  first = {0};
  for (FoldLevel level : fold_levels(options.fold, n())) {
    if (level.finished == 0) break;
    level.siblings = std::min(level.siblings, level.finished + 1);
    level.known = std::min(level.known, level.finished + 1);
    levels.push_back(level);
    first.push_back(first.back() + level.finished * summaries);
  }
  set_rotary_table(*this, options, rotary);
}

at::Tensor SummaryInputs::keys_below(size_t level) const {
  return level == 0 ? k : keys.narrow(1, first[level - 1], count(level - 1));
}

at::Tensor SummaryInputs::values_below(size_t level) const {
  return level == 0 ? v : values.narrow(1, first[level - 1], count(level - 1));
}

int64_t SummaryInputs::children(size_t level) const {
  return levels[level].children * (level == 0 ? 1 : summaries);
}

std::vector<std::pair<std::string, int64_t>> SummaryInputs::constants() const {
  const int64_t d = q.size(3), e = v.size(3);
  return {{"D", d},
          {"E", e},
          {"HALF", tile((d + 1) / 2)},
          {"WIDTH", tile(e)},
          {"ROTARY", cosine.numel() > 0},
          {"WIDE", q.scalar_type() == at::kDouble},
          {"maxnreg", kMaxRegisters}};
}

void summarise(SummaryInputs& in) {
  const int64_t length = in.first.back(), groups = in.groups();
  const auto rows = [&](int64_t width) {
    return at::empty({in.batch(), groups, length, width}, in.q.options()).transpose(1, 2);
  };
  in.keys = rows(in.q.size(3)), in.values = rows(in.v.size(3));
  in.rotated_keys = in.cosine.numel() > 0 ? rows(in.q.size(3)) : in.keys;
  in.sums = at::empty({in.batch(), groups, length}, in.cosine.options());
  in.table = at::empty({static_cast<int64_t>(in.levels.size()), 5}, in.q.options().dtype(at::kInt));
  const int64_t tile_rows = 16;
  for (size_t l = 0; l < in.levels.size(); ++l) {
    const FoldLevel& level = in.levels[l];
    const at::Tensor keys = in.keys_below(l), values = in.values_below(l),
                     latents = in.latents[static_cast<int64_t>(l)];
    const int64_t children = in.children(l), count = in.count(l), r = in.summaries;
    // Whole blocks in a program, as many as have kStripKeys keys; many summary tokens of a block are divided.
    const int64_t blocks = std::clamp<int64_t>(kStripKeys / children, 1, std::max<int64_t>(tile_rows / r, 1));
    const int64_t per = std::min(blocks * r, tile_rows);
    Launch call{.kernel = "summary_tokens",
                .tensors = {keys, values, latents, in.keys, in.rotated_keys, in.values, in.sums, in.table,
                            in.cosine, in.sine}};
    add_strides(call, keys, 3);
    add_strides(call, values, 3);
    add_strides(call, latents, 2);
    call.sizes = {groups,       length,          in.first[l],
                  count,        children,        r,
                  per,          in.rotations[l], static_cast<int64_t>(l),
                  level.tokens, level.siblings,  level.known};
    call.constants = in.constants();
    call.constants.insert(call.constants.end(), {{"ROWS", tile_rows},
                                                 {"BLOCK_N", in.q.element_size() > 2 ? 32 : 64},
                                                 {"num_warps", 4},
                                                 {"num_stages", 2}});
    launch(call, in.batch() * groups * count_tiles(count, per));
  }
}

}  // namespace modewise::ops::cuda
