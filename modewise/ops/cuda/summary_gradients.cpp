// Gradients of summary attention: of the queries; of each level's summary tokens through the attention; of
// their construction, from the outermost level to the tokens and the latents; and of the keys and values in
// windows, added to the latter.

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/cpu/dense_channels.h"
#include "modewise/ops/cuda/summary_attention.h"
#include "modewise/ops/cuda/summary_tokens.h"

namespace modewise::ops::cuda {
namespace {

using Optional = std::optional<at::Tensor>;

/// The backward pass of the construction has all summary tokens of a block in one tile.
constexpr int64_t kMaxSummaries = 32, kMaxFloatSummaries = 16;

/// Programs that keep a GPU busy; queries of a program, at least, that sums the gradients of keys over them.
constexpr int64_t kKeyPrograms = 1024, kMinChunk = 512;

struct KeyGradients {
  at::Tensor of_keys, of_values;  // [B, rows, G, d or e]
};

class SummaryBackward {
 public:
  SummaryBackward(const at::Tensor& grad, const at::Tensor& out, const at::Tensor& logsumexp,
                  const SummaryInputs& in)
      : in_(in),
        grad_(dense_channels(grad.to(in.q.scalar_type()))),
        out_(dense_channels(out)),
        logsumexp_(logsumexp.to(in.sums.scalar_type()).contiguous()),
        delta_(at::empty_like(logsumexp_)) {}

  at::Tensor queries(double scale) {
    const auto of_q = at::empty(in_.q.sizes(), in_.q.options());
    Launch call{.kernel = "summary_query_gradients",
                .tensors = {in_.q, in_.k, in_.v, in_.rotated_keys, in_.values, in_.table, in_.cosine,
                            in_.sine, grad_, out_, logsumexp_, delta_, of_q}};
    for (const at::Tensor& x : {in_.q, in_.k, in_.v, grad_, out_}) add_strides(call, x, 3);
    call.sizes = {in_.heads(),      in_.heads() / in_.groups(),
                  in_.n(),          in_.window,
                  in_.sinks,        static_cast<int64_t>(in_.levels.size()),
                  in_.first.back(), in_.summaries,
                  in_.far};
    call.numbers = {scale};
    call.constants = in_.constants();
    const int64_t rows = narrow() ? 32 : 16;
    call.constants.insert(call.constants.end(), {{"BLOCK_M", rows},
                                                 {"BLOCK_N", narrow() ? 32 : 16},
                                                 {"GIVEN", in_.given},
                                                 {"SINKS", in_.sinks > 0},
                                                 {"num_warps", 4},
                                                 {"num_stages", 2}});
    launch(call, in_.batch() * in_.heads() * count_tiles(in_.n(), rows));
    return of_q;
  }

  /// Adds gradients through windows to those of the first `added` tokens.
  void windows(const KeyGradients& to, int64_t added, double scale) {
    Keys keys{.keys = in_.k, .values = in_.v, .window = in_.window, .added = added};
    launch_keys(keys, to, 1, in_.window + kMaxTile, scale);
  }

  KeyGradients sinks(double scale) {
    Keys keys{.keys = in_.k.narrow(1, 0, in_.sinks),
              .values = in_.v.narrow(1, 0, in_.sinks),
              .window = in_.window,
              .rotations = in_.far,
              .sinks = true};
    return split(keys, in_.n() - in_.window, scale);
  }

  KeyGradients level(size_t l, double scale) {
    const FoldLevel& level = in_.levels[l];
    Keys keys{.keys = in_.rotated_keys.narrow(1, in_.first[l], in_.count(l)),
              .values = in_.values.narrow(1, in_.first[l], in_.count(l)),
              .tokens = level.tokens,
              .siblings = level.siblings,
              .summaries = in_.summaries,
              .known = level.known,
              .rotations = in_.rotations[l],
              .level = true};
    return split(
        keys, std::min(in_.n(), (keys_in_tile() / in_.summaries + 1 + level.siblings) * level.tokens), scale);
  }

  /// Gradient of a level's latents [G, r, d] in the accumulate type; those of the keys and values below are
  /// stored in `below`, or added to it.
  at::Tensor construction(size_t l, const KeyGradients& of, const KeyGradients& below) {
    const at::Tensor keys = in_.keys_below(l), values = in_.values_below(l),
                     latents = in_.latents[static_cast<int64_t>(l)];
    const int64_t children = in_.children(l), count = in_.count(l), r = in_.summaries;
    const int64_t rows = tile(r), blocks = std::clamp<int64_t>(kMinChunk / children, 1, rows / r);
    const auto of_latents = at::empty(of.of_keys.sizes(), of.of_keys.options());
    Launch call{.kernel = "summary_tokens_backward",
                .tensors = {keys, values, latents, in_.keys, in_.values, in_.sums, of.of_keys, of.of_values,
                            below.of_keys, below.of_values, of_latents}};
    add_strides(call, keys, 3);
    add_strides(call, values, 3);
    add_strides(call, latents, 2);
    call.sizes = {in_.groups(), in_.first.back(),     in_.first[l], count, children, r,
                  blocks * r,   below.of_keys.size(1)};
    call.constants = in_.constants();
    std::erase_if(call.constants, [](const auto& constant) { return constant.first == "ROTARY"; });
    call.constants.insert(call.constants.end(), {{"ROWS", rows},
                                                 {"BLOCK_N", narrow() ? 32 : 16},
                                                 {"ADD", l > 0},
                                                 {"num_warps", narrow() && rows == 16 ? 4 : 8},
                                                 {"num_stages", narrow() ? 2 : 1}});
    launch(call, in_.batch() * in_.groups() * count_tiles(count, blocks * r));
    return of_latents.unflatten(1, {count / r, r}).sum(at::IntArrayRef{0, 1}).transpose(0, 1);
  }

