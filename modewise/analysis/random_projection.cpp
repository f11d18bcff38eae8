#include "modewise/analysis/random_projection.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linalg_svd.h>
#include <ATen/ops/median.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

#include "modewise/analysis/decomposition_study.h"
#include "modewise/analysis/one_thread.h"
#include "modewise/core/error.h"

namespace modewise::analysis {
namespace {

using report::Cell;

/// Standard normal numbers of any shape, from number `first` of the stream.
at::Tensor normals(at::IntArrayRef shape, const RandomStream& stream, uint64_t first = 0) {
  const at::Tensor out = at::empty(shape, at::kDouble);
  auto* values = out.mutable_data_ptr<double>();
  for (int64_t i = 0; i < out.numel(); ++i) values[i] = stream.normal(first + static_cast<uint64_t>(i));
  return out;
}

int64_t columns_of(const std::vector<int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

/// ‖x − wanted‖ / ‖wanted‖
double distance(const at::Tensor& x, const at::Tensor& wanted) {
  return ((x - wanted).norm() / wanted.norm()).item<double>();
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

at::Tensor tensor_projection(int64_t rows, const std::vector<int64_t>& modes, int64_t rank,
                             const RandomStream& stream) {
  at::Tensor terms;  // [k, R, N_1 ⋯ N_i]
  uint64_t first = 0;
  for (const int64_t size : modes) {
    const at::Tensor factor = normals({rows, rank, size}, stream, first);
    first += static_cast<uint64_t>(factor.numel());
    terms = terms.defined() ? (terms.unsqueeze(-1) * factor.unsqueeze(-2)).flatten(-2) : factor;
  }
  return terms.sum(1) / std::sqrt(static_cast<double>(rows * rank));
}

double lemma_rows(double epsilon, double delta, const std::vector<int64_t>& modes, int64_t rank) {
  const auto m = static_cast<double>(modes.size()), n = static_cast<double>(columns_of(modes));
  return std::pow(epsilon, -2) * std::pow(3, m - 1) * (1 + 2 / static_cast<double>(rank)) *
         std::log(n / delta) / std::log(2 * m);
}

ProjectionStudy study_projections(const at::Tensor& input, const std::vector<int64_t>& modes, int64_t draws,
                                  uint64_t seed) {
  const OneThread one_thread;
  const int64_t n = columns_of(modes);
  require(input.dim() == 2 && input.size(0) == n && input.size(1) == n, ErrorKind::usage,
          "the modes {} make {} rows and columns, but the matrix has {} x {}", fmt::join(modes, " × "), n,
          input.size(0), input.dim() < 2 ? 1 : input.size(1));
  const at::Tensor matrix = input.to(at::kDouble).contiguous();
  ProjectionStudy study;
  study.delta = 0.05 / static_cast<double>(n);
  study.spaces = {{n}};
  if (modes.size() > 1) study.spaces.push_back(modes);
  for (const auto& space : study.spaces)
    study.asked.push_back(lemma_rows(study.epsilon, study.delta, space, 1));
  const auto [left, values, right] = at::linalg_svd(matrix, false);
  uint64_t step = 0;
  for (int64_t k = std::min<int64_t>(16, n); k <= 4 * n; k *= 2) {
    study.rows.push_back(k);
    std::vector<std::vector<double>> errors(study.spaces.size());
    std::vector<double> cut;
    for (int64_t draw = 0; draw < draws; ++draw) {
      const at::Tensor y = normals({n}, {seed, RandomSite::simulation, step++});
      const at::Tensor wanted = matrix.matmul(y);
      for (size_t s = 0; s < study.spaces.size(); ++s) {
        const at::Tensor t = tensor_projection(k, study.spaces[s], 1, {seed, RandomSite::simulation, step++});
        errors[s].push_back(distance(matrix.matmul(t.t().matmul(t.matmul(y))), wanted));
      }
      const int64_t kept = std::min(k, n);
      const at::Tensor largest = values.narrow(0, 0, kept) * right.narrow(0, 0, kept).matmul(y);
      cut.push_back(distance(left.narrow(1, 0, kept).matmul(largest), wanted));
    }
    study.median.emplace_back();
    study.within.emplace_back();
    for (const auto& of_space : errors) {
      study.median.back().push_back(median_of(of_space));
      const auto near =
          std::count_if(of_space.begin(), of_space.end(), [&](double e) { return e < study.epsilon; });
      study.within.back().push_back(static_cast<double>(near) / static_cast<double>(draws));
    }
    study.truncated.push_back(median_of(cut));
  }
  return study;
}

report::Table projection_table(const ProjectionStudy& study) {
  std::vector<report::Column> columns = {{"rows of T"}};
  for (const auto& space : study.spaces) {
    columns.push_back({fmt::format("{}: median error", space_name(space))});
    columns.push_back({fmt::format("below {:g}, %", study.epsilon)});
  }
  columns.push_back({"truncated SVD: median error"});
  report::Table table(columns);
  for (size_t i = 0; i < study.rows.size(); ++i) {
    std::vector<Cell> cells = {study.rows[i]};
    for (size_t s = 0; s < study.spaces.size(); ++s) {
      cells.emplace_back(study.median[i][s], 3);
      cells.emplace_back(100 * study.within[i][s], 0);
    }
    cells.emplace_back(study.truncated[i], 3);
    table.add_row(std::move(cells));
  }
  return table;
}

nlohmann::ordered_json projection_json(const ProjectionStudy& study) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (size_t i = 0; i < study.rows.size(); ++i)
    rows.push_back({{"rows", study.rows[i]},
                    {"median", study.median[i]},
                    {"within", study.within[i]},
                    {"truncated", study.truncated[i]}});
  return {{"epsilon", study.epsilon},
          {"delta", study.delta},
          {"spaces", study.spaces},
          {"asked", study.asked},
          {"rows", rows}};
}

}  // namespace modewise::analysis
