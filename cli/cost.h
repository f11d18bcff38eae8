#pragma once
// `modewise cost`: analytic and measured cost of attention types, or of whole vision models, for one or
// several sizes, as tables, JSON and figures.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "modewise/analysis/grid_cost.h"
#include "modewise/analysis/measured_cost.h"
#include "modewise/nn/attention/attention_cost.h"
#include "modewise/report/figure.h"
#include "modewise/report/table.h"

namespace modewise::cli {

struct CostOptions {
  analysis::VisionModel model;
  std::vector<int64_t> sides;
  std::vector<int64_t> tokens;  // sequence lengths, for sequence attention
  std::vector<std::string> mechanisms = {"product", "released", "linear", "full", "divided"};
  std::string out;
  int64_t batch = 1, repeats = 5;
  double seconds = 20;
  bool layers = false, measure = false, force = false;
  std::vector<std::string> models;  // vision models instead of attention types
};

struct CostMechanism {
  std::string name, attention, kernel, combine, title;
  models::Projection projection = models::Projection::pooled;
  std::optional<double> printed = {};  // giga multiply-adds in the paper's Table 2
  std::string type = "model";          // attention type, as in models::AttentionConfig
  bool whole = false;                  // a vision model, called `name`
};

struct CostEntry {
  const CostMechanism* mechanism;
  std::vector<int64_t> size;
  std::vector<int64_t> patches;  // along each axis: the tokens of attention types
  nn::ModelCost cost;
  std::optional<double> partial_count = {};  // of attention types; not of synthesizers
  bool paper_model = false;                  // the model of the paper's figures
  std::optional<analysis::MeasuredCost> measured = {};

  double tokens() const {
    double product = 1;
    for (const int64_t n : patches) product *= static_cast<double>(n);
    return product;
  }
};

/// Analytic cost of each attention type or model of `options` at each size. Usage error for an unknown one.
std::vector<CostEntry> account_costs(const CostOptions& options);
/// Measures ascending sizes of each mechanism until one would exceed the time limit.
void measure_costs(const CostOptions& options, std::vector<CostEntry>& entries);

/// "28 × 28 × 28".
std::string size_text(const std::vector<int64_t>& size);

/// Cost of a sequence attention layer for each attention type, with Tens-1, Tens-2 and Tens-3: fraction of
/// the n² weights that it computes, hops between tokens, parameters and multiply-adds, with their steps.
struct SequenceEntry {
  std::string name;
  int64_t tokens;
  nn::ModelCost cost;
  nn::AttentionSteps steps;
  std::optional<int64_t> hops;
};
std::vector<SequenceEntry> sequence_entries(const CostOptions& options);
report::Table sequence_table(const std::vector<SequenceEntry>& entries);
nlohmann::ordered_json sequence_json(const std::vector<SequenceEntry>& entries);

/// `bytes`: columns of memory are named as in CSV, whose values are bytes.
report::Table cost_table(const std::vector<CostEntry>& entries, bool bytes = false);
report::Table measured_table(const std::vector<CostEntry>& entries, bool bytes = false);
/// Exponents of the growth of measured times with the number of tokens; no row without two measured sizes.
report::Table growth_table(const std::vector<CostEntry>& entries);
/// Cost by parts of a model, and by layers of an entry.
report::Table parts_table(const std::vector<nn::CostPart>& parts);
report::Table layers_table(const CostEntry& entry);
nlohmann::ordered_json parts_json(const std::vector<nn::CostPart>& parts);
/// "12.3 MiB".
report::Cell mebi_cell(double bytes);
/// A number of operations in millions (M) or billions (G).
report::Cell giga_cell(double value);
nlohmann::ordered_json cost_json(const std::vector<CostEntry>& entries);
/// Names of the figures, each at most once in cost_figures.
inline constexpr const char* kCostFigures[] = {"multiply_adds", "training_time", "inference_time",
                                               "training_memory", "inference_memory"};
/// File names without extension, and figures: by size if there are several, else by mechanism.
std::vector<std::pair<std::string, report::Figure>> cost_figures(const std::vector<CostEntry>& entries);

}  // namespace modewise::cli
