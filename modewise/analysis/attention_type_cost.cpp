#include "modewise/analysis/attention_type_cost.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

namespace modewise::analysis {
namespace {

/// Multiply-adds of one sample, without value and output projections.
class AttentionMultiplyAdds {
 public:
  AttentionMultiplyAdds(const nn::SynthesizerShape& shape, const nn::AttentionTypeOptions& options)
      : shape_(shape),
        options_(options),
        n_(static_cast<double>(shape.rows())),
        m_(static_cast<double>(shape.columns())),
        d_(static_cast<double>(shape.width)),
        heads_(static_cast<double>(shape.heads)) {}

  double of(const std::string& name) const {
    if (name == "dot-product") return projections() + 2 * n_ * m_ * d_;
    if (name == "linformer") return projections() + 2 * projected() * m_ * d_ + 2 * n_ * projected() * d_;
    if (name == "product-random") return n_ * factor_sum() * d_;
    if (name.starts_with("kronecker")) return kronecker();
    const double mixing = n_ * m_ * d_;
    static const std::map<std::string, std::function<double(const AttentionMultiplyAdds&)>> logits = {
        {"dense", &AttentionMultiplyAdds::dense},
        {"stt", [](const auto& self) { return self.tensor(2); }},
        {"tensor-height", [](const auto& self) { return self.tensor(0); }},
        {"tensor-width", [](const auto& self) { return self.tensor(1); }},
        {"additive",
         [](const auto& self) {
           return self.tensor(0) + self.tensor(1) + self.tensor(2) + 2 * self.n_ * self.m_ * self.d_;
         }},
        {"random", [](const auto&) { return 0.0; }},
        {"random-fixed", [](const auto&) { return 0.0; }},
        {"factorized-dense", [](const auto& self) { return self.tensor(2); }},
        {"factorized-random", &AttentionMultiplyAdds::factorized},
        {"mixture", [](const auto& self) { return self.tensor(2) + self.factorized(); }},
        {"mixture-dense", [](const auto& self) { return self.dense() + self.factorized(); }},
        {"mixture-printed", [](const auto& self) { return self.tensor(2) + self.factorized(); }},
    };
    return logits.at(name)(*this) + mixing;
  }

 private:
  double projections() const { return (n_ + m_) * d_ * d_; }
  double projected() const {
    return options_.projected > 0 ? static_cast<double>(options_.projected)
                                  : std::max(std::floor(m_ / 4), 1.0);
  }
  double dense() const { return n_ * d_ * d_ + n_ * m_ * (d_ + heads_); }
  /// X times a vector along `reduced`, the product with the rows' matrix, and the products with the columns'
  /// matrix.
  double tensor(int reduced) const {
    const auto last = static_cast<double>(shape_.last());
    const double sizes[] = {n_ / last, last, d_};
    const double rows = sizes[reduced == 0 ? 1 : 0], columns = sizes[reduced == 2 ? 1 : 2];
    return heads_ * (n_ * d_ + n_ * rows * columns + n_ * n_ * columns);
  }
  /// Queries and keys of pooled tokens, scores and mode product of each mode.
  double kronecker() const {
    double sum = 0;
    for (const int64_t size : shape_.sizes) {
      const auto n = static_cast<double>(size);
      sum += 2 * n * d_ * d_ + n * n * d_ + n * n_ * d_;
    }
    return sum;
  }
  double factorized() const { return heads_ * n_ * m_; }
  double factor_sum() const {
    const nn::FactorShapes shapes =
        options_.shapes.rows.empty() ? nn::balanced_factors(shape_.rows(), shape_.columns(), options_.factors)
                                     : options_.shapes;
    return static_cast<double>(std::accumulate(shapes.rows.begin(), shapes.rows.end(), int64_t{0}));
  }

  const nn::SynthesizerShape& shape_;
  const nn::AttentionTypeOptions& options_;
  double n_, m_, d_, heads_;
};

int64_t learned_numbers(const std::string& name, const nn::SynthesizerShape& shape,
                        const nn::AttentionTypeOptions& options) {
  auto init = nn::Initializer::without_values();
  int64_t sum = 0;
  for (const auto& p : nn::make_attention(init, name, shape, options)->named_parameters())
    if (!p.key().starts_with("value_proj") && !p.key().starts_with("out_proj")) sum += p.value().numel();
  return sum;
}

}  // namespace

void add_attention(CostAccount& account, const std::string& name, const nn::SynthesizerShape& shape,
                   const nn::AttentionTypeOptions& options) {
  const auto n = static_cast<double>(shape.rows()), m = static_cast<double>(shape.columns());
  account.linear("value and output", shape.width, shape.width, m);
  account.linear("value and output", shape.width, shape.width, n);
  const std::string type(nn::find_attention_entry(name)->name);
  account.add("scores and mixing", learned_numbers(type, shape, options),
              AttentionMultiplyAdds(shape, options).of(type));
  // Values, mixed values and inputs of the logits; the logits are recomputed in the backward pass.
  account.keep((2 * m + 3 * n) * static_cast<double>(shape.width));
}

}  // namespace modewise::analysis
