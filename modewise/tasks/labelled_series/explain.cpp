#include "modewise/tasks/labelled_series/explain.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/where.h>
#include <fmt/format.h>

#include <filesystem>

#include "modewise/core/error.h"

namespace modewise::tasks {
namespace {

/// The probabilities' change when places of the cases are taken away.
class CaseOcclusion {
 public:
  CaseOcclusion(models::SeriesClassifier& model, const models::SeriesInput& input)
      : model_(model), input_(input), whole_(model.forward(input).softmax(-1)) {
    const at::Tensor sum = input.values.sum(-1, true);
    means_ = input.valid.defined() ? sum / input.valid.sum(-1, true).unsqueeze(1).to(sum.scalar_type())
                                   : sum / input.values.size(-1);
    means_ = means_.expand_as(input.values);
    if (input.valid.defined())  // behind a case's end stays nothing
      means_ = at::where(input.valid.unsqueeze(1), means_, input.values);
  }

  /// Places begin … end − 1 of dimension `dim` of the values [B, V, T].
  double effect(int64_t dim, int64_t begin, int64_t end) const {
    at::Tensor values = input_.values.clone();
    values.narrow(dim, begin, end - begin).copy_(means_.narrow(dim, begin, end - begin));
    return (model_.forward({values, input_.valid}).softmax(-1) - whole_).abs().mean().item<double>();
  }

 private:
  models::SeriesClassifier& model_;
  const models::SeriesInput& input_;
  at::Tensor whole_, means_;
};

/// Runs of `thick` places along a dimension of `size`.
Influence along(const CaseOcclusion& occlusion, const std::string& mode, int64_t dim, int64_t size,
                int64_t thick, int64_t most) {
  Influence out;
  out.mode = mode;
  for (const auto& [first, last] : place_groups((size + thick - 1) / thick, most)) {
    const int64_t begin = first * thick, end = std::min(last * thick, size);
    out.places.push_back(end - begin == 1 ? std::to_string(begin) : fmt::format("{} … {}", begin, end - 1));
    out.effect.push_back(occlusion.effect(dim, begin, end));
  }
  return out;
}

}  // namespace

Explanation explain_series(const SeriesRun& run, const data::SeriesCollection& set,
                           const ExplainOptions& options) {
  const at::NoGradGuard no_grad;
  const std::vector<int64_t> split = set.split(options.split);
  require(!split.empty(), ErrorKind::data, "{}: there are no {} cases", set.source, options.split);
  std::vector<int64_t> samples;
  for (const int64_t i : spread_samples(std::ssize(split), options.samples))
    samples.push_back(split[static_cast<size_t>(i)]);
  models::SeriesClassifier& model = *run.model;
  const models::SeriesShape& shape = model.shape();
  const data::SeriesBatch batch = data::gather_cases(set, samples, shape.length, shape.padded);
  const models::SeriesInput input{batch.values, batch.valid};
  const bool attends = run.config.model.name == "patchtst";
  Explanation e;
  e.title =
      fmt::format("{} on {}", model_title(run.config), std::filesystem::path(set.source).filename().string());
  e.subtitle = "What the classifier attends to";
  e.facts = {{"run", run.folder.path().string()},
             {"samples", fmt::format("{} cases of the {} split", samples.size(), options.split)}};
  e.mode_names = {"patch"};
  e.labels.emplace_back();
  for (size_t i = 0; i < std::min<size_t>(samples.size(), static_cast<size_t>(options.singles)); ++i)
    e.sample_names.push_back("case " + set.names[static_cast<size_t>(samples[i])]);
  for (int64_t layer = 0; attends && layer < run.config.model.blocks; ++layer)
    e.full.push_back(model.attention_matrix(input, layer));
  e.ranks = analysis::layer_ranks({}, e.full, {run.config.model.tokens(shape.length)});
  const CaseOcclusion occlusion(model, input);
  if (shape.variables > 1)
    e.influences.push_back(along(occlusion, "variable", 1, shape.variables, 1, options.places));
  const int64_t stride = attends ? run.config.model.patch.stride : 1;
  e.influences.push_back(along(occlusion, "time", 2, shape.length, stride, options.places));
  e.effect_unit = "the mean absolute change of the classes' probabilities";
  e.removal = "its values become the variable's mean over the case";
  return e;
}

}  // namespace modewise::tasks
