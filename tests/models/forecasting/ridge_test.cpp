// Ridge regression on windows against scikit-learn (vectors/make_ridge_vectors.py).

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "modewise/models/forecasting/ridge_forecaster.h"
#include "modewise/models/symmetric_eigen.h"
#include "tests/models/read_vectors.h"

namespace modewise::models {
namespace {

std::vector<double> list(const at::Tensor& x) {
  const at::Tensor flat = x.to(at::kDouble).contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

at::Tensor record_rows() {
  return at::tensor(numbers(read_vectors("ridge.json")["rows"]), at::kDouble).to(at::kFloat).view({2, 60});
}

TEST(SymmetricEigen, TakesAMatrixApart) {
  const at::Tensor a = at::tensor({4.0, 1.0, 0.5, 1.0, 3.0, -1.0, 0.5, -1.0, 2.0}, at::kDouble).view({3, 3});
  const SymmetricEigen eigen = symmetric_eigen(a);
  EXPECT_LT(
      (eigen.vectors.matmul(eigen.values.diag()).matmul(eigen.vectors.t()) - a).abs().max().item<double>(),
      1e-14);
  EXPECT_GE(eigen.values.diff().min().item<double>(), 0);
}

TEST(WindowSums, AreThoseOfTheWindowsCutOut) {
  const at::Tensor rows = record_rows()[0].contiguous();
  const std::span<const float> values(rows.const_data_ptr<float>(), 60);
  for (const std::vector<int64_t>& starts :
       {std::vector<int64_t>{0, 1, 2, 3, 4}, {7}, {0, 2, 4, 30, 31, 32, 53}, {}}) {
    WindowSums sums(7);
    sums.add(values, starts);
    std::vector<at::Tensor> cut;
    for (const int64_t start : starts) cut.push_back(rows.narrow(0, start, 7).to(at::kDouble));
    const at::Tensor z = cut.empty() ? at::zeros({0, 7}, at::kDouble) : at::stack(cut);  // [n, 7]
    EXPECT_EQ(sums.count, static_cast<double>(starts.size()));
    expect_near(sums.sums, list(z.sum(0)), 1e-13, "sums");
    expect_near(sums.products, list(z.t().matmul(z)), 1e-13, "products");
    const std::vector<double> weights = {0.5, 0, 0.25, 0.25, 0, 0, 0};
    sums.centre(weights);
    const at::Tensor centred = z - z.matmul(at::tensor(weights, at::kDouble)).unsqueeze(1);
    expect_near(sums.sums, list(centred.sum(0)), 1e-12, "centred sums");
    expect_near(sums.products, list(centred.t().matmul(centred)), 1e-12, "centred products");
  }
}

TEST(WindowSums, Add) {
  const at::Tensor rows = record_rows().contiguous();
  const float* values = rows.const_data_ptr<float>();
  WindowSums both(5), first(5), second(5);
  first.add({values, 60}, std::vector<int64_t>{0, 1, 2});
  second.add({values + 60, 60}, std::vector<int64_t>{5, 6, 9});
  both.add({values, 60}, std::vector<int64_t>{0, 1, 2});
  both.add({values + 60, 60}, std::vector<int64_t>{5, 6, 9});
  first.add(second);
  EXPECT_EQ(first.count, both.count);
  expect_near(first.sums, both.sums, 1e-14, "sums");
  expect_near(first.products, both.products, 1e-14, "products");
}

FittingRows fitting_rows_of(const nlohmann::json& record) {
  FittingRows rows;
  rows.values = record_rows();
  rows.mean = at::zeros({2}, at::kDouble);
  rows.stddev = at::ones({2}, at::kDouble);
  rows.last = 33;
  rows.training = record["training"].get<std::vector<int64_t>>();
  rows.validation = record["validation"].get<std::vector<int64_t>>();
  return rows;
}

std::shared_ptr<Forecaster> forecaster_of(const nlohmann::json& record,
                                          const std::vector<std::string>& settings, bool missing = false,
                                          int64_t quantiles = 0) {
  ForecasterConfig config;
  Fields fields = fields_of(config);
  fields.set("name=ridge");
  for (const std::string& setting : settings) fields.set(setting);
  return make_forecaster(config, {{2}, {false}, record["lookback"], record["horizon"], quantiles, missing},
                         1);
}

at::Tensor buffer(const Forecaster& model, const std::string& name) {
  return *model.named_buffers().find(name);
}

TEST(Ridge, MapsAreThoseOfScikitLearn) {
  const nlohmann::json record = read_vectors("ridge.json");
  const at::Tensor rows = record_rows().contiguous();
  const int64_t lookback = record["lookback"], size = lookback + record["horizon"].get<int64_t>();
  for (const auto& one : record["cases"]) {
    const std::string centre = one["centre"];
    std::vector<double> weights(static_cast<size_t>(size));
    if (centre == "last") weights[static_cast<size_t>(lookback - 1)] = 1;
    if (centre == "mean") std::fill_n(weights.begin(), lookback, 1.0 / static_cast<double>(lookback));
    const bool individual = one["individual"];
    for (size_t map = 0; map < one["maps"].size(); ++map) {
      WindowSums sums(size);
      for (size_t s = 0; s < 2; ++s)
        if (!individual || s == map)
          sums.add({rows.const_data_ptr<float>() + s * 60, 60},
                   record["training"].get<std::vector<int64_t>>());
      sums.centre(weights);
      const RidgeMap made = ridge_maps(sums, lookback, std::vector<double>{0.7}).front();
      expect_near(list(made.weight), numbers(one["maps"][map]["weight"]), 1e-9, centre + " weight");
      expect_near(list(made.bias), numbers(one["maps"][map]["bias"]), 1e-9, centre + " bias");
    }
  }
}

TEST(Ridge, FitsWithThePenaltyOfTheSmallestValidationError) {
  const nlohmann::json record = read_vectors("ridge.json");
  for (const auto& one : record["cases"]) {
    const std::string centre = one["centre"];
    SCOPED_TRACE(centre);
    const auto model = forecaster_of(
        record,
        {"window.centre=" + centre, std::string("individual=") + (one["individual"] ? "true" : "false")});
    model->fit(fitting_rows_of(record));
    std::vector<double> weight, bias, penalties, stddev;
    for (const auto& map : one["maps"]) {
      for (const double value : numbers(map["best_weight"])) weight.push_back(value);
      for (const double value : numbers(map["best_bias"])) bias.push_back(value);
      penalties.push_back(map["penalty"]);
      const double windows = one["individual"] ? 17 : 34;
      for (const double squares : numbers(map["squared"])) stddev.push_back(std::sqrt(squares / windows));
    }
    expect_near(list(buffer(*model, "penalties")), penalties, 1e-12, "penalties");
    expect_near(list(buffer(*model, "weight")), weight, 1e-6, "weight");  // float32
    expect_near(list(buffer(*model, "bias")), bias, 1e-6, "bias");
    expect_near(list(buffer(*model, "deviation")), stddev, 1e-6, "deviation");
    // The forecast is the window's centre plus the map of the centred window.
    ForecastInput input;
    input.past = record_rows().narrow(1, 40, record["lookback"]).unsqueeze(0).to(at::kFloat);
    input.first_step = at::tensor(std::vector<int64_t>{40}, at::kLong);
    const at::Tensor out = model->forward(input);
    for (int64_t s = 0; s < 2; ++s) {
      const int64_t map = one["individual"] ? s : 0;
      const at::Tensor x = input.past[0][s].to(at::kDouble);
      const at::Tensor middle = centre == "last"   ? x[-1]
                                : centre == "mean" ? x.mean()
                                                   : at::zeros({}, at::kDouble);
      const at::Tensor wanted = buffer(*model, "weight")[map].to(at::kDouble).matmul(x - middle) +
                                buffer(*model, "bias")[map].to(at::kDouble) + middle;
      EXPECT_LT((out[0][s].to(at::kDouble) - wanted).abs().max().item<double>(), 1e-5);
    }
  }
}

TEST(Ridge, AGivenPenaltyIsTaken) {
  const nlohmann::json record = read_vectors("ridge.json");
  const auto model = forecaster_of(record, {"ridge.penalty=0.25"});
  model->fit(fitting_rows_of(record));
  EXPECT_EQ(list(buffer(*model, "penalties")), std::vector<double>{0.25});
  // An infinite penalty leaves the last value plus the mean step from it.
  const auto flat = forecaster_of(record, {"ridge.penalty=1e9"});
  flat->fit(fitting_rows_of(record));
  EXPECT_LT(buffer(*flat, "weight").abs().max().item<double>(), 1e-6);
}

TEST(Ridge, WindowsWithMissingCellsAreLeftOut) {
  const nlohmann::json record = read_vectors("ridge.json");
  FittingRows rows = fitting_rows_of(record);
  rows.observed = at::ones({2, 60}, at::kBool);
  rows.observed[0][12] = false;
  rows.values[0][12] = 1000;
  rows.observed[1][40] = false;
  rows.values[1][40] = -1000;
  const auto model = forecaster_of(record, {"individual=true"}, true);
  model->fit(rows);
  // The same as without the windows that contain the cell: 5 … 12 of series 0 in training, 33 … 40 of series
  // 1 in validation.
  FittingRows cut = fitting_rows_of(record);
  std::erase_if(cut.training, [](int64_t start) { return start >= 5 && start <= 12; });
  const auto first = forecaster_of(record, {"individual=true"});
  first->fit(cut);
  EXPECT_TRUE(buffer(*model, "weight")[0].equal(buffer(*first, "weight")[0]));
  cut = fitting_rows_of(record);
  std::erase_if(cut.validation, [](int64_t start) { return start >= 33 && start <= 40; });
  const auto second = forecaster_of(record, {"individual=true"});
  second->fit(cut);
  EXPECT_TRUE(buffer(*model, "weight")[1].equal(buffer(*second, "weight")[1]));
  // Without a fully observed window the forecast is the centre.
  rows.observed.fill_(false);
  model->fit(rows);
  EXPECT_EQ(buffer(*model, "weight").abs().max().item<double>(), 0);
  EXPECT_EQ(buffer(*model, "bias").abs().max().item<double>(), 0);
}

TEST(Ridge, QuantilesAreThoseOfNormalErrors) {
  const nlohmann::json record = read_vectors("ridge.json");
  for (const char* individual : {"individual=false", "individual=true"}) {
    const auto model = forecaster_of(record, {individual}, false, 3),
               point = forecaster_of(record, {individual});
    for (const auto& one : {model, point}) one->fit(fitting_rows_of(record));
    ForecastInput input;
    input.past = at::randn({3, 2, 5});
    input.first_step = at::zeros({3}, at::kLong);
    const at::Tensor out = model->forward(input), mean = point->forward(input);
    const at::Tensor stddev = buffer(*point, "deviation");  // [1, 3] or [2, 3]
    EXPECT_TRUE(out.select(-1, 1).equal(mean));
    // Three evenly spaced levels: the outer ones are quartiles.
    const at::Tensor scope_rows = 0.6744897501960817 * stddev.expand({2, 3});
    EXPECT_LT((out.select(-1, 2) - mean - scope_rows).abs().max().item<double>(), 1e-6);
    EXPECT_LT((mean - out.select(-1, 0) - scope_rows).abs().max().item<double>(), 1e-6);
  }
}

}  // namespace
}  // namespace modewise::models
