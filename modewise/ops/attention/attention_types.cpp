#include "modewise/ops/attention/attention_types.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <cctype>

#include "modewise/core/aliases.h"
#include "modewise/ops/attention/attention_type_parts.h"

namespace modewise::ops {
namespace {

constexpr TokenLayout kGrid = TokenLayout::grid;

// Sequences first; those of tensor_attention before the others.
// clang-format off
constexpr AttentionType kTypes[] = {
    {.name = "full", .summary = "every token attends to every token",
     .causal = true, .dropout = true,
     .run = attend_tokens, .memory = keep_tokens, .cache = tokens_cache, .pairs = token_pairs},
    {.name = "window", .summary = "a sliding window of nearby tokens",
     .causal = true, .dropout = true, .window = true, .density = true,
     .run = attend_near, .memory = make_summary_memory, .cache = summary_cache, .pairs = near_pairs},
    {.name = "lambda", .summary = "causal: a sliding window and the first tokens, its attention sinks",
     .causal = true, .has_module = false, .window = true, .sinks = true,
     .run = attend_summaries, .memory = make_summary_memory, .cache = summary_cache, .pairs = near_pairs},
    {.name = "axial", .summary = "the paper's tensor attention: along one mode of the fold after another",
     .causal = true, .dropout = true, .fold = true, .order = true,
     .run = attend_fibres, .memory = keep_stages, .cache = stages_cache, .pairs = fibre_pairs},
    {.name = "pooled", .summary = "axial, with weights shared by all fibres of a mode",
     .dropout = true, .fold = true, .run = attend_shared, .pairs = fibre_pairs},
    {.name = "summary", .summary = "causal: a sliding window and summary tokens of earlier blocks",
     .causal = true, .fold = true, .window = true, .latents = true,
     .run = attend_summaries, .memory = make_summary_memory, .cache = summary_cache, .pairs = summary_pairs},
    {.name = "random", .summary = "a random subset of the tokens",
     .causal = true, .dropout = true, .density = true,
     .run = attend_sparse, .memory = keep_tokens, .cache = tokens_cache, .pairs = matrix_pairs},
    {.name = "topk", .summary = "the tokens with the largest logits",
     .causal = true, .dropout = true, .density = true,
     .run = attend_sparse, .memory = keep_tokens, .cache = tokens_cache, .pairs = matrix_pairs},
    {.name = "linformer", .summary = "keys and values projected to fewer",
     .dropout = true, .projected = true, .pairs = projected_pairs},
    {.name = "performer", .summary = "random features in place of the softmax",
     .features = true, .pairs = feature_pairs},
    {.name = "nystroemformer", .summary = "landmarks and the pseudo-inverse of their matrix",
     .landmarks = true, .pairs = landmark_pairs},
    {.name = "reformer", .summary = "tokens of the same hash bucket",
     .shared_keys = true, .hashes = true, .pairs = bucket_pairs},

    {.name = "dot-product", .layout = kGrid, .code = "CT", .summary = "softmax(Q Kᵀ / √d) V",
     .causal = true, .cross_attention = true},
    {.name = "linformer", .layout = kGrid, .code = "CL",
     .summary = "softmax attention with keys and values projected to fewer",
     .cross_attention = true, .projected = true},
    {.name = "dense", .layout = kGrid, .code = "SD",
     .summary = "two linear layers map each token to its row of logits (Tay et al.)",
     .causal = true, .cross_attention = true},
    {.name = "stt", .layout = kGrid, .code = "STT",
     .summary = "mode products of the feature map, channels reduced"},
    {.name = "tensor-height", .layout = kGrid, .code = "STTH",
     .summary = "mode products of the feature map, height reduced"},
    {.name = "tensor-width", .layout = kGrid, .code = "STTW",
     .summary = "mode products of the feature map, width reduced"},
    {.name = "additive", .layout = kGrid, .summary = "sum of stt, tensor-height and tensor-width"},
    {.name = "random", .layout = kGrid, .code = "SR", .summary = "a learned matrix, the same for all samples",
     .causal = true, .cross_attention = true, .reads_tokens = false},
    {.name = "random-fixed", .layout = kGrid, .summary = "a fixed random matrix",
     .causal = true, .cross_attention = true, .reads_tokens = false},
    {.name = "factorized-dense", .layout = kGrid, .code = "FSD",
     .summary = "stt with Kronecker-factorized matrices"},
    {.name = "factorized-random", .layout = kGrid, .code = "FSR",
     .summary = "softmax of a Kronecker product of small learned matrices",
     .causal = true, .cross_attention = true, .reads_tokens = false},
    {.name = "product-random", .layout = kGrid, .summary = "Kronecker product of small softmax matrices",
     .reads_tokens = false},
    {.name = "mixture", .layout = kGrid, .code = "MS",
     .summary = "stt and factorized-random mixed before the softmax"},
    {.name = "mixture-dense", .layout = kGrid,
     .summary = "dense and factorized-random mixed before the softmax",
     .causal = true, .cross_attention = true},
    {.name = "mixture-printed", .layout = kGrid,
     .summary = "Eq. 20 as printed: probabilities mixed with logits"},
    {.name = "kronecker", .layout = kGrid,
     .summary = "Kronecker product of one softmax matrix per mode (HOT)"},
    {.name = "kronecker-sum", .layout = kGrid,
     .summary = "mean Kronecker sum of one softmax matrix per mode"},
};
// clang-format on

bool same_code(std::string_view a, std::string_view b) {
  return !a.empty() && std::ranges::equal(a, b, [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

}  // namespace

std::span<const AttentionType> attention_types(TokenLayout layout) {
  constexpr const AttentionType* grid = std::ranges::find(kTypes, kGrid, &AttentionType::layout);
  return layout == kGrid ? std::span(grid, std::end(kTypes)) : std::span(std::begin(kTypes), grid);
}

std::vector<std::string> attention_names(TokenLayout layout) {
  std::vector<std::string> names;
  for (const AttentionType& type : attention_types(layout)) names.emplace_back(type.name);
  return names;
}

const AttentionType* find_attention_type(std::string_view name, TokenLayout layout) {
  const std::string current = current_attention(std::string(name));
  const auto types = attention_types(layout);
  const auto found = std::ranges::find_if(types, [&](const AttentionType& type) {
    return type.name == current || same_code(type.code, current);
  });
  return found == types.end() ? nullptr : &*found;
}

const AttentionType& attention_type(std::string_view name) {
  const AttentionType* type = find_attention_type(name);
  if (type != nullptr && type->run != nullptr) return *type;
  std::string names, last;
  for (const AttentionType& one : attention_types()) {
    if (one.run == nullptr) continue;
    if (!last.empty()) names += (names.empty() ? "" : ", ") + last;
    last = one.name;
  }
  TORCH_CHECK_VALUE(false, "tensor_attention: form must be ", names, " or ", last, ", got ",
                    std::string(name));
}

int64_t latent_levels(const TensorAttentionOptions& options) {
  const auto modes = static_cast<int64_t>(options.fold.size());
  return attention_type(options.type).latents && modes > 1 ? modes - 1 : 0;
}

double compared_pairs(const PairOptions& options, int64_t n) {
  const AttentionType* type = find_attention_type(options.type);
  TORCH_CHECK_VALUE(type != nullptr, "compared_pairs: unknown attention type '", options.type, "'");
  return type->pairs(options, n);
}

}  // namespace modewise::ops
