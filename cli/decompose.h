#pragma once
// The command `decompose`, of a matrix in a file, or of the attention of a run or model; and what its --out
// writes.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/program.h"
#include "modewise/analysis/decomposition_study.h"
#include "modewise/tasks/attention_matrices.h"

namespace modewise::cli {

/// What was taken apart.
struct DecomposedThing {
  std::string name;                                        // heads the page
  std::vector<std::pair<std::string, std::string>> facts;  // below it

  /// A line a fact.
  std::string facts_text() const;
};

/// Makes the folder; cannot_create error when it holds a decomposition already, unless `force`.
void make_decomposition_folder(const std::filesystem::path& folder, bool force);
/// Of a table of heads: decomposition.json, .csv, report.html and the figures as SVG (spectrum, information).
void write_decompositions(const std::filesystem::path& folder, const DecomposedThing& thing,
                          const report::Table& table, const std::vector<report::CaptionedFigure>& figures,
                          const nlohmann::ordered_json& json);

struct DecomposeOptions {
  std::string input, member, out;
  std::vector<int64_t> modes, index;
  std::vector<std::string> spaces;
  int64_t rank = 8, starts = 0, iterations = 0, seed = 0, projections = 0;
  bool force = false;
  // Of runs and models; layers, heads and samples from 1, 0: not said.
  tasks::AttentionRequest attention;
  int64_t layer = 0, head = 0, samples = 0, sample = 0;
};

analysis::StudyOptions study_options(const DecomposeOptions& options);

/// Prints the decomposition of one matrix, whose JSON begins with `json`, and writes it where --out says.
void decompose_matrix(const Program& program, const DecomposeOptions& options, const DecomposedThing& thing,
                      const at::Tensor& matrix, const std::vector<int64_t>& modes,
                      nlohmann::ordered_json json);

/// Of a run or model: one layer and head taken apart, or a table of those that --layer and --head leave.
void decompose_attention(const Program& program, const DecomposeOptions& options);

}  // namespace modewise::cli
