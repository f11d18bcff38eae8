#include "cli/decompose.h"

#include <ATen/ops/empty.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "cli/commands.h"
#include "modewise/core/error.h"
#include "modewise/io/arrays/npz.h"

namespace modewise::cli {
namespace {

namespace fs = std::filesystem;

/// Arrays are files; llama2.c's models too.
bool is_array_file(const std::string& path) {
  const std::string ending = fs::path(path).extension().string();
  return ending == ".npy" || ending == ".npz" || (fs::is_regular_file(path) && ending != ".bin");
}

io::Array read_array(const DecomposeOptions& options) {
  if (!options.input.ends_with(".npz")) {
    require(options.member.empty(), ErrorKind::usage,
            "--member names an array of an .npz file, but {} is none", options.input);
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

/// The matrix [N, N] at --index of the leading dimensions.
at::Tensor matrix_of(const DecomposeOptions& options) {
  const io::Array array = read_array(options);
  require(array.shape.size() >= 2, ErrorKind::data, "{}: a matrix is needed, got shape [{}]", options.input,
          fmt::join(array.shape, ", "));
  const std::vector<double> values = io::to_doubles(array);
  const size_t leading = array.shape.size() - 2;
  require(options.index.size() == leading, ErrorKind::usage,
          "{} has shape [{}]: --index must say which matrix, with {} number{}, got {}", options.input,
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

int decompose(const Program& program, const DecomposeOptions& options) {
  if (!is_array_file(options.input)) return decompose_attention(program, options);
  const tasks::AttentionRequest& asked = options.attention;
  require(
      options.layer == 0 && options.head == 0 && options.samples == 0 && options.sample == 0 &&
          asked.data.empty() && asked.tokenizer.empty(),
      ErrorKind::usage,
      "--layer, --head, --samples, --sample, --data and --tokenizer are for runs and models; {} is a file "
      "of matrices",
      options.input);
  const at::Tensor matrix = matrix_of(options);
  require(!options.modes.empty(), ErrorKind::usage,
          "--modes is needed: sizes such as 8,8,8 whose product is the number of rows, {}", matrix.size(0));
  return decompose_matrix(program, options, {fs::path(options.input).filename().string(), {}}, matrix,
                          options.modes, nlohmann::ordered_json::object());
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

int decompose_matrix(const Program& program, const DecomposeOptions& options, const DecomposedThing& thing,
                     const at::Tensor& matrix, const std::vector<int64_t>& modes,
                     nlohmann::ordered_json json) {
  if (!options.out.empty()) make_decomposition_folder(options.out, options.force);
  const analysis::DecompositionStudy study =
      analysis::study_decomposition(matrix, modes, study_options(options));
  json.update(analysis::study_json(study));
  if (!options.out.empty()) {
    write_decomposition(options.out, thing, study, json);
    write_matrix(options.out, matrix);
  }
  if (program.json()) {
    program.print(json);
    return 0;
  }
  std::string text;
  for (const auto& [name, value] : thing.facts) text += fmt::format("{}: {}\n", name, value);
  text +=
      fmt::format("{} × {} over modes {}; every such matrix is exact at Kronecker rank {}\n\n", study.tokens,
                  study.tokens, fmt::join(study.modes, " × "), analysis::exact_rank(study.modes));
  program.print(text + analysis::study_table(study).to_text() + "\n" +
                analysis::spectra_table(study.spectra).to_text());
  return 0;
}

void add_decompose(Program& program) {
  const auto options = std::make_shared<DecomposeOptions>();
  CLI::App* command =
      program.add_command(program.app(), "decompose",
                          "A full attention matrix, of a file or of a language or series model, as a sum of "
                          "Kronecker products: error against rank, spectra, other forms beside it.",
                          "modewise decompose stories260K.bin --data tinystories.txt --layer 2 --head 1 "
                          "--modes 8,8,8",
                          [&program, options] { return decompose(program, *options); });
  command
      ->add_option("matrix,--run", options->input,
                   ".npy or .npz file with the matrix; run folder, or a language model's folder or .bin")
      ->required();
  command
      ->add_option("--modes", options->modes,
                   "N_1,…,N_k, whose product is the number of rows; of runs the attention's fold without it")
      ->delimiter(',')
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
                   "starts of the least squares; as many as the size allows, of a table 1, without it")
      ->check(CLI::PositiveNumber);
  command->add_option("--iterations", options->iterations, "most sweeps; 1000, of a table 100")
      ->check(CLI::PositiveNumber);
  command->add_option("--seed", options->seed, "of the random starts")->check(CLI::NonNegativeNumber);
  const auto add = [&](const char* name, auto& value, const char* help) {
    return command->add_option(name, value, help)->group("Runs and models");
  };
  add("--layer", options->layer, "from 1; a table of all without --layer or --head")
      ->check(CLI::PositiveNumber);
  add("--head", options->head, "from 1")->check(CLI::PositiveNumber);
  CLI::Option* samples = add("--samples", options->samples, "so many, evenly spread, whose mean is taken; 32")
                             ->check(CLI::PositiveNumber);
  add("--sample", options->sample, "one alone, from 1")->check(CLI::PositiveNumber)->excludes(samples);
  add("--data", options->attention.data, "text or cases other than the run's own");
  add("--split", options->attention.split, "of the run's own data: test, validation, train or all")
      ->check(CLI::IsMember({"test", "validation", "train", "all"}));
  add("--tokenizer", options->attention.tokenizer, "in place of the language model's own");
  add("--separator", options->attention.separator,
      "between documents of --data: auto, endoftext, blank, none")
      ->check(CLI::IsMember({"auto", "endoftext", "blank", "none"}));
  command->add_option("--out", options->out,
                      "folder for JSON, CSV, matrix (NPY), factors (NPZ), HTML report and SVG figures");
  command->add_flag("--force", options->force, "overwrite what is there");
}

}  // namespace modewise::cli