 private:
  /// Keys of summary_key_gradients, with its arguments.
  struct Keys {
    at::Tensor keys, values;
    int64_t window = 0, tokens = 1, siblings = 1, summaries = 1, known = 0, rotations = 0, added = 0;
    bool level = false, sinks = false;
  };

  bool narrow() const { return in_.q.element_size() == 2; }
  int64_t keys_in_tile() const { return narrow() && std::max(in_.q.size(3), in_.v.size(3)) <= 64 ? 64 : 32; }

  /// Gradients of keys that at most `queries` of the tokens see, in parts of these.
  KeyGradients split(const Keys& keys, int64_t queries, double scale) {
    const int64_t rows = keys.keys.size(1),
                  programs = count_tiles(rows, keys_in_tile()) * in_.groups() * in_.batch();
    const int64_t splits = std::clamp<int64_t>(kKeyPrograms / programs, 1, count_tiles(queries, kMinChunk));
    const auto parts = [&](int64_t width) {
      return at::empty({splits, in_.batch(), rows, in_.groups(), width}, in_.sums.options());
    };
    const KeyGradients all{parts(in_.q.size(3)), parts(in_.v.size(3))};
    launch_keys(keys, all, splits, count_tiles(queries, splits), scale);
    const auto sum = [&](const at::Tensor& x) { return splits == 1 ? x[0] : at::sum(x, 0); };
    return {sum(all.of_keys), sum(all.of_values)};
  }

  void launch_keys(const Keys& keys, const KeyGradients& to, int64_t splits, int64_t chunk, double scale) {
    Launch call{.kernel = "summary_key_gradients",
                .tensors = {in_.q, keys.keys, keys.values, grad_, logsumexp_, delta_, in_.cosine, in_.sine,
                            to.of_keys, to.of_values}};
    for (const at::Tensor& x : {in_.q, keys.keys, keys.values, grad_}) add_strides(call, x, 3);
    const int64_t rows = keys.keys.size(1);
    call.sizes = {in_.batch(), in_.heads(),   in_.heads() / in_.groups(),
                  in_.n(),     rows,          keys.added,
                  splits,      chunk,         keys.window,
                  keys.tokens, keys.siblings, keys.summaries,
                  keys.known,  keys.rotations};
    call.numbers = {scale};
    call.constants = in_.constants();
    call.constants.insert(call.constants.end(), {{"BLOCK_M", narrow() ? 32 : 16},
                                                 {"BLOCK_N", keys_in_tile()},
                                                 {"LEVEL", keys.level},
                                                 {"SINKS", keys.sinks},
                                                 {"GIVEN", in_.given},
                                                 {"num_warps", narrow() ? 4 : 8},
                                                 {"num_stages", narrow() ? 3 : 1}});
    launch(call, splits * in_.batch() * in_.groups() * count_tiles(rows, keys_in_tile()));
  }

  const SummaryInputs& in_;
  at::Tensor grad_, out_, logsumexp_, delta_;
};

}  // namespace

std::string summary_attention_backward_refuses(const at::Tensor&, const at::Tensor& q, const at::Tensor& k,
                                               const at::Tensor& v, const Optional& latents,
                                               const at::Tensor&, const at::Tensor&,
                                               const SummaryOptions& options, const RotaryEmbedding& rotary) {
  if (latents && latents->size(2) > (q.element_size() == 2 ? kMaxSummaries : kMaxFloatSummaries))
    return "takes at most 32 summary tokens of a block in bfloat16, 16 in float32";
  return summary_attention_refuses(q, k, v, latents, options, rotary);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> summary_attention_backward(
    const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
    const Optional& latents, const at::Tensor& out, const at::Tensor& logsumexp,
    const SummaryOptions& options, const RotaryEmbedding& rotary) {
  const KeyGradients tokens{at::empty(k.sizes(), k.options()), at::empty(v.sizes(), v.options())};
  auto of_latents = latents ? at::zeros(latents->sizes(), latents->options()) : at::empty({0}, q.options());
  if (logsumexp.numel() == 0)
    return {at::empty(q.sizes(), q.options()), tokens.of_keys.zero_(), tokens.of_values.zero_(), of_latents};
  SummaryInputs in(q, k, v, latents, options, rotary);
  summarise(in);
  SummaryBackward backward(grad, out, logsumexp, in);
  auto of_q = backward.queries(options.scale);
  std::vector<KeyGradients> levels;
  for (size_t l = 0; l < in.levels.size(); ++l) levels.push_back(backward.level(l, options.scale));
  for (size_t l = in.levels.size(); l-- > 0;)
    of_latents[static_cast<int64_t>(l)].copy_(
        backward.construction(l, levels[l], l == 0 ? tokens : levels[l - 1]));
  backward.windows(tokens, in.levels.empty() ? 0 : in.levels[0].finished * in.levels[0].children,
                   options.scale);
  if (in.sinks > 0) {
    const KeyGradients first = backward.sinks(options.scale);
    tokens.of_keys.narrow(1, 0, in.sinks).add_(first.of_keys);
    tokens.of_values.narrow(1, 0, in.sinks).add_(first.of_values);
  }
  return {of_q, tokens.of_keys, tokens.of_values, of_latents};
}

}  // namespace modewise::ops::cuda
