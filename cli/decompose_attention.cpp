#include <fmt/format.h>

#include <filesystem>
#include <numeric>

#include "cli/decompose.h"
#include "modewise/analysis/head_spectra.h"
#include "modewise/analysis/stable_rank.h"
#include "modewise/core/error.h"
#include "modewise/core/escaped_text.h"
#include "modewise/core/progress.h"
#include "modewise/tasks/registry.h"
#include "modewise/tasks/run/run_documents.h"
#include "modewise/tasks/run/run_figures.h"
#include "modewise/tasks/run/test_split.h"

namespace modewise::cli {
namespace {

using Json = nlohmann::ordered_json;
constexpr int64_t kSamples = 32;

tasks::AttentionMatrices attention_of(const DecomposeOptions& options) {
  require(options.member.empty() && options.index.empty(), ErrorKind::usage,
          "--member and --index are for files of matrices; for {} use --layer, --head and --sample",
          options.input);
  const tasks::TaskSpec& kind = tasks::task_of_run(options.input);
  require(kind.attention != nullptr, ErrorKind::usage,
          "{0} is of the task '{1}': modewise explain {2} writes its attention matrices to explain.npz, "
          "whose arrays decompose reads with --member",
          options.input, kind.name, command_word(options.input));
  tasks::AttentionRequest request = options.attention;
  request.run = options.input;
  request.modes = options.modes;
  if (request.data.empty() && request.split == "test" &&
      std::filesystem::exists(std::filesystem::path(request.run) / "manifest.json"))
    tasks::warn_of_unread_test(train::RunFolder::open(request.run),
                               "this decomposition reads its test split");
  return tasks::reading_run(request.run, [&] { return kind.attention(request); });
}

/// 0 … count − 1, or only the requested one (counted from 1).
std::vector<int64_t> chosen(int64_t asked, int64_t count, const char* what, const std::string& owner) {
  require(asked <= count, ErrorKind::usage, "there is no {0} {1}: there are {2} {0}s, counted from 1 ({3})",
          what, asked, count, owner);
  if (asked > 0) return {asked - 1};
  std::vector<int64_t> all(static_cast<size_t>(count));
  std::iota(all.begin(), all.end(), int64_t{0});
  return all;
}

}  // namespace

void decompose_attention(const Program& program, const DecomposeOptions& options) {
  const tasks::AttentionMatrices attention = attention_of(options);
  const auto layers = chosen(options.layer, attention.layers, "layer", attention.model);
  const auto heads = chosen(options.head, attention.heads, "head", attention.model);
  const std::vector<int64_t> samples =
      options.sample > 0
          ? chosen(options.sample, attention.samples, attention.sample.c_str(), attention.source)
          : tasks::spread_samples(attention.samples, options.samples > 0 ? options.samples : kSamples);
  const std::string taken =
      options.sample > 0
          ? fmt::format("{} {} of {} tokens", attention.sample, options.sample, attention.tokens)
          : fmt::format("mean of {} {}s of {} tokens", samples.size(), attention.sample, attention.tokens);
  DecomposedThing thing = {attention.model,
                           {{"model", attention.model}, {"weights", taken}, {"of", attention.source}}};
  Json json = {{"model", attention.model},
               {"source", attention.source},
               {"sample", attention.sample},
               {"samples", samples.size()},
               {"sample_tokens", attention.tokens}};
  if (layers.size() == 1 && heads.size() == 1) {
    thing.facts.emplace_back("layer", std::to_string(layers[0] + 1));
    thing.facts.emplace_back("head", std::to_string(heads[0] + 1));
    const at::Tensor matrix = tasks::mean_attention(attention, samples, layers[0])[heads[0]];
    json["layer"] = layers[0] + 1;
    json["head"] = heads[0] + 1;
    json["stable_rank"] = analysis::stable_rank(matrix).item<double>();
    thing.facts.emplace_back("stable rank", fmt::format("{:.2f}", json["stable_rank"].get<double>()));
    decompose_matrix(program, options, thing, matrix, attention.modes, std::move(json));
    return;
  }
  if (!options.out.empty()) make_decomposition_folder(options.out, options.force);
  analysis::StudyOptions study = study_options(options);
  if (options.starts == 0) study.canonical.starts = 1;
  if (options.iterations == 0) study.canonical.iterations = 100;
  const auto spectra_of = [&](int64_t layer, int64_t head, const at::Tensor& matrix) {
    return analysis::HeadSpectra{layer, head, analysis::stable_rank(matrix).item<double>(),
                                 analysis::study_spectra(matrix, attention.modes, study)};
  };
  std::vector<analysis::HeadSpectra> all;
  at::Tensor any;  // sum of weights over heads: 0 where none attends
  Progress progress("decompose", std::ssize(layers) * std::ssize(heads), "heads");
  for (const int64_t layer : layers) {
    const at::Tensor matrices = tasks::mean_attention(attention, samples, layer);
    for (const int64_t head : heads) {
      any = any.defined() ? any + matrices[head] : matrices[head];
      all.push_back(spectra_of(layer, head, matrices[head]));
      progress.update(std::ssize(all));
    }
  }
  progress.finish();
  const analysis::HeadSpectra random =
      spectra_of(0, 0, analysis::random_attention_like(any, static_cast<uint64_t>(options.seed)));
  const report::Table table = analysis::heads_table(all, random);
  json["modes"] = attention.modes;
  json["heads"] = analysis::heads_json(all);
  json["random"] = analysis::heads_json({random})[0]["spectra"];
  if (!options.out.empty())
    write_decompositions(options.out, thing, table, analysis::heads_figures(all, random), json);
  program.print(tasks::Result(std::move(json),
                              thing.facts_text() +
                                  "\nterms and parameters for 90 % and 99 % of ‖A‖² in each space\n\n" +
                                  table.to_text()));
}

}  // namespace modewise::cli
