#include "cli/decompose.h"

#include <ATen/ops/empty.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "modewise/analysis/random_projection.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/folder.h"
#include "modewise/io/arrays/npy.h"
#include "modewise/io/arrays/npz.h"

namespace modewise::cli {
namespace {

namespace fs = std::filesystem;

/// Whether the path is an array file (llama2.c models are files, too).
bool is_array_file(const std::string& path) {
  const std::string ending = fs::path(path).extension().string();
  return ending == ".npy" || ending == ".npz" || (fs::is_regular_file(path) && ending != ".bin");
}

io::Array read_array(const DecomposeOptions& options) {
  if (!options.input.ends_with(".npz")) {
    require(options.member.empty(), ErrorKind::usage, "--member is for .npz files, but {} is not one",
            options.input);
    return io::read_npy(options.input);
  }
  auto arrays = io::read_npz(options.input);
  std::vector<std::string> names;
  for (const auto& [name, array] : arrays) names.push_back(name);
  const std::string member = options.member.empty() && names.size() == 1 ? names.front() : options.member;
  require(arrays.contains(member), ErrorKind::usage, "{}: --member must be one of {}", options.input,
          fmt::join(names, ", "));
  return std::move(arrays[member]);
}

/// The matrix [N, N] at --index of the leading dimensions, without the first --skip-tokens rows and columns.
at::Tensor matrix_of(const DecomposeOptions& options) {
  const io::Array array = read_array(options);
  require(array.shape.size() >= 2, ErrorKind::data, "{}: expected a matrix, got shape [{}]", options.input,
          fmt::join(array.shape, ", "));
  const std::vector<double> values = io::to_doubles(array);
  const size_t leading = array.shape.size() - 2;
  require(options.index.size() == leading, ErrorKind::usage,
          "{} has shape [{}]: --index must select a matrix with {} number{}, got {}", options.input,
          fmt::join(array.shape, ", "), leading, leading == 1 ? "" : "s", options.index.size());
  int64_t at = 0;
  for (size_t i = 0; i < leading; ++i) {
    require(options.index[i] >= 0 && options.index[i] < array.shape[i], ErrorKind::usage,
            "--index {} is outside shape [{}]", fmt::join(options.index, ","), fmt::join(array.shape, ", "));
    at = at * array.shape[i] + options.index[i];
  }
  const int64_t rows = array.shape[leading], columns = array.shape[leading + 1];
  require(rows * columns > 0, ErrorKind::data, "{}: the matrix is empty", options.input);
  at::Tensor matrix = at::empty({rows, columns}, at::kDouble);
  std::copy_n(values.begin() + at * rows * columns, rows * columns, matrix.mutable_data_ptr<double>());
  const int64_t skipped = options.skip_tokens;
  require(skipped < std::min(rows, columns), ErrorKind::usage, "--skip-tokens {}: the matrix is {} × {}",
          skipped, rows, columns);
  return matrix.slice(0, skipped).slice(1, skipped).contiguous();
}

/// "32x16" or "32,16".
std::vector<int64_t> parse_space(const std::string& text) {
  std::vector<int64_t> sizes;
  std::string digits;
  for (const char c : text + ",") {
    if (c >= '0' && c <= '9' && digits.size() < 9) {
      digits += c;
      continue;
    }
    require((c == 'x' || c == ',') && !digits.empty() && std::stoll(digits) > 0, ErrorKind::usage,
            "--space must be sizes such as 32x16, got '{}'", text);
    sizes.push_back(std::stoll(digits));
    digits.clear();
  }
  return sizes;
}

void decompose(const Program& program, const DecomposeOptions& options) {
  if (!is_array_file(options.input)) {
    require(options.skip_tokens == 0, ErrorKind::usage,
            "--skip-tokens is for files of matrices; {} is a run or model", options.input);
    decompose_attention(program, options);
    return;
  }
  const tasks::AttentionRequest& asked = options.attention;
  require(options.layer == 0 && options.head == 0 && options.samples == 0 && options.sample == 0 &&
              asked.data.empty() && asked.tokenizer.empty(),
          ErrorKind::usage,
          "--layer, --head, --samples, --sample, --data and --tokenizer are for runs and models; {} is a "
          "file of matrices",
          options.input);
  const at::Tensor matrix = matrix_of(options);
  require(!options.modes.empty(), ErrorKind::usage,
          "set --modes: sizes such as 8,8,8 whose product is the number of rows, {}", matrix.size(0));
  DecomposedThing thing{fs::path(options.input).filename().string(), {}};
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (options.skip_tokens > 0) {
    thing.facts.emplace_back("skipped tokens", std::to_string(options.skip_tokens));
    json["skipped_tokens"] = options.skip_tokens;
  }
  decompose_matrix(program, options, thing, matrix, options.modes, std::move(json));
}

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

void write_figures(const fs::path& folder, const std::vector<report::CaptionedFigure>& figures,
                   const std::vector<std::string>& names) {
  for (size_t i = 0; i < figures.size(); ++i)
    write_file_atomically(folder / names[i], report::to_svg(figures[i].figure));
}

/// Writes decomposition.json, .csv, factors.npz, report.html and SVG figures.
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
  page.add_table(analysis::study_table(study),
                 "Relative Frobenius error, and the number of parameters of each decomposition.");
  page.add_section("Spectra");
  page.add_table(analysis::spectra_table(study.spectra), "Terms and parameters for 90 % and 99 % of ‖A‖².");
  const auto figures = analysis::study_figures(study);
  page.add_figure_grid(figures);
  page.write(folder / "report.html");
  write_figures(folder, figures,
                {"error_rank.svg", "error_parameters.svg", "spectrum.svg", "information.svg"});
}

/// "100 (vector), 300 (8 × 8)"
std::string asked_rows(const analysis::ProjectionStudy& study) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < study.spaces.size(); ++i)
    parts.push_back(
        fmt::format("{:.0f} ({})", std::ceil(study.asked[i]), analysis::space_name(study.spaces[i])));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

