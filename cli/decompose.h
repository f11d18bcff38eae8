#pragma once
// `modewise decompose`: Kronecker decomposition of a matrix in a file, or of the attention of a run or model,
// and its output files.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/program.h"
#include "modewise/analysis/decomposition_study.h"
#include "modewise/tasks/run/attention_matrices.h"

namespace modewise::cli {

/// Name and facts of the decomposed matrix.
struct DecomposedThing {
  std::string name;                                        // title of the page
  std::vector<std::pair<std::string, std::string>> facts;  // facts below the title

  /// One line per fact.
  std::string facts_text() const;
};

/// Creates the folder; cannot_create error if it contains a decomposition, unless `force`.
void make_decomposition_folder(const std::filesystem::path& folder, bool force);
/// Writes a table of heads: decomposition.json, .csv, report.html and SVG figures (spectrum, information).
void write_decompositions(const std::filesystem::path& folder, const DecomposedThing& thing,
                          const report::Table& table, const std::vector<report::CaptionedFigure>& figures,
                          const nlohmann::ordered_json& json);

struct DecomposeOptions {
  std::string input, member, out;
  std::vector<int64_t> modes, index;
  std::vector<std::string> spaces;
  int64_t rank = 8, starts = 0, iterations = 0, seed = 0, projections = 0, skip_tokens = 0;
  bool force = false;
  // For runs and models; layers, heads and samples count from 1, 0: not set.
  tasks::AttentionRequest attention;
  int64_t layer = 0, head = 0, samples = 0, sample = 0;
};

analysis::StudyOptions study_options(const DecomposeOptions& options);

/// Prints the decomposition of one matrix (JSON: added to `json`) and writes it to --out.
void decompose_matrix(const Program& program, const DecomposeOptions& options, const DecomposedThing& thing,
                      const at::Tensor& matrix, const std::vector<int64_t>& modes,
                      nlohmann::ordered_json json);

/// Decomposes the attention of a run or model: one layer and head, or a table of those selected by --layer
/// and
/// --head.
void decompose_attention(const Program& program, const DecomposeOptions& options);

}  // namespace modewise::cli
