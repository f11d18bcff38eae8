#include "modewise/analysis/sequence_cost.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "modewise/analysis/members_cost.h"
#include "modewise/models/series_classification/convolutions.h"
#include "modewise/models/series_classification/minirocket_features.h"
#include "modewise/models/series_classification/shapelet_distance.h"
#include "modewise/nn/attention/sequence_attention.h"
#include "modewise/ops/attention/attention_types.h"

namespace modewise::analysis {
namespace {

double half_bytes(const std::string& precision) {
  return precision == "bf16" ? 2 : 4;
}

void add_attention(CostAccount& account, const ops::TensorAttentionOptions& options, int64_t summary_tokens,
                   int64_t n, double rows, int64_t width) {
  account.add("scores and mixing", 0,
              rows * 2 * ops::compared_pairs(options, summary_tokens, n) * static_cast<double>(width));
}

int64_t latents_of(const ops::TensorAttentionOptions& options, int64_t summary_tokens, int64_t width) {
  return ops::latent_levels(options) * summary_tokens * width;
}

ModelCost patch_classifier_cost(const models::SeriesModelConfig& config, const models::SeriesShape& shape) {
  const int64_t groups = config.patch.channels == "independent" ? shape.variables : 1,
                channels = shape.variables / groups + (shape.padded ? 1 : 0),
                tokens = config.tokens(shape.length), width = config.width;
  const auto rows = static_cast<double>(groups), count = static_cast<double>(groups * tokens);
  const nn::SequenceAttentionOptions options = config.attention.options(width, config.heads, tokens);
  CostAccount account(half_bytes(config.precision));
  account.layer("embedding");
  account.linear("embedding", channels * config.patch.length, width, count);
  account.add("position embeddings", (tokens + (groups > 1 ? groups : 0)) * width, 0);
  for (int64_t block = 0; block < config.blocks; ++block) {
    account.layer("block " + std::to_string(block + 1));
    add_sequence_attention(account, options, tokens, rows);
    account.linear("feed-forward", width, config.hidden, count);
    account.linear("feed-forward", config.hidden, width, count);
    for (int i = 0; i < 2; ++i) account.norm(width, count);
    account.keep(count * static_cast<double>(9 * width + 2 * config.hidden));
  }
  account.layer("head");
  const bool mean = config.head.pooling == "mean", flat = config.head.pooling == "flatten";
  account.norm(width, mean ? 1 : count);
  if (!mean && !flat) {
    account.linear("head", width, config.heads, count, false);
    account.add("head", 0, count * static_cast<double>(width));
  }
  account.linear("head", flat ? groups * tokens * width : width, shape.classes, 1);
  ModelCost cost = std::move(account).cost(groups > 1 ? std::vector<int64_t>{groups, tokens}
                                                      : std::vector<int64_t>{tokens});
  cost.weight_share = nn::weight_share(options, tokens);
  return cost;
}

ModelCost temporal_cost(const models::SeriesModelConfig& config, const models::SeriesShape& shape) {
  const models::SeriesConvolutionConfig& c = config.convolution;
  CostAccount account(half_bytes(config.precision));
  int64_t in = shape.variables, level = 0;
  for (const models::TemporalSteps& steps : models::temporal_steps(c, shape.length)) {
    account.layer("level " + std::to_string(++level));
    const auto first = static_cast<double>(steps.first), second = static_cast<double>(steps.second);
    for (const auto& [from, places] : {std::pair(in, first), std::pair(c.width, second)}) {
      account.linear("convolutions", c.kernel * from, c.width, places);
      account.add("convolutions", c.width, 0);  // norms of the weights (weight normalisation)
      account.keep(places * static_cast<double>(2 * c.width));
    }
    if (in != c.width) account.linear("convolutions", in, c.width, second);
    in = c.width;
  }
  account.layer("head");
  account.linear("head", c.width, shape.classes, 1);
  return std::move(account).cost({});
}

ModelCost series_network_cost(const models::SeriesModelConfig& config, const models::SeriesShape& shape) {
  const auto steps = static_cast<double>(shape.length);
  const int64_t width = config.convolution.width;
  CostAccount account(half_bytes(config.precision));
  int64_t in = shape.variables;
  for (const int64_t out : {width, 2 * width, 2 * width}) {
    account.layer("block");
    int64_t from = in;
    for (const int64_t kernel : {8, 5, 3}) {
      account.linear("convolutions", kernel * from, out, steps, false);
      account.norm(out, steps);
      account.keep(steps * static_cast<double>(2 * out));
      from = out;
    }
    if (in != out) account.linear("convolutions", in, out, steps, false);
    account.norm(out, steps);
    in = out;
  }
  account.layer("head");
  account.linear("head", in, shape.classes, 1);
  return std::move(account).cost({});
}

ModelCost plain_series_cost(const models::SeriesModelConfig& config, const models::SeriesShape& shape) {
  CostAccount account;
  const int64_t values = shape.variables * shape.length;
  if (config.name == "nearest") {
    account.add("distances", 0, static_cast<double>(shape.training_samples * values));
  } else if (config.name == "minirocket") {
    const int64_t features = config.rocket.features / models::kRocketKernels * models::kRocketKernels;
    account.add("features", 0, static_cast<double>(features * shape.length));
    account.add("linear", 0, static_cast<double>(features * shape.classes));
  } else if (config.name == "shapelet-forest") {
    // A shapelet of mean length along one variable at each node on a path of a balanced tree: sums of
    // products, or the product of two spectra and its Fourier transform.
    const auto steps = static_cast<double>(shape.length);
    const double length = (config.forest.shortest + config.forest.longest) / 2 * steps,
                 depth = std::log2(static_cast<double>(std::max<int64_t>(shape.training_samples, 2)));
    const auto transform = static_cast<double>(models::transform_steps(
        static_cast<size_t>(std::max(length, 1.0)), static_cast<size_t>(shape.length)));
    const double products =
        transform > 0 ? transform * (std::log2(transform) + 2) : length * std::max(steps - length, 1.0);
    account.add("distances", 0, static_cast<double>(config.forest.trees) * depth * products);
  } else {
    account.linear("linear", values, shape.classes, 1);
    account.linear("linear", values, shape.classes, 1, false);
  }
  return std::move(account).cost({});
}

}  // namespace

void add_sequence_attention(CostAccount& account, const nn::SequenceAttentionOptions& options, int64_t n,
                            double samples) {
  const nn::SequenceAttentionEntry& type = *nn::find_sequence_attention(options.type);
  const double count = samples * static_cast<double>(n);
  for (int i = type.keys ? 0 : 1; i < 4; ++i)
    account.linear(i < 2 ? "query and key" : "value and output", options.width, options.width, count,
                   options.bias);
  if (type.learned) account.add("query and key", type.learned(options), 0);
  double products = 2 * type.pairs(options, n) * static_cast<double>(options.width);
  if (type.beside) products += type.beside(options, n);
  account.add("scores and mixing", 0, samples * products);
}

ModelCost series_cost(const models::SeriesModelConfig& config, const models::SeriesShape& shape) {
  models::validate(config, shape);
  if (config.name == "patchtst") return patch_classifier_cost(config, shape);
  if (config.name == "tcn") return temporal_cost(config, shape);
  if (config.name == "resnet") return series_network_cost(config, shape);
  if (config.name == "ensemble") return members_cost(config, shape, series_cost);
  return plain_series_cost(config, shape);
}

ModelCost sequence_cost(const nn::SequenceAttentionOptions& options, int64_t n) {
  CostAccount account;
  account.layer("attention");
  add_sequence_attention(account, options, n, 1);
  ModelCost cost = std::move(account).cost({n});
  cost.weight_share = nn::weight_share(options, n);
  return cost;
}

ModelCost language_cost(const models::LanguageModelConfig& chosen) {
  const models::LanguageModelConfig c = chosen.resolved();
  const ops::TensorAttentionOptions options = c.attention_options();
  const int64_t queries = c.heads * c.head_width, keys = c.kv_heads * c.head_width;
  const auto n = static_cast<double>(c.context), d = static_cast<double>(c.width),
             hidden = static_cast<double>(c.hidden);
  CostAccount account(half_bytes(c.precision));
  account.layer("embedding");
  account.add("embedding", c.vocabulary * c.width, 0);
  for (int64_t layer = 0; layer < c.layers; ++layer) {
    account.layer("layer " + std::to_string(layer + 1));
    account.add("norms", 2 * c.width, 2 * n * d);
    account.linear("query and key", c.width, queries, n, false);
    account.linear("query and key", c.width, keys, n, false);
    account.linear("value and output", c.width, keys, n, false);
    account.linear("value and output", queries, c.width, n, false);
    account.add("query and key", latents_of(options, c.attention.summary_tokens, keys), 0);
    add_attention(account, options, c.attention.summary_tokens, c.context, 1, queries);
    account.add("feed-forward", 3 * c.width * c.hidden, n * (3 * d * hidden + hidden));
    account.keep(n * (6 * d + 3 * hidden));
  }
  account.layer("head");
  account.add("norms", c.width, n * d);
  account.add("head", c.tied ? 0 : c.vocabulary * c.width, n * d * static_cast<double>(c.vocabulary));
  return std::move(account).cost({c.context});
}

}  // namespace modewise::analysis
