#pragma once
// What a trained model attends to and what moves its output, for `modewise explain`: the same page, JSON and
// arrays for every task.

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
#include "modewise/tasks/result_tables.h"
#include "modewise/tasks/run_figures.h"

namespace modewise::tasks {

struct ExplainOptions {
  int64_t samples = 32;  // looked at, evenly spread over the split
  int64_t singles = 2;   // of them, shown one by one
  int64_t places =
      128;  // most places of a mode that are taken away in turn; neighbours go together beyond that
  std::string split = "test";
};

/// By how much the output changes when one place of a mode is taken away (occlusion).
struct Influence {
  std::string mode;
  std::vector<std::string> places;
  std::vector<double> effect;        // [places], mean over samples and outputs
  std::vector<std::string> targets;  // of `matrix`; empty: none
  std::vector<double> matrix;        // [targets, places]
};

struct Explanation {
  std::string title, subtitle;
  std::vector<std::pair<std::string, std::string>> facts;
  std::string combine;                                       // product | sum | mean; "" without factors
  std::vector<std::string> mode_names;                       // of the token modes
  std::vector<std::vector<std::string>> labels;              // of their places; empty: numbers
  std::vector<std::string> sample_names;                     // of the single samples
  std::vector<std::vector<std::string>> sample_labels = {};  // of each one's own tokens, of texts
  std::vector<ResultTable> tables = {};                      // about single samples
  models::AttentionView attention;
  std::vector<analysis::LayerRanks> ranks;
  std::vector<Influence> influences;
  std::string effect_unit, removal;  // what the effect is measured in, what a place taken away becomes
};

/// 0 … size − 1 cut into at most `most` runs of neighbours: [begin, end).
std::vector<std::pair<int64_t, int64_t>> place_groups(int64_t size, int64_t maximum);

/// The influence of a mode of `size` places that are taken away `thick` at a time, at most `most` times:
/// `effect`(begin, end) without those.
Influence influence_of(const std::string& mode, int64_t size, int64_t thick, int64_t maximum,
                       const std::function<double(int64_t begin, int64_t end)>& effect);

/// The stable ranks of each layer, means over heads and samples; `ranks` must not be empty.
report::Table rank_table(const Explanation& explanation);
nlohmann::ordered_json explanation_json(const Explanation& explanation);
/// What an explanation is written into.
inline constexpr const char* kExplanationFiles[] = {"explain.html", "explain.json", "explain.npz"};
/// explain.html, explain.json and explain.npz in `folder`. Arrays: layerL_NAME_mean [heads, N_i, N_i],
/// layerL_NAME [singles, heads, N_i, N_i], layerL_full_mean, layerL_full, influence_NAME.
void write_explanation(const Explanation& explanation, const std::filesystem::path& folder);

}  // namespace modewise::tasks
