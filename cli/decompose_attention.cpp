#include <fmt/format.h>

#include <numeric>

#include "cli/decompose.h"
#include "modewise/analysis/stable_rank.h"
#include "modewise/core/error.h"
#include "modewise/core/progress.h"
#include "modewise/tasks/kinds.h"
#include "modewise/tasks/run_figures.h"

namespace modewise::cli {
namespace {

using Json = nlohmann::ordered_json;
using report::Cell;

constexpr int64_t kSamples = 32;

tasks::AttentionMatrices attention_of(const DecomposeOptions& options) {
  require(options.member.empty() && options.index.empty(), ErrorKind::usage,
          "--member and --index are for files of matrices; of {} choose by --layer, --head and --sample",
          options.input);
  const tasks::Kind& kind = tasks::kind_of_run(options.input);
  require(kind.attention != nullptr, ErrorKind::usage,
          "{0} is of the task '{1}': modewise explain {0} writes its attention matrices into explain.npz, "
          "whose arrays decompose takes by --member",
          options.input, kind.name);
  tasks::AttentionRequest request = options.attention;
  request.run = options.input;
  request.modes = options.modes;
  return kind.attention(request);
}

/// 0 … count − 1, or the one that was asked for from 1.
std::vector<int64_t> chosen(int64_t asked, int64_t count, const char* what, const std::string& owner) {
  require(asked <= count, ErrorKind::usage, "there is no {0} {1}: there are {2} {0}s, counted from 1 ({3})",
          what, asked, count, owner);
  if (asked > 0) return {asked - 1};
  std::vector<int64_t> all(static_cast<size_t>(count));
  std::iota(all.begin(), all.end(), int64_t{0});
  return all;
}

/// One head of one layer, in numbers.
struct HeadSpectra {
  int64_t layer = 0, head = 0;
  double stable_rank = 0;
  std::vector<analysis::Spectrum> spectra;
};

report::Table heads_table(const std::vector<HeadSpectra>& heads) {
  std::vector<report::Column> columns = {{"layer"}, {"head"}, {"stable rank"}};
  for (const analysis::Spectrum& space : heads.front().spectra)
    for (const char* what : {"90 %", "numbers", "99 %", "numbers"})
      columns.push_back({what[0] == '9' ? fmt::format("{}: {}", space.name, what) : what});
  report::Table table(columns);
  for (const HeadSpectra& one : heads) {
    std::vector<Cell> cells = {one.layer + 1, one.head + 1, Cell(one.stable_rank, 2)};
    for (const analysis::Spectrum& space : one.spectra)
      for (const double share : {0.9, 0.99}) {
        const std::optional<int64_t> terms = analysis::terms_for(space, share);
        cells.push_back(terms ? Cell(*terms) : Cell(fmt::format("> {}", space.ranks.back())));
        cells.push_back(terms ? Cell(*terms * space.term_parameters) : Cell("–"));
      }
    table.add_row(std::move(cells));
  }
  return table;
}

Json heads_json(const std::vector<HeadSpectra>& heads) {
  Json out = Json::array();
  for (const HeadSpectra& one : heads) {
    Json spectra = Json::array();
    for (const analysis::Spectrum& space : one.spectra) {
      const auto terms = [&](double share) {
        const std::optional<int64_t> found = analysis::terms_for(space, share);
        return found ? Json(*found) : Json();
      };
      spectra.push_back({{"space", space.name},
                         {"parameters_a_term", space.term_parameters},
                         {"terms_90", terms(0.9)},
                         {"terms_99", terms(0.99)}});
    }
    out.push_back({{"layer", one.layer + 1},
                   {"head", one.head + 1},
                   {"stable_rank", one.stable_rank},
                   {"spectra", spectra}});
  }
  return out;
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
  std::vector<HeadSpectra> all;
  Progress progress("decompose", std::ssize(layers) * std::ssize(heads), "heads");
  for (const int64_t layer : layers) {
    const at::Tensor matrices = tasks::mean_attention(attention, samples, layer);
    for (const int64_t head : heads) {
      const at::Tensor matrix = matrices[head];
      all.push_back({layer, head, analysis::stable_rank(matrix).item<double>(),
                     analysis::study_spectra(matrix, attention.modes, study)});
      progress.update(std::ssize(all));
    }
  }
  progress.finish();
  const report::Table table = heads_table(all);
  json["modes"] = attention.modes;
  json["heads"] = heads_json(all);
  if (!options.out.empty()) write_decompositions(options.out, thing, table, json);
  program.print(tasks::Result(
      std::move(json),
      thing.facts_text() +
          "\nterms, and the numbers they take, that hold 90 % and 99 % of ‖A‖² in each space\n\n" +
          table.to_text()));
}

}  // namespace modewise::cli
