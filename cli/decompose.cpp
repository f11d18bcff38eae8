#include <ATen/ops/empty.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "modewise/analysis/decomposition_study.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/io/npz.h"

namespace modewise::cli {
namespace {

namespace fs = std::filesystem;

struct DecomposeOptions {
  std::string file, member, out;
  std::vector<int64_t> modes, index;
  std::vector<std::string> spaces;
  int64_t rank = 8, starts = 0, iterations = 1000, seed = 0;
  bool force = false;
};

io::Array read_array(const DecomposeOptions& options) {
  if (!options.file.ends_with(".npz")) {
    require(options.member.empty(), ErrorKind::usage,
            "--member names an array of an .npz file, but {} is none", options.file);
    return io::read_npy(options.file);
  }
  auto arrays = io::read_npz(options.file);
  std::vector<std::string> names;
  for (const auto& [name, array] : arrays) names.push_back(name);
  const std::string member = options.member.empty() && names.size() == 1 ? names.front() : options.member;
  require(arrays.contains(member), ErrorKind::usage, "{}: --member must be one of {}", options.file,
          fmt::join(names, ", "));
  return std::move(arrays[member]);
}

/// The matrix [N, N] at --index of the leading dimensions.
at::Tensor matrix_of(const DecomposeOptions& options) {
  const io::Array array = read_array(options);
  require(array.shape.size() >= 2, ErrorKind::data, "{}: a matrix is needed, got shape [{}]", options.file,
          fmt::join(array.shape, ", "));
  const std::vector<double> values = io::to_doubles(array);
  const size_t leading = array.shape.size() - 2;
  require(options.index.size() == leading, ErrorKind::usage,
          "{} has shape [{}]: --index must say which matrix, with {} number{}, got {}", options.file,
          fmt::join(array.shape, ", "), leading, leading == 1 ? "" : "s", options.index.size());
  int64_t at = 0;
  for (size_t i = 0; i < leading; ++i) {
    require(options.index[i] >= 0 && options.index[i] < array.shape[i], ErrorKind::usage,
            "--index {} is outside shape [{}]", fmt::join(options.index, ","), fmt::join(array.shape, ", "));
    at = at * array.shape[i] + options.index[i];
  }
  const int64_t rows = array.shape[leading], columns = array.shape[leading + 1];
  require(rows * columns > 0, ErrorKind::data, "{}: the matrix is empty", options.file);
  at::Tensor matrix = at::empty({rows, columns}, at::kDouble);
  std::copy_n(values.begin() + at * rows * columns, rows * columns, matrix.mutable_data_ptr<double>());
  return matrix;
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

io::Array array_of(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.contiguous();
  return io::make_array(plain.sizes().vec(),
                        std::span(plain.const_data_ptr<double>(), static_cast<size_t>(plain.numel())));
}

void write_results(const DecomposeOptions& options, const analysis::DecompositionStudy& study) {
  const fs::path out = options.out;
  fs::create_directories(out);
  require(options.force || !fs::exists(out / "decomposition.json"), ErrorKind::cannot_create,
          "{} holds a decomposition already: --force overwrites it", out.string());
  write_file_atomically(out / "decomposition.json", analysis::study_json(study).dump(1) + "\n");
  write_file_atomically(out / "decomposition.csv", analysis::study_lines(study).to_csv());
  std::map<std::string, io::Array> factors = {{"weights", array_of(study.largest.weights)}};
  for (size_t i = 0; i < study.largest.factors.size(); ++i)
    factors[fmt::format("factor{}", i + 1)] = array_of(study.largest.factors[i]);
  io::write_npz((out / "factors.npz").string(), factors);
  report::HtmlPage page("Decomposition of " + fs::path(options.file).filename().string(),
                        "Kronecker, Tucker, tensor train");
  page.add_fact("matrix", fmt::format("{} × {}", study.tokens, study.tokens));
  page.add_fact("modes", fmt::format("{}", fmt::join(study.modes, " × ")));
  page.add_fact("exact at rank", fmt::format("{}", analysis::exact_rank(study.modes)));
  page.add_section("Error by rank");
  page.add_table(analysis::study_table(study), "Relative Frobenius error, and the numbers each form holds.");
  page.add_section("Figures");
  const auto figures = analysis::study_figures(study);
  page.add_figure_grid(figures);
  page.write(out / "report.html");
  const char* names[] = {"error_rank.svg", "error_parameters.svg", "spectrum.svg", "information.svg"};
  for (size_t i = 0; i < figures.size(); ++i)
    write_file_atomically(out / names[i], report::to_svg(figures[i].figure));
}

int decompose(const Program& program, const DecomposeOptions& options) {
  const at::Tensor matrix = matrix_of(options);
  analysis::StudyOptions study_options;
  study_options.rank = options.rank;
  for (const std::string& space : options.spaces) study_options.spaces.push_back(parse_space(space));
  study_options.canonical.starts = options.starts;
  study_options.canonical.iterations = options.iterations;
  study_options.canonical.seed = static_cast<uint64_t>(options.seed);
  const analysis::DecompositionStudy study =
      analysis::study_decomposition(matrix, options.modes, study_options);
  if (!options.out.empty()) write_results(options, study);
  if (program.json()) {
    program.print(analysis::study_json(study));
    return 0;
  }
  std::string text =
      fmt::format("{} × {} over modes {}; every such matrix is exact at Kronecker rank {}\n\n", study.tokens,
                  study.tokens, fmt::join(study.modes, " × "), analysis::exact_rank(study.modes));
  report::Table spaces(
      {{"space"}, {"numbers a term"}, {"terms for 90 %"}, {"numbers for 90 %"}, {"terms for 99 %"}});
  for (const analysis::Spectrum& space : study.spectra) {
    const auto reaches = [&](double share) {
      for (size_t i = 0; i < space.ranks.size(); ++i)
        if (space.information[i] >= share) return static_cast<double>(space.ranks[i]);
      return std::nan("");
    };
    spaces.add_row({space.name, space.term_parameters, report::Cell(reaches(0.9), 0),
                    report::Cell(reaches(0.9) * static_cast<double>(space.term_parameters), 0),
                    report::Cell(reaches(0.99), 0)});
  }
  program.print(text + analysis::study_table(study).to_text() + "\n" + spaces.to_text());
  return 0;
}

}  // namespace

void add_decompose(Program& program) {
  const auto options = std::make_shared<DecomposeOptions>();
  CLI::App* command =
      program.add_command(program.app(), "decompose",
                          "A full attention matrix as a sum of Kronecker products: error against rank, "
                          "spectra, other forms beside it.",
                          "modewise decompose attention.npy --modes 8,8,8 --rank 16 --out decomposition",
                          [&program, options] { return decompose(program, *options); });
  command->add_option("matrix", options->file, ".npy or .npz file with the matrix")->required();
  command->add_option("--modes", options->modes, "N_1,…,N_k, whose product is the number of rows")
      ->delimiter(',')
      ->required()
      ->check(CLI::PositiveNumber);
  command->add_option("--rank", options->rank, "largest rank")->check(CLI::Range(1, 4096));
  command
      ->add_option("--space", options->spaces,
                   "one more folding for the spectra, such as 32x16; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--member", options->member, "array of an .npz file");
  command->add_option("--index", options->index, "which matrix of an array of matrices, such as 0,3")
      ->delimiter(',');
  command
      ->add_option("--starts", options->starts,
                   "starts of the least squares; as many as the size allows without it")
      ->check(CLI::PositiveNumber);
  command->add_option("--iterations", options->iterations, "most sweeps")->check(CLI::PositiveNumber);
  command->add_option("--seed", options->seed, "of the random starts")->check(CLI::NonNegativeNumber);
  command->add_option("--out", options->out,
                      "folder for JSON, CSV, factors (NPZ), HTML report and SVG figures");
  command->add_flag("--force", options->force, "overwrite what is there");
}

}  // namespace modewise::cli
