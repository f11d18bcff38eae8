// Forecasters against plain PyTorch implementations: vectors/make_vectors.py implements each model in float64
// and records weights, inputs, outputs and gradient checks. Records with a `source` come from the authors'
// code at that commit, with the authors' name of each weight.

#include <ATen/ops/arange.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "modewise/core/file.h"
#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/forecaster.h"
#include "tests/models/noise_oracle.h"

namespace modewise::models {
namespace {

at::Tensor tensor_of(const nlohmann::json& list, std::vector<int64_t> sizes) {
  return at::tensor(list.get<std::vector<double>>(), at::kDouble).view(sizes);
}

struct RecordedForecaster {
  nlohmann::json record;
  ForecastShape shape;
  std::shared_ptr<Forecaster> model;
  ForecastInput input;
  at::Tensor output;
  double output_scale = 1;
};

std::vector<int64_t> with_ends(int64_t first, const std::vector<int64_t>& middle, int64_t last) {
  std::vector<int64_t> out{first};
  out.insert(out.end(), middle.begin(), middle.end());
  out.push_back(last);
  return out;
}

/// Copies the record's weights into the model; parameter names must match exactly.
void load_weights(RecordedForecaster& c, at::ScalarType dtype) {
  at::NoGradGuard no_grad;
  c.model->to(dtype);
  std::set<std::string> left;
  for (const auto& item : c.record["weights"].items()) left.insert(item.key());
  const auto load = [&](const std::string& name, at::Tensor& target) {
    const auto& entry = c.record["weights"][name];
    ASSERT_EQ(entry["sizes"].get<std::vector<int64_t>>(), target.sizes().vec()) << name;
    target.copy_(tensor_of(entry["values"], target.sizes().vec()));
    left.erase(name);
  };
  for (auto& item : c.model->named_parameters()) {
    ASSERT_TRUE(left.contains(item.key())) << "the oracle has no " << item.key();
    load(item.key(), item.value());
  }
  for (auto& item : c.model->named_buffers())
    if (left.contains(item.key())) load(item.key(), item.value());
  EXPECT_TRUE(left.empty()) << "the model has no " << *left.begin();
}

RecordedForecaster load_forecaster(const std::string& name, at::ScalarType dtype) {
  RecordedForecaster c;
  const std::string folder = std::string(MODEWISE_SOURCE_DIR) + "/tests/models/vectors/";
  c.record = nlohmann::json::parse(read_file(folder + name + ".json"));
  const auto& shape = c.record["shape"];
  c.shape.series = shape["series"].get<std::vector<int64_t>>();
  c.shape.lookback = shape["lookback"];
  c.shape.horizon = shape["horizon"];
  c.shape.quantiles = shape["quantiles"];
  c.shape.missing = shape["missing"];
  c.shape.known = shape.value("known", int64_t{0});
  c.shape.known_modes = shape.value("known_modes", int64_t{0});
  ForecasterConfig config;
  Fields fields = fields_of(config);
  for (const auto& setting : c.record["settings"]) fields.set(setting.get<std::string>());
  c.model = make_forecaster(config, c.shape, 1);
  c.model->train(c.record["training"].get<bool>());
  load_weights(c, dtype);
  const auto first = c.record["first_step"].get<std::vector<int64_t>>();
  const int64_t batch = static_cast<int64_t>(first.size());
  const auto sizes = with_ends(batch, c.shape.series, c.shape.lookback);
  c.input.past = tensor_of(c.record["past"], sizes).to(dtype);
  if (!c.record["observed"].is_null())
    c.input.observed = tensor_of(c.record["observed"], sizes).to(at::kBool);
  c.input.first_step = at::tensor(first, at::kLong);
  if (c.shape.known > 0) {
    std::vector<int64_t> known = {batch};
    known.insert(known.end(), c.shape.series.begin(), c.shape.series.begin() + c.shape.known_modes);
    known.push_back(c.shape.known);
    known.push_back(c.shape.lookback + c.shape.horizon);
    c.input.known = tensor_of(c.record["known"], known).to(dtype);
  }
  auto wanted = with_ends(batch, c.shape.series, c.shape.horizon);
  if (c.shape.quantiles > 0) wanted.push_back(c.shape.quantiles);
  c.output = tensor_of(c.record["output"], wanted);
  return c;
}

class Oracle : public testing::TestWithParam<std::string> {};

TEST_P(Oracle, OutputAgreesInDoublePrecision) {
  RecordedForecaster c = load_forecaster(GetParam(), at::kDouble);
  const at::Tensor out = c.model->forward(c.input);
  ASSERT_EQ(out.sizes(), c.output.sizes());
  EXPECT_LE(largest(out - c.output), 1e-9 * std::max(1.0, largest(c.output)));
}

TEST_P(Oracle, OutputAgreesInSinglePrecision) {
  RecordedForecaster c = load_forecaster(GetParam(), at::kFloat);
  const at::Tensor out = c.model->forward(c.input);
  EXPECT_EQ(out.scalar_type(), at::kFloat);
  EXPECT_LE(largest(out.to(at::kDouble) - c.output), 1e-5 * std::max(1.0, largest(c.output)));
}

TEST_P(Oracle, GradientOfEveryParameterAgrees) {
  RecordedForecaster c = load_forecaster(GetParam(), at::kDouble);
  const at::Tensor out = c.model->forward(c.input);
  (out * at::arange(1, out.numel() + 1, at::kDouble).cos().view(out.sizes())).sum().backward();
  const auto& checks = c.record["gradient_checks"];
  for (const auto& item : c.model->named_parameters()) {
    const at::Tensor& gradient = item.value().grad();
    ASSERT_TRUE(gradient.defined()) << item.key();
    const at::Tensor wave = at::arange(1, gradient.numel() + 1, at::kDouble).cos().view(gradient.sizes());
    ASSERT_TRUE(checks.contains(item.key())) << item.key();
    EXPECT_NEAR((gradient * wave).sum().item<double>(), checks[item.key()].get<double>(),
                1e-12 * std::max(1.0, largest(gradient) * static_cast<double>(gradient.numel())))
        << item.key();
  }
}

/// The records of make_vectors.py: those with a forecaster's settings and gradients.
std::vector<std::string> recorded_cases() {
  std::vector<std::string> names;
  const std::string folder = std::string(MODEWISE_SOURCE_DIR) + "/tests/models/vectors";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    const nlohmann::json record = nlohmann::json::parse(read_file(entry.path()));
    if (record.is_object() && record.contains("gradient_checks"))
      names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Models, Oracle, testing::ValuesIn(recorded_cases()),
                         [](const auto& param) { return param.param; });

TEST(OracleRecords, IncludeEveryTrainedModel) {
  const std::vector<std::string> cases = recorded_cases();
  EXPECT_GE(cases.size(), 28u);
  for (const ForecasterRow& row : forecasters()) {
    const bool fitted = row.name == "ridge";  // in closed form: ridge_test.cpp
    if (row.cost == nullptr || row.name == "ensemble" || fitted) continue;
    EXPECT_TRUE(std::ranges::any_of(cases, [&](const std::string& one) { return one.starts_with(row.name); }))
        << "no tests/models/vectors/" << row.name << "*.json, of make_vectors.py or of the authors' code";
  }
}

}  // namespace
}  // namespace modewise::models
