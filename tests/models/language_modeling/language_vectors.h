#pragma once
// The tiny language models of vectors/language.json: config as text, weights by formula.

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/models/language_modeling/config_json.h"
#include "modewise/models/language_modeling/files.h"
#include "tests/data_folder.h"
#include "tests/error_of.h"

namespace modewise::models {

inline nlohmann::json language_vectors(const std::string& name) {
  return nlohmann::json::parse(read_file(std::string(MODEWISE_SOURCE_DIR) + "/tests/models/vectors/" + name));
}

inline at::Tensor formula_weight(uint64_t place, at::IntArrayRef shape) {
  at::Tensor out = at::empty(shape, at::kDouble);
  for (int64_t i = 0; i < out.numel(); ++i) {
    uint64_t u = (static_cast<uint64_t>(i) * 2654435761ULL + place * 40503ULL) % (uint64_t{1} << 32);
    u ^= u >> 15;
    u = u * 2246822519ULL % (uint64_t{1} << 32);
    u ^= u >> 13;
    const double value = static_cast<double>(u) * 0x1p-32 - 0.5;
    out.mutable_data_ptr<double>()[i] =
        shape.size() == 1 ? 1 + value : value * std::sqrt(12.0 / static_cast<double>(shape[1]));
  }
  return out;
}

/// Every parameter but latents by the formula; latents 0.
inline void set_formula_weights(LanguageModel& model) {
  const at::NoGradGuard no_grad;
  auto parameters = model.named_parameters();
  uint64_t place = 0;
  for (const LanguageTensor& entry : language_tensors(model.config())) {
    at::Tensor& parameter = parameters[entry.name];
    ASSERT_EQ(parameter.sizes().vec(), entry.shape) << entry.name;
    if (entry.optional)
      parameter.zero_();
    else
      parameter.copy_(formula_weight(place++, entry.shape));
  }
  ASSERT_EQ(parameters.size(), language_tensors(model.config()).size());
}

inline double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  EXPECT_EQ(a.sizes(), b.sizes());
  return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

inline at::Tensor token_tensor(const std::vector<int64_t>& ids) {
  return at::tensor(ids, at::kLong).unsqueeze(0);
}

/// MODEWISE_DATA/language/`name`; empty if missing.
inline std::string language_data(const std::string& name) {
  const std::filesystem::path path = data_folder() / "language" / name;
  return std::filesystem::exists(path) ? path.string() : "";
}

}  // namespace modewise::models
