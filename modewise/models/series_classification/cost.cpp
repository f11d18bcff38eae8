#include "modewise/models/series_classification/cost.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "modewise/models/series_classification/convolutions.h"
#include "modewise/models/series_classification/minirocket_features.h"
#include "modewise/models/series_classification/shapelet_distance.h"
#include "modewise/nn/attention/attention_cost.h"

namespace modewise::models {

nn::ModelCost patch_classifier_cost(const SeriesModelConfig& config, const SeriesShape& shape) {
  const int64_t groups = config.patch.channels == "independent" ? shape.variables : 1,
                channels = shape.variables / groups + (shape.padded ? 1 : 0),
                tokens = config.tokens(shape.length), width = config.width;
  const auto rows = static_cast<double>(groups), count = static_cast<double>(groups * tokens);
  const nn::SequenceAttentionOptions options = config.attention.options(width, config.heads, tokens);
  nn::CostAccount account(config.precision);
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
  nn::ModelCost cost = std::move(account).cost(groups > 1 ? std::vector<int64_t>{groups, tokens}
                                                          : std::vector<int64_t>{tokens});
  cost.weight_share = nn::weight_share(options, tokens);
  return cost;
}

nn::ModelCost nearest_neighbor_cost(const SeriesModelConfig& /*config*/, const SeriesShape& shape) {
  nn::CostAccount account;
  account.add("distances", 0, static_cast<double>(shape.training_samples * shape.variables * shape.length));
  return std::move(account).cost({});
}

nn::ModelCost linear_classifier_cost(const SeriesModelConfig& /*config*/, const SeriesShape& shape) {
  nn::CostAccount account;
  account.linear("linear", shape.variables * shape.length, shape.classes, 1);
  account.linear("linear", shape.variables * shape.length, shape.classes, 1, false);
  return std::move(account).cost({});
}

nn::ModelCost temporal_convolutions_cost(const SeriesModelConfig& config, const SeriesShape& shape) {
  const int64_t width = config.convolution.width;
  nn::CostAccount account(config.precision);
  int64_t in = shape.variables, level = 0;
  for (const TemporalSteps& steps : temporal_steps(config.tcn, shape.length)) {
    account.layer("level " + std::to_string(++level));
    const auto first = static_cast<double>(steps.first), second = static_cast<double>(steps.second);
    for (const auto& [from, places] : {std::pair(in, first), std::pair(width, second)}) {
      account.linear("convolutions", config.tcn.kernel * from, width, places);
      account.add("convolutions", width, 0);  // norms of the weights (weight normalisation)
      account.keep(places * static_cast<double>(2 * width));
    }
    if (in != width) account.linear("convolutions", in, width, second);
    in = width;
  }
  account.layer("head");
  account.linear("head", width, shape.classes, 1);
  return std::move(account).cost({});
}

nn::ModelCost series_residual_network_cost(const SeriesModelConfig& config, const SeriesShape& shape) {
  const auto steps = static_cast<double>(shape.length);
  const int64_t width = config.convolution.width;
  nn::CostAccount account(config.precision);
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

nn::ModelCost shapelet_forest_cost(const SeriesModelConfig& config, const SeriesShape& shape) {
  // A shapelet of mean length along one variable at each node on a path of a balanced tree: sums of products,
  // or the product of two spectra and its Fourier transform.
  const auto steps = static_cast<double>(shape.length);
  const double length = (config.shapelet_forest.shortest + config.shapelet_forest.longest) / 2 * steps,
               depth = std::log2(static_cast<double>(std::max<int64_t>(shape.training_samples, 2)));
  const auto transform = static_cast<double>(
      transform_steps(static_cast<size_t>(std::max(length, 1.0)), static_cast<size_t>(shape.length)));
  const double products =
      transform > 0 ? transform * (std::log2(transform) + 2) : length * std::max(steps - length, 1.0);
  nn::CostAccount account;
  account.add("distances", 0, static_cast<double>(config.shapelet_forest.trees) * depth * products);
  return std::move(account).cost({});
}

nn::ModelCost minirocket_cost(const SeriesModelConfig& config, const SeriesShape& shape) {
  const int64_t features = config.minirocket.features / kRocketKernels * kRocketKernels;
  nn::CostAccount account;
  account.add("features", 0, static_cast<double>(features * shape.length));
  account.add("linear", 0, static_cast<double>(features * shape.classes));
  return std::move(account).cost({});
}

nn::ModelCost series_cost(const SeriesModelConfig& config, const SeriesShape& shape) {
  validate(config, shape);
  return row_of(series_models(), config.name).cost(config, shape);
}

}  // namespace modewise::models
