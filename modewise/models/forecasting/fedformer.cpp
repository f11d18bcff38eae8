// FEDformer with Fourier blocks (Zhou et al., ICML 2022), as in TSLib's version of the authors' code:
// steps are mixed at a few frequencies, which are drawn with the model's seed and saved with
// its weights.

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>

#include "modewise/models/forecasting/decomposition_transformer.h"
#include "modewise/ops/dense/elementary.h"
#include "modewise/ops/dense/matmul.h"

namespace modewise::models {
namespace {

struct FedformerConfig : DecompositionOptions {
  int64_t frequencies = 32;
  std::string select = "random";  // random | low
  void fields(Fields& fields);
};

void FedformerConfig::fields(Fields& f) {
  DecompositionOptions::fields(f);
  f.add("frequencies", frequencies, "frequencies at which steps are mixed; at most half of the steps",
        {.min = 1, .max = 1e6});
  f.add("select", select, "frequencies: random (drawn with train.seed) or low (the lowest)",
        {.one_of = {"random", "low"}});
}

int64_t frequency_count(const FedformerConfig& config, int64_t steps) {
  return std::min(config.frequencies, std::max<int64_t>(steps / 2, 1));
}

/// Frequencies of a series of `steps` steps in ascending order: [m].
at::Tensor select_frequencies(const FedformerConfig& config, int64_t steps, nn::Initializer& init) {
  const int64_t all = std::max<int64_t>(steps / 2, 1), count = frequency_count(config, steps);
  if (config.select == "low") return at::arange(count, at::kLong);
  return std::get<0>(init.uniform({all}, 1).argsort().narrow(0, 0, count).sort());
}

/// A real and an imaginary part.
struct Complex {
  at::Tensor re, im;
};

/// a · b, complex.
Complex product(const Complex& a, const Complex& b) {
  return {ops::matmul(a.re, b.re) - ops::matmul(a.im, b.im),
          ops::matmul(a.re, b.im) + ops::matmul(a.im, b.re)};
}

/// cos and sin of 2π f t / T: [m, T] for frequencies [m].
Complex waves(const at::Tensor& frequencies, int64_t steps, const at::Tensor& like) {
  const at::Tensor turns = frequencies.unsqueeze(1) * at::arange(steps, frequencies.options()) % steps;
  const at::Tensor angles = turns.to(at::kDouble) * (2 * std::numbers::pi / static_cast<double>(steps));
  return {ops::elementary(angles, "cos").to(like.scalar_type()),
          ops::elementary(angles, "sin").to(like.scalar_type())};
}

/// Fourier coefficients of x [B, T, D] at the frequencies: [B, m, D].
Complex coefficients(const at::Tensor& x, const at::Tensor& frequencies) {
  const Complex wave = waves(frequencies, x.size(1), x);
  return {ops::matmul(wave.re, x), -ops::matmul(wave.im, x)};
}

/// Real series of T steps [B, T, D] with these coefficients [B, m, D] and zeros at other frequencies, as
/// irfft: the imaginary parts at frequencies 0 and T/2 do not count.
at::Tensor series_of(const Complex& x, const at::Tensor& frequencies, int64_t steps) {
  const Complex wave = waves(frequencies, steps, x.re);
  const at::Tensor doubled = frequencies.remainder(steps).ne(0).logical_and((frequencies * 2).ne(steps));
  const at::Tensor weights = (doubled.to(x.re.scalar_type()) + 1).unsqueeze(1) / static_cast<double>(steps);
  const at::Tensor re = (wave.re * weights).transpose(0, 1), im = (wave.im * weights).transpose(0, 1);
  return ops::matmul(re, x.re) - ops::matmul(im, x.im);
}

/// x [B, m, D] by heads: [B, H, m, D / H].
at::Tensor by_head(const at::Tensor& x, int64_t heads) {
  return x.unflatten(2, {heads, -1}).transpose(1, 2);
}
Complex by_head(const Complex& x, int64_t heads) {
  return {by_head(x.re, heads), by_head(x.im, heads)};
}

/// Complex linear map per head and frequency.
class FrequencyLinear : public torch::nn::Module {
 public:
  FrequencyLinear(nn::Initializer& init, int64_t width, int64_t heads, int64_t frequencies) {
    const double scale = 1 / static_cast<double>(width * width);  // weights from 0 to `scale`
    const std::vector<int64_t> sizes{heads, width / heads, width / heads, frequencies};
    re_ = register_parameter("weights1", init.uniform(sizes, scale / 2).add_(scale / 2));
    im_ = register_parameter("weights2", init.uniform(sizes, scale / 2).add_(scale / 2));
  }

