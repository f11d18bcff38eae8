#include "modewise/nn/layers/cost.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace modewise::nn {
namespace {

void add_part(std::vector<CostPart>& parts, const std::string& name, int64_t parameters,
              double multiply_adds) {
  const auto found =
      std::find_if(parts.begin(), parts.end(), [&](const CostPart& p) { return p.name == name; });
  if (found == parts.end()) {
    parts.push_back({name, parameters, multiply_adds});
  } else {
    found->parameters += parameters;
    found->multiply_adds += multiply_adds;
  }
}

int64_t sum_of_parameters(const std::vector<CostPart>& parts) {
  return std::accumulate(parts.begin(), parts.end(), int64_t{0},
                         [](int64_t sum, const CostPart& part) { return sum + part.parameters; });
}

double sum_of_multiply_adds(const std::vector<CostPart>& parts) {
  return std::accumulate(parts.begin(), parts.end(), 0.0,
                         [](double sum, const CostPart& part) { return sum + part.multiply_adds; });
}

}  // namespace

int64_t LayerCost::parameters() const {
  return sum_of_parameters(parts);
}
double LayerCost::multiply_adds() const {
  return sum_of_multiply_adds(parts);
}
int64_t ModelCost::parameters() const {
  return sum_of_parameters(parts);
}
double ModelCost::multiply_adds() const {
  return sum_of_multiply_adds(parts);
}
double ModelCost::multiply_adds_of(const std::vector<std::string>& names) const {
  double sum = 0;
  for (const CostPart& part : parts)
    if (std::find(names.begin(), names.end(), part.name) != names.end()) sum += part.multiply_adds;
  return sum;
}

void add_parts(ModelCost& cost, const ModelCost& other) {
  for (const CostPart& part : other.parts)
    add_part(cost.parts, part.name, part.parameters, part.multiply_adds);
}

void CostAccount::layer(const std::string& name) {
  cost_.layers.push_back({name, {}, 0});
}

void CostAccount::add(const std::string& name, int64_t parameters, double multiply_adds) {
  add_part(cost_.parts, name, parameters, multiply_adds);
  if (!cost_.layers.empty()) add_part(cost_.layers.back().parts, name, parameters, multiply_adds);
}

void CostAccount::linear(const std::string& name, int64_t in, int64_t out, double rows, bool bias) {
  add(name, in * out + (bias ? out : 0), rows * static_cast<double>(in * out));
}

void CostAccount::norm(int64_t width, double rows) {
  add("norms", 2 * width, rows * static_cast<double>(width));
}

void CostAccount::keep(double elements) {
  cost_.activation_bytes += bytes_ * elements;
  if (!cost_.layers.empty()) cost_.layers.back().activation_bytes += bytes_ * elements;
}

ModelCost CostAccount::cost(std::vector<int64_t> tokens) && {
  cost_.tokens = std::move(tokens);
  return std::move(cost_);
}

double cell_count(const std::vector<int64_t>& sizes) {
  double count = 1;
  for (const int64_t n : sizes) count *= static_cast<double>(n);
  return count;
}

}  // namespace modewise::nn
