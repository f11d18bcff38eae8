#include "cli/cost_entries.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <map>

#include "modewise/core/error.h"

namespace modewise::cli {
namespace {

const std::vector<CostMechanism>& mechanisms() {
  using analysis::Projection;
  static const std::vector<CostMechanism> all = {
      {"product", "hot", "softmax", "product", "Kronecker product"},
      {"sum", "hot", "softmax", "mean", "Kronecker sum"},
      {"released", "hot", "softmax", "product", "Kronecker, projected as released", Projection::full, 0.67},
      {"linear", "hot", "linear", "product", "Kronecker linear"},
      {"full", "transformer", "softmax", "product", "full", Projection::pooled, 0.72},
      {"full-linear", "transformer", "linear", "product", "full linear"},
      {"divided", "divided", "softmax", "product", "divided", Projection::pooled, 0.71},
      {"mvit", "mvit", "softmax", "product", "pooling (MViT)"},
  };
  return all;
}

const CostMechanism& mechanism_named(const std::string& name) {
  for (const CostMechanism& one : mechanisms())
    if (one.name == name) return one;
  std::vector<std::string> names;
  for (const CostMechanism& one : mechanisms()) names.emplace_back(one.name);
  fail(ErrorKind::usage, "there is no mechanism '{}' (there are {})", name, fmt::join(names, ", "));
}

/// The model of one mechanism and size.
analysis::GridModel model_of(const CostOptions& options, const CostMechanism& mechanism,
                             const std::vector<int64_t>& size) {
  analysis::GridModel model = options.model;
  model.size = size;
  model.mechanism = mechanism.attention;
  model.encoder.attention.kernel = mechanism.kernel;
  model.encoder.attention.combine = mechanism.combine;
  return model;
}

/// The blocks' linear maps, and attention between all tokens where there is any. Of the counts that were
/// tried this is the one that gives all three figures which Table 2 of the paper prints for volumes; the
/// paper does not say how it counts, and its forecaster (Table 1) and Figure 6 contain mode products, which
/// this leaves out.
double linear_and_all_token(const analysis::GridModel& model, const analysis::ModelCost& cost) {
  double tokens = 1;
  for (const int64_t n : cost.tokens) tokens *= static_cast<double>(n);
  const double gates = model.encoder.feed_forward == "swiglu"
                           ? tokens * static_cast<double>(model.encoder.hidden * model.encoder.blocks)
                           : 0;
  double sum = cost.multiply_adds_of({"query and key", "value and output", "feed-forward"}) - gates;
  if (model.mechanism == "transformer") sum += cost.multiply_adds_of({"scores and mixing"});
  return sum;
}

/// 28³ voxels, patches of 4, 6 blocks of width 128 with SwiGLU of 512.
bool is_paper_model(const analysis::GridModel& model) {
  const models::EncoderConfig& encoder = model.encoder;
  return model.size == std::vector<int64_t>{28, 28, 28} && model.patch == 4 && encoder.blocks == 6 &&
         encoder.width == 128 && encoder.hidden == 512 && encoder.feed_forward == "swiglu";
}

}  // namespace

std::vector<CostEntry> account_costs(const CostOptions& options) {
  std::vector<std::vector<int64_t>> sizes;
  for (const int64_t side : options.sides) sizes.emplace_back(options.model.size.size(), side);
  if (sizes.empty()) sizes.push_back(options.model.size);
  std::vector<CostEntry> entries;
  for (const std::string& name : options.mechanisms)
    for (const auto& size : sizes) {
      const CostMechanism& mechanism = mechanism_named(name);
      const analysis::GridModel model = model_of(options, mechanism, size);
      models::validate_encoder(model.encoder, model.tokens(), "cost");
      CostEntry entry{&mechanism, size, analysis::grid_cost(model, mechanism.projection)};
      entry.partial_count = linear_and_all_token(model, entry.cost);
      entry.paper_model = is_paper_model(model);
      entries.push_back(std::move(entry));
    }
  return entries;
}

void measure_costs(const CostOptions& options, std::vector<CostEntry>& entries) {
  const CostMechanism* last = nullptr;
  double seconds_a_count = 0;
  for (CostEntry& entry : entries) {
    if (entry.mechanism->projection == analysis::Projection::full)
      continue;  // the same function, not built here
    if (entry.mechanism != last) seconds_a_count = 0;
    last = entry.mechanism;
    const double expected = seconds_a_count * entry.cost.multiply_adds() * static_cast<double>(options.batch);
    if (expected > options.seconds) {
      spdlog::info("{} at {}: not measured, about {:.0f} s for a training step", entry.mechanism->title,
                   size_text(entry.size), expected);
      continue;
    }
    const analysis::GridModel model = model_of(options, *entry.mechanism, entry.size);
    entry.measured = analysis::measure_encoder(model.encoder, model.mechanism, model.tokens(), options.batch,
                                               options.repeats, options.seconds);
    seconds_a_count = entry.measured->training_seconds / entry.cost.multiply_adds();
    spdlog::info("{} at {}: {:.4g} ms training, {:.4g} ms inference a sample", entry.mechanism->title,
                 size_text(entry.size), 1e3 * entry.measured->training_seconds,
                 1e3 * entry.measured->inference_seconds);
  }
}

std::vector<CostGrowth> growth_of(const std::vector<CostEntry>& entries) {
  std::vector<CostGrowth> out;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i > 0 && entries[i].mechanism == entries[i - 1].mechanism) continue;
    std::vector<double> tokens, training, inference;
    for (const CostEntry& entry : entries)
      if (entry.mechanism == entries[i].mechanism && entry.measured) {
        tokens.push_back(entry.tokens());
        training.push_back(entry.measured->training_seconds);
        inference.push_back(entry.measured->inference_seconds);
      }
    if (tokens.size() < 2) continue;
    const auto end = [&](const std::vector<double>& seconds) {
      return analysis::growth_exponent({tokens.end() - 2, tokens.end()}, {seconds.end() - 2, seconds.end()});
    };
    out.push_back({entries[i].mechanism->title, analysis::growth_exponent(tokens, training),
                   analysis::growth_exponent(tokens, inference), end(training), end(inference), tokens.back(),
                   tokens.size()});
  }
  return out;
}

std::string size_text(const std::vector<int64_t>& size) {
  return fmt::format("{}", fmt::join(size, " × "));
}

}  // namespace modewise::cli