analysis::StudyOptions study_options(const DecomposeOptions& options) {
  analysis::StudyOptions out;
  out.rank = options.rank;
  for (const std::string& space : options.spaces) out.spaces.push_back(parse_space(space));
  out.canonical.starts = options.starts;
  if (options.iterations > 0) out.canonical.iterations = options.iterations;
  out.canonical.seed = static_cast<uint64_t>(options.seed);
  return out;
}

void decompose_matrix(const Program& program, const DecomposeOptions& options, const DecomposedThing& thing,
                      const at::Tensor& matrix, const std::vector<int64_t>& modes,
                      nlohmann::ordered_json json) {
  if (!options.out.empty()) make_decomposition_folder(options.out, options.force);
  const analysis::DecompositionStudy study =
      analysis::study_decomposition(matrix, modes, study_options(options));
  json.update(analysis::study_json(study));
  std::string projected;
  if (options.projections > 0) {
    const analysis::ProjectionStudy projections =
        analysis::study_projections(matrix, modes, options.projections, static_cast<uint64_t>(options.seed));
    json["projections"] = analysis::projection_json(projections);
    projected = fmt::format(
        "\nError of A Tᵀ T y relative to A y, random T in each space, {} draws of T and y. With ε = {:g} and "
        "δ = .05/n Lemma B.1, as printed, requires {} rows\n\n{}",
        options.projections, projections.epsilon, asked_rows(projections),
        analysis::projection_table(projections).to_text());
  }
  if (!options.out.empty()) {
    write_decomposition(options.out, thing, study, json);
    io::write_npy((fs::path(options.out) / "matrix.npy").string(), array_of(matrix));
  }
  program.print(tasks::Result(
      std::move(json),
      fmt::format("{}{} × {} over modes {}; every such matrix is exact at Kronecker rank {}\n\n{}\n{}{}",
                  thing.facts_text(), study.tokens, study.tokens, fmt::join(study.modes, " × "),
                  analysis::exact_rank(study.modes), analysis::study_table(study).to_text(),
                  analysis::spectra_table(study.spectra).to_text(), projected)));
}

