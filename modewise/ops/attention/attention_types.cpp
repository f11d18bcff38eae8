#include "modewise/ops/attention/attention_types.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <cctype>

#include "modewise/core/aliases.h"
#include "modewise/ops/attention/attention_type_parts.h"
#include "modewise/ops/attention/fold_levels.h"
#include "modewise/ops/attention/kronecker_attention.h"
#include "modewise/ops/attention/sparse_attention.h"

namespace modewise::ops {
namespace {

constexpr TokenLayout kGrid = TokenLayout::grid;

// Query-key pair counts (see compared_pairs).

double matrix_pairs(const PairOptions& /*options*/, int64_t n) {
  return static_cast<double>(n) * static_cast<double>(n);
}

/// Each token with itself and earlier ones, or with all.
double token_pairs(const PairOptions& options, int64_t n) {
  if (!options.causal) return matrix_pairs(options, n);
  return static_cast<double>(n) * static_cast<double>(n + 1) / 2;
}

/// Blocks of queries with the keys around them.
double centred_pairs(const PairOptions& options, int64_t n) {
  const int64_t width = near_width(n, options.window, options.density);
  double pairs = 0;
  for (int64_t first = 0; first < n;) {
    const NearBlock block = near_block(first, n, width);
    pairs += static_cast<double>(block.rows) * static_cast<double>(block.keys);
    first += block.rows;
  }
  return pairs;
}

/// The window and the first tokens before it.
double near_pairs(const PairOptions& options, int64_t n) {
  if (options.type == "window" && !options.causal) return centred_pairs(options, n);
  const int64_t window = window_of(options, n),
                sinks = attention_type(options.type).sinks ? options.sinks : 0;
  double pairs = 0;
  for (int64_t token = 0; token < n; ++token) {
    const int64_t near = std::min(token + 1, window);
    pairs += static_cast<double>(near + std::min(sinks, token + 1 - near));
  }
  return pairs;
}

/// Every cell with its fibre along each attended mode, or with the earlier cells of the fibre.
double fibre_pairs(const PairOptions& options, int64_t n) {
  std::vector<int64_t> sizes = options.fold;
  int64_t rest = 1, cells = 1;
  for (size_t mode = 1; mode < sizes.size(); ++mode) rest *= sizes[mode];
  if (sizes.front() == 0) sizes.front() = (n + rest - 1) / rest;
  for (const int64_t size : sizes) cells *= size;
  const bool causal = options.causal && attention_type(options.type).causal;
  double pairs = 0;
  const size_t first = options.modes > 0 ? sizes.size() - static_cast<size_t>(options.modes) : 0;
  for (size_t mode = first; mode < sizes.size(); ++mode) {
    const auto size = static_cast<double>(sizes[mode]);
    pairs += static_cast<double>(cells) * (causal ? (size + 1) / 2 : size);
  }
  return pairs;
}

/// The window, the visible summary tokens, and the pairs that compute the summaries.
double summary_pairs(const PairOptions& options, int64_t n) {
  const int64_t summary_tokens = options.summary_tokens;
  double pairs = near_pairs(options, n);
  bool first = true;
  for (const FoldLevel& level : fold_levels(options.fold, n)) {
    for (int64_t token = 0; token < n; ++token)
      pairs += static_cast<double>(summary_tokens * (level.own(token) - level.group(token)));
    pairs +=
        static_cast<double>(level.finished * summary_tokens * level.children * (first ? 1 : summary_tokens));
    first = false;
  }
  return pairs;
}

double projected_pairs(const PairOptions& options, int64_t n) {
  return static_cast<double>(n) * static_cast<double>(projected_length(options.own, options.longest));
}

double feature_pairs(const PairOptions& options, int64_t n) {
  return static_cast<double>(n) *
         static_cast<double>(linear_feature_count(options.head_width, options.own["features"]));
}

/// Tokens × landmarks, landmarks × landmarks, landmarks × tokens.
double landmark_pairs(const PairOptions& options, int64_t n) {
  const auto m = static_cast<double>(std::min(options.own["landmarks"], n));
  return m * (2 * static_cast<double>(n) + m);
}

/// Each token of a chunk with its own chunk and the one before, in every round.
double bucket_pairs(const PairOptions& options, int64_t n) {
  const int64_t chunk = options.own["chunk"], chunks = (n + chunk - 1) / chunk;
  return static_cast<double>(options.own["rounds"]) * static_cast<double>(chunks * chunk) *
         static_cast<double>(2 * chunk);
}

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
     .dropout = true, .own = {{{"projected", "projected sequence length; 0: a quarter of the tokens"}}},
     .titled = {"projected"}, .pairs = projected_pairs},
    {.name = "nystroemformer", .summary = "landmarks and the pseudo-inverse of their matrix",
     .own = {{{"landmarks", "number of landmarks", 64, 1, 1 << 16},
              {"kernel", "kernel size of the convolution of the values, odd; 0: none", 33, 0, 1 << 16}}},
     .titled = {"landmarks"}, .pairs = landmark_pairs},
    {.name = "performer", .summary = "random features in place of the softmax",
     .own = {{{"features", "number of random features; 0: d ln d for heads of width d"}}},
     .titled = {"features"}, .pairs = feature_pairs},
    {.name = "reformer", .summary = "tokens of the same hash bucket",
     .shared_keys = true,
     .own = {{{"chunk", "tokens per chunk; a token attends to two chunks", 64, 1},
              {"rounds", "number of hashing rounds", 4, 1, 64}}},
     .titled = {"rounds", "chunk"}, .pairs = bucket_pairs},

    {.name = "dot-product", .layout = kGrid, .code = "CT", .summary = "softmax(Q Kᵀ / √d) V",
     .causal = true, .cross_attention = true},
    {.name = "linformer", .layout = kGrid, .code = "CL",
     .summary = "softmax attention with keys and values projected to fewer",
     .cross_attention = true},
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

size_t option_index(std::string_view name) {
  const std::vector<AttentionOption>& all = attention_options();
  const auto found = std::ranges::find(all, name, &AttentionOption::name);
  TORCH_CHECK_VALUE(found != all.end(), "unknown attention option '", name, "'");
  return static_cast<size_t>(found - all.begin());
}

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

const std::vector<AttentionOption>& attention_options() {
  static const std::vector<AttentionOption> all = [] {
    std::vector<AttentionOption> out;
    for (const AttentionType& type : kTypes)
      for (const AttentionOption& option : type.own) {
        if (option.name.empty()) continue;
        out.push_back(option);
        out.back().type = type.name;
      }
    return out;
  }();
  return all;
}

AttentionOptionValues::AttentionOptionValues() {
  for (const AttentionOption& option : attention_options()) values_.push_back(option.standard);
}

AttentionOptionValues& AttentionOptionValues::operator=(const AttentionOptionValues& other) {
  std::ranges::copy(other.values_, values_.begin());
  return *this;
}

int64_t& AttentionOptionValues::operator[](std::string_view name) {
  return values_[option_index(name)];
}

int64_t AttentionOptionValues::operator[](std::string_view name) const {
  return values_[option_index(name)];
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

int64_t projected_length(const AttentionOptionValues& own, int64_t longest) {
  const int64_t projected = own["projected"];
  return projected > 0 ? projected : std::max<int64_t>(longest / 4, 1);
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
