#pragma once
// The command `decompose`: of a matrix in a file, or of the attention of a run or model.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/decomposition_files.h"
#include "cli/program.h"
#include "modewise/tasks/attention_matrices.h"

namespace modewise::cli {

struct DecomposeOptions {
  std::string input, member, out;
  std::vector<int64_t> modes, index;
  std::vector<std::string> spaces;
  int64_t rank = 8, starts = 0, iterations = 0, seed = 0;
  bool force = false;
  // Of runs and models; layers, heads and samples from 1, 0: not said.
  tasks::AttentionRequest attention;
  int64_t layer = 0, head = 0, samples = 0, sample = 0;
};

analysis::StudyOptions study_options(const DecomposeOptions& options);

/// Prints the decomposition of one matrix, whose JSON begins with `json`, and writes it where --out says.
int decompose_matrix(const Program& program, const DecomposeOptions& options, const DecomposedThing& thing,
                     const at::Tensor& matrix, const std::vector<int64_t>& modes,
                     nlohmann::ordered_json json);

/// Of a run or model: one layer and head taken apart, or a table of those that --layer and --head leave.
int decompose_attention(const Program& program, const DecomposeOptions& options);

}  // namespace modewise::cli