  /// x [B, H, m, E] -> [B, m, D]
  Complex forward(const Complex& x) const {
    const auto rows = [](const at::Tensor& part) { return part.permute({1, 2, 0, 3}); };  // [H, m, B, E]
    const auto maps = [](const at::Tensor& part) { return part.permute({0, 3, 1, 2}); };  // [H, m, E, E]
    const Complex y = product({rows(x.re), rows(x.im)}, {maps(re_), maps(im_)});
    const auto joined = [](const at::Tensor& part) { return part.permute({2, 1, 0, 3}).flatten(2); };
    return {joined(y.re), joined(y.im)};
  }

 private:
  at::Tensor re_, im_;  // [H, E, E, m]
};

/// The authors' code reads the result [B, D, T] as [B, T, D].
at::Tensor as_authors_read(const at::Tensor& x) {
  return x.transpose(1, 2).contiguous().view(x.sizes());
}

/// Fourier enhanced block: its frequencies and maps are shared by all layers of the encoder, or of the
/// decoder. Writes the i-th chosen frequency to frequency i, as the authors' code.
class FourierBlock : public torch::nn::Module {
 public:
  FourierBlock(const ForecasterConfig& config, int64_t steps, nn::Initializer& init)
      : heads_(config.heads),
        frequencies_(register_buffer("frequencies",
                                     select_frequencies(config.own.of<FedformerConfig>(), steps, init))),
        linear_(register_module("linear", std::make_shared<FrequencyLinear>(init, config.width, config.heads,
                                                                            frequencies_.size(0)))) {}

  at::Tensor forward(const at::Tensor& x) const {
    const Complex y = linear_->forward(by_head(coefficients(x, frequencies_.to(at::kLong)), heads_));
    const at::Tensor lowest = at::arange(y.re.size(1), at::TensorOptions(at::kLong).device(x.device()));
    return as_authors_read(series_of(y, lowest, x.size(1)));
  }

 private:
  int64_t heads_;
  at::Tensor frequencies_;
  std::shared_ptr<FrequencyLinear> linear_;
};

/// Fourier enhanced attention of the decoder's steps with the encoder's.
class FourierCross : public torch::nn::Module {
 public:
  FourierCross(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init)
      : width_(config.width),
        heads_(config.heads),
        queries_(register_buffer(
            "queries", select_frequencies(config.own.of<FedformerConfig>(), decoder_steps(shape), init))),
        keys_(register_buffer("keys",
                              select_frequencies(config.own.of<FedformerConfig>(), shape.lookback, init))),
        linear_(register_module("linear", std::make_shared<FrequencyLinear>(init, config.width, config.heads,
                                                                            queries_.size(0)))) {}

  at::Tensor forward(const at::Tensor& queries, const at::Tensor& keys) const {
    const at::Tensor wanted = queries_.to(at::kLong);
    const Complex q = by_head(coefficients(queries, wanted), heads_),
                  k = by_head(coefficients(keys, keys_.to(at::kLong)), heads_);
    const Complex scores = product(q, {k.re.transpose(2, 3), k.im.transpose(2, 3)});
    const Complex weights = {ops::elementary(scores.re, "tanh"), ops::elementary(scores.im, "tanh")};
    const Complex y = linear_->forward(product(weights, k));
    const double scale = static_cast<double>(width_ * width_);
    return as_authors_read(series_of(y, wanted, queries.size(1)) / scale);
  }

 private:
  int64_t width_, heads_;
  at::Tensor queries_, keys_;
  std::shared_ptr<FrequencyLinear> linear_;
};

/// Projections of one layer around a block that layers share and the model owns.
class FourierMixing : public StepMixing {
 public:
  FourierMixing(nn::Initializer& init, int64_t width, std::shared_ptr<FourierBlock> block)
      : block_(std::move(block)),
        query_(register_module("query_proj", std::make_shared<nn::Linear>(init, width, width))),
        out_(register_module("out_proj", std::make_shared<nn::Linear>(init, width, width))) {}

