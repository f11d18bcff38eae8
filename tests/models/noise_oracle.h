#pragma once
// Oracle tests with weights and inputs from a hash that Python reproduces
// (vectors/make_segmenter_vectors.py), so that records contain only sizes, outputs and gradient checks.

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/core/file.h"

namespace modewise::models {

/// The `noise` of make_segmenter_vectors.py.
inline at::Tensor noise(uint64_t number, const std::vector<int64_t>& sizes) {
  at::Tensor out = at::empty(sizes, at::kDouble);
  double* values = out.mutable_data_ptr<double>();
  for (int64_t i = 0; i < out.numel(); ++i) {
    uint64_t h = (static_cast<uint64_t>(i) * 2654435761u + number * 40503u + 12345u) & 0xffffffffu;
    h = ((h ^ (h >> 15)) * 2246822519u) & 0xffffffffu;
    h ^= h >> 13;
    values[i] = static_cast<double>(h) / 4294967296.0 - 0.5;
  }
  return out;
}

inline double largest(const at::Tensor& x) {
  return x.abs().max().item<double>();
}

template <class Config>
Config configured(const std::vector<std::string>& settings) {
  Config config;
  Fields fields = fields_of(config);
  for (const std::string& setting : settings) fields.set(setting);
  return config;
}

/// The record called `name` of vectors/`file`.
inline nlohmann::json record_of(const std::string& file, const std::string& name) {
  for (const auto& record :
       nlohmann::json::parse(read_file(MODEWISE_SOURCE_DIR "/tests/models/vectors/" + file)))
    if (record["name"] == name) return record;
  ADD_FAILURE() << file << " has no record " << name;
  return {};
}

/// Fills every parameter with noise, in float64; names and sizes must match record["sizes"].
inline void fill_with_noise(torch::nn::Module& model, const nlohmann::json& record) {
  const at::NoGradGuard no_grad;
  model.to(at::kDouble);
  std::map<std::string, at::Tensor> parameters;
  for (auto& item : model.named_parameters()) parameters[item.key()] = item.value();
  EXPECT_EQ(parameters.size(), record["sizes"].size());
  uint64_t number = 0;
  for (const auto& [key, sizes] : record["sizes"].items()) {  // sorted by name
    EXPECT_TRUE(parameters.contains(key)) << "the model has no " << key;
    at::Tensor& target = parameters[key];
    EXPECT_EQ(target.sizes().vec(), sizes.get<std::vector<int64_t>>()) << key;
    at::Tensor value = noise(number++, target.sizes().vec());
    const int64_t inputs = target.numel() / target.size(0);
    if (target.dim() == 1)
      value = value * 0.4 + (key.ends_with(".weight") ? 1 : 0);
    else
      value = value * std::sqrt(12.0 / static_cast<double>(inputs));
    target.copy_(value);
  }
}

/// After backward: compares each gradient's noise-weighted sum, and running statistics, with the record.
inline void expect_gradients_and_statistics(torch::nn::Module& model, const nlohmann::json& record,
                                            uint64_t number) {
  for (const auto& item : model.named_parameters()) {
    const at::Tensor& gradient = item.value().grad();
    ASSERT_TRUE(gradient.defined()) << item.key();
    EXPECT_NEAR((gradient * noise(number, gradient.sizes().vec())).sum().item<double>(),
                record["gradient_checks"][item.key()].get<double>(),
                1e-12 * std::max(1.0, largest(gradient) * static_cast<double>(gradient.numel())))
        << item.key();
  }
  for (const auto& item : model.named_buffers())
    for (const char* kind : {"running_mean", "running_var"}) {
      if (!item.key().ends_with(kind)) continue;
      const std::string owner = item.key().substr(0, item.key().rfind('.'));
      if (!record[kind].contains(owner)) continue;
      const auto wanted = record[kind][owner].get<std::vector<double>>();
      for (size_t i = 0; i < wanted.size(); ++i)
        EXPECT_NEAR(item.value()[static_cast<int64_t>(i)].item<double>(), wanted[i], 1e-12) << item.key();
    }
}

}  // namespace modewise::models
