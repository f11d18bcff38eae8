#include "cli/decomposition_files.h"

#include <fmt/ranges.h>

#include <map>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/io/arrays/npy.h"
#include "modewise/io/arrays/npz.h"

namespace modewise::cli {
namespace {

namespace fs = std::filesystem;

io::Array array_of(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.contiguous();
  return io::make_array(plain.sizes().vec(),
                        std::span(plain.const_data_ptr<double>(), static_cast<size_t>(plain.numel())));
}

report::HtmlPage page_of(const DecomposedThing& thing) {
  report::HtmlPage page("Decomposition of " + thing.name, "Kronecker, Tucker, tensor train");
  for (const auto& [name, value] : thing.facts) page.add_fact(name, value);
  return page;
}

void write_json(const fs::path& folder, const nlohmann::ordered_json& json) {
  const auto lenient = nlohmann::ordered_json::error_handler_t::replace;
  write_file_atomically(folder / "decomposition.json", json.dump(1, ' ', false, lenient) + "\n");
}

}  // namespace

void make_decomposition_folder(const fs::path& folder, bool force) {
  std::error_code error;
  fs::create_directories(folder, error);
  require(!error, ErrorKind::cannot_create, "cannot create {}: {}", folder.string(), error.message());
  require(force || !fs::exists(folder / "decomposition.json"), ErrorKind::cannot_create,
          "{} holds a decomposition already: --force overwrites it", folder.string());
}

void write_decomposition(const fs::path& folder, const DecomposedThing& thing,
                         const analysis::DecompositionStudy& study, const nlohmann::ordered_json& json) {
  write_json(folder, json);
  write_file_atomically(folder / "decomposition.csv", analysis::study_lines(study).to_csv());
  std::map<std::string, io::Array> factors = {{"weights", array_of(study.largest.weights)}};
  for (size_t i = 0; i < study.largest.factors.size(); ++i)
    factors[fmt::format("factor{}", i + 1)] = array_of(study.largest.factors[i]);
  io::write_npz((folder / "factors.npz").string(), factors);
  report::HtmlPage page = page_of(thing);
  page.add_fact("matrix", fmt::format("{} × {}", study.tokens, study.tokens));
  page.add_fact("modes", fmt::format("{}", fmt::join(study.modes, " × ")));
  page.add_fact("exact at rank", fmt::format("{}", analysis::exact_rank(study.modes)));
  page.add_section("Error by rank");
  page.add_table(analysis::study_table(study), "Relative Frobenius error, and the numbers each form holds.");
  page.add_section("Spectra");
  page.add_table(analysis::spectra_table(study.spectra),
                 "Terms and numbers that hold 90 % and 99 % of ‖A‖².");
  const auto figures = analysis::study_figures(study);
  page.add_figure_grid(figures);
  page.write(folder / "report.html");
  const char* names[] = {"error_rank.svg", "error_parameters.svg", "spectrum.svg", "information.svg"};
  for (size_t i = 0; i < figures.size(); ++i)
    write_file_atomically(folder / names[i], report::to_svg(figures[i].figure));
}

void write_decompositions(const fs::path& folder, const DecomposedThing& thing, const report::Table& table,
                          const nlohmann::ordered_json& json) {
  write_json(folder, json);
  write_file_atomically(folder / "decomposition.csv", table.to_csv());
  report::HtmlPage page = page_of(thing);
  page.add_section("Layers and heads");
  page.add_table(table, "Terms that hold 90 % and 99 % of ‖A‖² in each space, and the numbers they take.");
  page.write(folder / "report.html");
}

void write_matrix(const fs::path& folder, const at::Tensor& matrix) {
  io::write_npy((folder / "matrix.npy").string(), array_of(matrix));
}

}  // namespace modewise::cli