  at::Tensor forward(const at::Tensor& queries, const at::Tensor&) override {
    return out_->forward(block_->forward(query_->forward(queries)));
  }

 private:
  std::shared_ptr<FourierBlock> block_;
  std::shared_ptr<nn::Linear> query_, out_;
};

class FourierCrossMixing : public StepMixing {
 public:
  FourierCrossMixing(nn::Initializer& init, int64_t width, std::shared_ptr<FourierCross> block)
      : block_(std::move(block)),
        query_(register_module("query_proj", std::make_shared<nn::Linear>(init, width, width))),
        key_(register_module("key_proj", std::make_shared<nn::Linear>(init, width, width))),
        out_(register_module("out_proj", std::make_shared<nn::Linear>(init, width, width))) {}

  at::Tensor forward(const at::Tensor& queries, const at::Tensor& source) override {
    return out_->forward(block_->forward(query_->forward(queries), key_->forward(source)));
  }

 private:
  std::shared_ptr<FourierCross> block_;
  std::shared_ptr<nn::Linear> query_, key_, out_;
};

class Fedformer : public DecompositionTransformer {
 public:
  Fedformer(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init)
      : DecompositionTransformer(config, shape, config.own.of<FedformerConfig>(), true, init) {
    const auto encoder =
        register_module("encoder_fourier", std::make_shared<FourierBlock>(config, shape.lookback, init));
    const auto decoder = register_module("decoder_fourier",
                                         std::make_shared<FourierBlock>(config, decoder_steps(shape), init));
    const auto cross = register_module("cross_fourier", std::make_shared<FourierCross>(config, shape, init));
    const auto mixing = [&](const std::shared_ptr<FourierBlock>& block) {
      return [&, block] { return std::make_shared<FourierMixing>(init, config.width, block); };
    };
    build(config, config.own.of<FedformerConfig>(), init, mixing(encoder), mixing(decoder),
          [&] { return std::make_shared<FourierCrossMixing>(init, config.width, cross); });
  }
};

void check_fedformer(const ForecasterConfig& config, const ForecastShape& shape, const std::string& source) {
  check_heads(config, shape, source);
  check_decomposition(config.own.of<FedformerConfig>(), "fedformer", source);
}

nn::ModelCost fedformer_cost(const ForecasterConfig& config, const ForecastShape& shape,
                             Projection /*projection*/) {
  const FedformerConfig& own = config.own.of<FedformerConfig>();
  const int64_t width = config.width;
  const auto d = static_cast<double>(width), heads = static_cast<double>(config.heads);
  const int64_t map = 2 * width * (width / config.heads), ahead = frequency_count(own, decoder_steps(shape));
  int64_t maps = map * (frequency_count(own, shape.lookback) + 2 * ahead);  // shared by layers: counted once
  const auto mixing = [&](nn::CostAccount& account, int64_t queries, int64_t keys, bool cross) {
    const auto q = static_cast<double>(queries), k = static_cast<double>(keys),
               m = static_cast<double>(frequency_count(own, queries)),
               n = static_cast<double>(frequency_count(own, keys));
    account.linear("query and key", width, width, q);
    if (cross) account.linear("query and key", width, width, k);
    account.linear("value and output", width, width, q);
    // Transforms to and from the frequencies, and four real products for each complex one.
    account.add("spectrum", 0, 2 * m * q * d + (cross ? 2 * n * k * d : 0) + 2 * m * q * d);
    if (cross) account.add("scores and mixing", 0, 2 * 4 * m * n * d);
    account.add("frequency maps", std::exchange(maps, 0), 4 * m * d * d / heads);
    account.keep((4 * q + (cross ? 2 * k : 0)) * d + 6 * m * d);
  };
  return decomposition_cost(config, shape, own, mixing);
}

}  // namespace

ForecasterRow fedformer_row() {
  return {.name = "fedformer",
          .shared = {"width", "hidden", "layers", "heads", "dropout", "window"},
          .make = make_model<Fedformer>,
          .cost = fedformer_cost,
          .defaults = use_decomposition,
          .check = check_fedformer,
          .own = own_options<FedformerConfig>,
          .future_covariates = true};
}

}  // namespace modewise::models
