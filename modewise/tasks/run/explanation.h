#pragma once
// Explanations of trained models for `modewise explain`: attention maps, stable ranks and occlusion, with the
// same page, JSON and arrays for every task.

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "modewise/analysis/layer_ranks.h"
#include "modewise/models/attention_view.h"
#include "modewise/report/table.h"
#include "modewise/tasks/run/result_tables.h"
#include "modewise/tasks/run/run_figures.h"

namespace modewise::tasks {

struct ExplainOptions {
  int64_t samples = 32;  // samples used, evenly spaced in the split
  int64_t singles = 2;   // of them, shown individually
  int64_t places = 128;  // maximum occluded positions per mode; above it neighbours are grouped
  std::string split = "test";
};

/// Occlusion: change of the output when one position of a mode is occluded.
struct Influence {
  std::string mode;
  std::vector<std::string> places;
  std::vector<double> effect;        // [positions], mean over samples and outputs
  std::vector<std::string> targets;  // of `matrix`; empty: none
  std::vector<double> matrix;        // [targets, positions]
};

struct Explanation {
  std::string title, subtitle;
  std::vector<std::pair<std::string, std::string>> facts;
  std::string combine;                                       // product | sum | mean; "" without factors
  std::vector<std::string> mode_names;                       // names of the token modes
  std::vector<std::vector<std::string>> labels;              // labels of their positions; empty: numbers
  std::vector<std::string> sample_names;                     // names of the individual samples
  std::vector<std::vector<std::string>> sample_labels = {};  // for texts: tokens of each sample
  std::vector<ResultTable> tables = {};                      // tables of individual samples
  models::AttentionView attention;
  std::vector<analysis::LayerRanks> ranks;
  std::vector<Influence> influences;
  std::string effect_unit, removal;  // unit of the effect, and the replacement of occluded positions
};

/// Splits 0 … size − 1 into at most `maximum` contiguous groups [begin, end).
std::vector<std::pair<int64_t, int64_t>> place_groups(int64_t size, int64_t maximum);

/// Occlusion of a mode of `size` positions, `thick` at a time, at most `maximum` times: `effect`(begin, end)
/// is the change without those positions.
Influence influence_of(const std::string& mode, int64_t size, int64_t thick, int64_t maximum,
                       const std::function<double(int64_t begin, int64_t end)>& effect);

/// Table of the stable ranks of each layer, means over heads and samples; `ranks` must not be empty.
report::Table rank_table(const Explanation& explanation);
nlohmann::ordered_json explanation_json(const Explanation& explanation);
/// File names of an explanation.
inline constexpr const char* kExplanationFiles[] = {"explain.html", "explain.json", "explain.npz"};
/// Writes explain.html, explain.json and explain.npz to `folder`. Arrays: layerL_NAME_mean [heads, N_i, N_i],
/// layerL_NAME [samples, heads, N_i, N_i], layerL_full_mean, layerL_full, influence_NAME; of texts no means,
/// and `lengths` [samples] in tokens, after which their matrices are 0.
void write_explanation(const Explanation& explanation, const std::filesystem::path& folder);

}  // namespace modewise::tasks
