#include "modewise/tasks/run/idle_settings.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdlib>
#include <variant>

#include "modewise/core/claims.h"
#include "modewise/core/error.h"

namespace modewise::tasks {
namespace {

bool differs(const Field& field, const Fields& usual) {
  return Fields::value_text(field) != Fields::value_text(*find_field(usual, field.path));
}

bool lies_in(std::string_view path, std::string_view key) {
  return path.starts_with(key) && (path.size() == key.size() || path[key.size()] == '.');
}

/// Whether `needed` has a value with which the setting of the row has an effect.
bool has_effect(const DependentSetting& row, const Fields& fields, const Field& needed, const Fields& usual) {
  const Field* const other = find_field(fields, row.or_needs);
  if (other != nullptr && differs(*other, usual)) return true;
  if (row.values.empty()) return differs(needed, usual);
  return std::ranges::find(row.values, *std::get<std::string*>(needed.value)) != row.values.end();
}

std::string advice(const DependentSetting& row, const Field& needed) {
  const std::string other = row.or_needs.empty() ? "" : fmt::format(" or {}", row.or_needs);
  if (row.values.empty()) return fmt::format("without {0}{1}: set {0}{1}", row.needs, other);
  return fmt::format("with {0} = {1}: set {0} = {2}{3}", row.needs, *std::get<std::string*>(needed.value),
                     fmt::join(row.values, " or "), other);
}

/// Paths of changed settings of gradient steps, and of those in the groups `further`.
std::vector<std::string> changed_of_steps(const Fields& fields, const Fields& usual,
                                          std::span<const std::string_view> further = {}) {
  // Not train.max_steps: a limit, which holds without steps.
  static constexpr std::string_view kOfSteps[] = {
      "train.epochs",          "train.batch_size", "train.drop_last",
      "train.accumulate",      "train.clip_norm",  "train.ema_decay",
      "train.patience",        "train.min_delta",  "train.evaluations_per_epoch",
      "train.log_every_steps", "train.optimizer",  "train.schedule"};
  if (is_run_of_sweep()) return {};
  std::vector<std::string> changed;
  for (const Field& field : fields.list()) {
    const auto has = [&](std::string_view key) { return lies_in(field.path, key); };
    if ((std::ranges::any_of(kOfSteps, has) || std::ranges::any_of(further, has)) && differs(field, usual))
      changed.push_back(field.path);
  }
  return changed;
}

}  // namespace

bool is_run_of_sweep() {
  return std::getenv(kClaimVariable) != nullptr;
}

const Field* find_field(const Fields& fields, std::string_view path) {
  const auto found = std::ranges::find(fields.list(), path, &Field::path);
  return found == fields.list().end() ? nullptr : &*found;
}

std::span<const DependentSetting> training_dependents() {
  static const DependentSetting rows[] = {
      {"train.schedule.min_ratio", "train.schedule.name", {"cosine"}},
      {"train.schedule.step_epochs", "train.schedule.name", {"step"}},
      {"train.schedule.step_at", "train.schedule.name", {"step"}},
      {"train.schedule.step_factor", "train.schedule.name", {"step", "type1"}},
      {"train.schedule.peak_at", "train.schedule.name", {"one_cycle"}},
      {"train.schedule.start_divisor", "train.schedule.name", {"one_cycle"}},
      {"train.schedule.end_divisor", "train.schedule.name", {"one_cycle"}},
      {"train.schedule.cycle_momentum", "train.schedule.name", {"one_cycle"}},
  };
  return rows;
}

std::span<const DependentSetting> model_dependents() {
  static const DependentSetting rows[] = {
      {"model.hidden", "model.feed_forward", {"swiglu", "gelu"}},
      {"model.attention.normalize_sum", "model.attention.combine", {"sum"}},
      {"model.position.rotary_base",
       "model.position.rotary",
       {"ordered", "time"},
       "model.position.rotary_modes"},
  };
  return rows;
}

std::vector<IdleSetting> idle_settings(const Fields& fields, const Fields& usual,
                                       std::span<const DependentSetting> rows) {
  std::vector<IdleSetting> result;
  for (const DependentSetting& row : rows) {
    const Field* const needed = find_field(fields, row.needs);
    if (needed == nullptr || has_effect(row, fields, *needed, usual)) continue;
    for (const Field& field : fields.list())
      if (lies_in(field.path, row.key) && differs(field, usual))
        result.push_back({field.path, "has no effect " + advice(row, *needed)});
  }
  return result;
}

void refuse(const IdleSetting& setting, const std::string& source) {
  fail(ErrorKind::config, "{0}: {1} {2}, or leave {1} out", source, setting.path, setting.reason);
}

void refuse_idle(const Fields& fields, const Fields& usual, std::span<const DependentSetting> rows,
                 const std::string& source) {
  for (const IdleSetting& setting : idle_settings(fields, usual, rows)) refuse(setting, source);
}

void refuse_idle_training(const Fields& fields, const Fields& usual, const std::string& model) {
  for (const std::string& path : changed_of_steps(fields, usual))
    fail(ErrorKind::config,
         "{0} has no effect with model.name = {1}, which is not trained in steps: leave {0} out", path,
         model);
}

void warn_of_idle_training(const Fields& fields, const Fields& usual, const std::string& model,
                           std::span<const std::string_view> further) {
  const std::vector<std::string> changed = changed_of_steps(fields, usual, further);
  if (!changed.empty())
    spdlog::warn("{} {} no effect with model.name = {}, which is not trained in steps",
                 fmt::join(changed, ", "), changed.size() == 1 ? "has" : "have", model);
}

}  // namespace modewise::tasks
