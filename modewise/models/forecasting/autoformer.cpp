// Autoformer (Wu et al., NeurIPS 2021) as in the authors' code: auto-correlation in
// place of attention adds up the values shifted by the delays of the highest correlation. Each window has
// delays of its own; the authors' code takes those of the batch during training.

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "modewise/models/forecasting/decomposition_transformer.h"
#include "modewise/ops/attention/softmax.h"
#include "modewise/ops/dense/matmul.h"

namespace modewise::models {
namespace {

struct AutoformerConfig : DecompositionOptions {
  double factor = 3;  // delays: ⌊factor · ln T⌋
  void fields(Fields& fields);
};

void AutoformerConfig::fields(Fields& f) {
  DecompositionOptions::fields(f);
  f.add("factor", factor, "delays of an auto-correlation over T steps: factor · ln T",
        {.min = 0.1, .max = 1e3});
}

class AutoCorrelation : public StepMixing {
 public:
  AutoCorrelation(nn::Initializer& init, int64_t width, double factor)
      : factor_(factor),
        query_(register_module("query_proj", std::make_shared<nn::Linear>(init, width, width))),
        key_(register_module("key_proj", std::make_shared<nn::Linear>(init, width, width))),
        value_(register_module("value_proj", std::make_shared<nn::Linear>(init, width, width))),
        out_(register_module("out_proj", std::make_shared<nn::Linear>(init, width, width))) {}

  at::Tensor forward(const at::Tensor& queries, const at::Tensor& source) override;

 private:
  double factor_;
  std::shared_ptr<nn::Linear> query_, key_, value_, out_;
};

at::Tensor AutoCorrelation::forward(const at::Tensor& queries, const at::Tensor& source) {
  const int64_t batch = queries.size(0), steps = queries.size(1);
  // Keys and values have as many steps as the queries: cut, or followed by zeros.
  const auto fitted = [&](const at::Tensor& x) {
    const at::Tensor cut = x.narrow(1, 0, std::min(x.size(1), steps));
    return at::constant_pad_nd(cut, {0, 0, 0, steps - cut.size(1)});
  };
  const at::Tensor q = query_->forward(queries), k = fitted(key_->forward(source)),
                   v = fitted(value_->forward(source));
  // Correlation at delay τ: the mean over the channels of Σ_t q[t + τ] k[t], a diagonal of q kᵀ.
  const at::Tensor places = at::arange(steps, at::TensorOptions(at::kLong).device(q.device()));
  const at::Tensor later = (places.unsqueeze(1) + places) % steps;  // [τ, t]: t + τ
  const at::Tensor products = ops::matmul(q, k.transpose(1, 2));
  const at::Tensor correlation =
      products.gather(1, later.expand({batch, steps, steps})).sum(-1) / static_cast<double>(q.size(2));

  const auto wanted = static_cast<int64_t>(factor_ * std::log(static_cast<double>(steps)));
  const at::Tensor delays = std::get<1>(correlation.detach().topk(std::clamp<int64_t>(wanted, 1, steps), -1));
  const at::Tensor weights =
      at::zeros_like(correlation).scatter(1, delays, ops::softmax(correlation.gather(1, delays)));
  // Step t receives the weight of delay τ from step t + τ.
  const at::Tensor delay = (places - places.unsqueeze(1) + steps) % steps;  // [t, s]: s − t
  const at::Tensor shifts =
      weights.unsqueeze(1).expand({batch, steps, steps}).gather(2, delay.expand({batch, steps, steps}));
  return out_->forward(ops::matmul(shifts, v));
}

class Autoformer : public DecompositionTransformer {
 public:
  Autoformer(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init)
      : DecompositionTransformer(config, shape, config.own.of<AutoformerConfig>(), false, init) {
    const AutoformerConfig& own = config.own.of<AutoformerConfig>();
    const auto make = [&] { return std::make_shared<AutoCorrelation>(init, config.width, own.factor); };
    build(config, own, init, make, make, make);
  }
};

void check_autoformer(const ForecasterConfig& config, const ForecastShape& /*shape*/,
                      const std::string& source) {
  check_decomposition(config.own.of<AutoformerConfig>(), "autoformer", source);
}

nn::ModelCost autoformer_cost(const ForecasterConfig& config, const ForecastShape& shape,
                              Projection /*projection*/) {
  const auto mixing = [&](nn::CostAccount& account, int64_t queries, int64_t keys, bool) {
    const int64_t width = config.width;
    const auto q = static_cast<double>(queries), k = static_cast<double>(keys),
               d = static_cast<double>(width);
    account.linear("query and key", width, width, q);
    account.linear("query and key", width, width, k);
    account.linear("value and output", width, width, k);
    account.linear("value and output", width, width, q);
    account.add("scores and mixing", 0, 2 * q * q * d);
    account.keep((3 * q + 2 * k) * d + 3 * q * q);
  };
  return decomposition_cost(config, shape, config.own.of<AutoformerConfig>(), mixing);
}

}  // namespace

ForecasterRow autoformer_row() {
  return {.name = "autoformer",
          .shared = {"width", "hidden", "layers", "dropout", "window"},
          .make = make_model<Autoformer>,
          .cost = autoformer_cost,
          .defaults = use_decomposition,
          .check = check_autoformer,
          .own = own_options<AutoformerConfig>,
          .future_covariates = true};
}

}  // namespace modewise::models