void add_decompose(Program& program) {
  const auto [app, options] = program.add_command<DecomposeOptions>(
      program.app(), "decompose",
      "Decomposes full attention matrices, of a file or of a language, text or series model, into Kronecker "
      "products: error by rank, spectra, comparison with Tucker and tensor trains.",
      "modewise decompose stories260K.bin --data tinystories.txt --layer 2 --head 1 --modes 8,8,8",
      decompose);
  CLI::App* command = app;
  command
      ->add_option("matrix,--run", options.input,
                   ".npy or .npz file with the matrix; run folder, or a language model's folder or .bin")
      ->required();
  command
      ->add_option("--modes", options.modes,
                   "N_1,…,N_k, whose product is the number of rows (default for runs: the attention's fold)")
      ->delimiter(',')
      ->check(positive_number());
  command->add_option("--rank", options.rank, "maximum rank")->check(CLI::Range(1, 4096));
  command->add_option("--space", options.spaces, "further folding for the spectra, such as 32x16; repeatable")
      ->allow_extra_args(false);
  command->add_option("--member", options.member, "array of an .npz file");
  command->add_option("--index", options.index, "index of the matrix in an array of matrices, such as 0,3")
      ->delimiter(',');
  command
      ->add_option("--skip-tokens", options.skip_tokens,
                   "leave out the first rows and columns of a file's matrix: 1 for the class token of a ViT")
      ->check(CLI::NonNegativeNumber);
  add_positive(*command, "--starts", options.starts,
               "starts of the least squares (default: as many as the size allows; 1 for a table)");
  add_positive(*command, "--iterations", options.iterations,
               "maximum iterations (default 1000; 100 for a table)");
  command->add_option("--seed", options.seed, "seed of the random starts (default 0)")
      ->check(non_negative_number());
  add_positive(
      *command, "--projections", options.projections,
      "for one matrix: also the error of random projections in its spaces (Theorem 3.1), with this many "
      "draws of each");
  const auto add = [&](const char* name, auto& value, const char* help) {
    return command->add_option(name, value, help)->group("Runs and models");
  };
  add("--layer", options.layer, "layer, from 1 (default: a table of all)")->check(positive_number());
  add("--head", options.head, "head, from 1 (default: a table of all)")->check(positive_number());
  CLI::Option* samples =
      add("--samples", options.samples, "number of evenly spaced samples for the mean (default 32)")
          ->check(positive_number());
  add("--sample", options.sample, "a single sample, from 1")->check(positive_number())->excludes(samples);
  add("--data", options.attention.data, "other text or samples than the run's own");
  add("--split", options.attention.split,
      "split of the run's own data: test, validation, train or all (default test)")
      ->check(CLI::IsMember({"test", "validation", "train", "all"}));
  add("--tokenizer", options.attention.tokenizer, "tokenizer instead of the language model's own");
  add("--separator", options.attention.separator,
      "separator between documents of --data: auto, endoftext, blank, none (default auto)")
      ->check(CLI::IsMember({"auto", "endoftext", "blank", "none"}));
  command->add_option("--out", options.out,
                      "folder for JSON, CSV, matrix (NPY), factors (NPZ), HTML report and SVG figures");
  command->add_flag("--overwrite", options.force, "overwrite existing files");
}

std::string DecomposedThing::facts_text() const {
  std::string text;
  for (const auto& [fact, value] : facts) text += fmt::format("{}: {}\n", fact, value);
  return text;
}

void make_decomposition_folder(const fs::path& folder, bool force) {
  make_folders(folder);
  require(force || !fs::exists(folder / "decomposition.json"), ErrorKind::cannot_create,
          "{} already contains a decomposition: --overwrite overwrites it", folder.string());
  remove_stale_temporaries(folder, [](std::string_view) { return true; });
}

void write_decompositions(const fs::path& folder, const DecomposedThing& thing, const report::Table& table,
                          const std::vector<report::CaptionedFigure>& figures,
                          const nlohmann::ordered_json& json) {
  write_json(folder, json);
  write_file_atomically(folder / "decomposition.csv", table.to_csv());
  report::HtmlPage page = page_of(thing);
  page.add_section("Layers and heads");
  page.add_table(table, "Terms and parameters for 90 % and 99 % of ‖A‖² in each space.");
  page.add_figure_grid(figures);
  page.write(folder / "report.html");
  write_figures(folder, figures, {"spectrum.svg", "information.svg"});
}

}  // namespace modewise::cli
