#pragma once
// What `decompose --out` writes.

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "modewise/analysis/decomposition_study.h"

namespace modewise::cli {

/// What was taken apart.
struct DecomposedThing {
  std::string name;                                        // heads the page
  std::vector<std::pair<std::string, std::string>> facts;  // below it
};

/// Makes the folder; cannot_create error when it holds a decomposition already, unless `force`.
void make_decomposition_folder(const std::filesystem::path& folder, bool force);
/// decomposition.json, .csv, factors.npz, report.html and the figures as SVG.
void write_decomposition(const std::filesystem::path& folder, const DecomposedThing& thing,
                         const analysis::DecompositionStudy& study, const nlohmann::ordered_json& json);
/// The same of a table of heads: decomposition.json, .csv, report.html.
void write_decompositions(const std::filesystem::path& folder, const DecomposedThing& thing,
                          const report::Table& table, const nlohmann::ordered_json& json);
/// matrix.npy
void write_matrix(const std::filesystem::path& folder, const at::Tensor& matrix);

}  // namespace modewise::cli
