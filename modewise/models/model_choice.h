#pragma once
// Model selection, common to all model configs: name and preset, which set the other options to published
// values, and precision; and the model registry. Explicit options override name and preset, in any file
// order.

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "modewise/core/error.h"
#include "modewise/core/fields.h"
#include "modewise/models/encoder_config.h"
#include "modewise/models/own_options.h"
#include "modewise/nn/initializer.h"
#include "modewise/nn/layers/cost.h"

namespace modewise::models {

struct ModelChoice {
  std::string name = "hot";
  std::string preset = "default";     // default (ours) | release (the released HOT code) | paper
  std::string precision = "float32";  // float32 | bf16
};

/// Adds name, preset and precision to `f`. Config needs use_model(name) and use_preset(preset). `set_to` and
/// `family` complete the help: "model; sets the other options to its authors' values", "preset of the hot
/// family".
template <class Config>
void choice_fields(Fields& f, Config& config, const std::vector<std::string>& names,
                   const std::string& set_to, const std::string& family) {
  f.add_preset("name", config.name, "model; sets the other options to " + set_to, {.one_of = names},
               [&config] { config.use_model(config.name); });
  f.add_preset("preset", config.preset,
               "preset of " + family + ": default, release (as in the released code) or paper",
               {.one_of = {"default", "release", "paper"}}, [&config] { config.use_preset(config.preset); });
  f.add("precision", config.precision, "dtype of activations; weights, statistics and sums are float32",
        {.one_of = {"float32", "bf16"}});
}

/// Resets every option to the chosen model's defaults, and for "release" and "paper" sets the options common
/// to all models of the released code or of the paper. Returns true for these two: the caller then sets the
/// model-specific options. Config needs patch.embedding and head.dropout.
template <class Config>
bool use_published(Config& config, std::string preset) {
  const std::string kept = std::exchange(config, Config()).name;
  config.use_model(kept);
  config.preset = std::move(preset);
  if (config.preset == "default") return false;
  const bool release = config.preset == "release";
  config.use_published_blocks(release);
  config.patch.embedding = release ? "relu_norm" : "relu";
  config.head.dropout = release ? 0.1 : 0.0;
  return true;
}

/// A title for tables, with options that differ from the defaults: "hot", "hot release sum".
std::string title_of(const ModelChoice& choice, const AttentionConfig& attention);

/// Options that a model shares with others, by name or by group: "width", "window" (all of `window.*`).
using SharedOptions = std::vector<std::string_view>;

SharedOptions joined(const std::vector<SharedOptions>& lists);
/// The options that all models with a token encoder share.
SharedOptions token_options();
/// The options of random features, attention.kernel = linear.
SharedOptions random_feature_options();

/// Whether the option `path` is `name` or lies in the group `name`.
bool lies_in(std::string_view path, std::string_view name);

/// Registry entry of a model. Each model family has one registry. CostOptions: further arguments of its cost.
/// A model's own options are nested under its name (`dlinear.kernel`); no other model uses them.
/// A row names its members (`.name = "hot", .make = …`), which may be in the model's file.
template <class Config, class Shape, class Model, class... CostOptions>
struct ModelRow {
  std::string name;
  std::string mechanism = {};  // TokenEncoder's attention; "" for models without a token encoder
  SharedOptions shared = {};   // shared options that it uses
  std::shared_ptr<Model> (*make)(const Config& config, const Shape& shape, nn::Initializer& init) = nullptr;
  /// Cost of one sample, by formula, of a valid config; null for models without trained parameters.
  nn::ModelCost (*cost)(const Config& config, const Shape& shape, CostOptions... options) = nullptr;
  /// Sets the authors' values where they differ from Config().
  void (*defaults)(Config& config) = nullptr;
  /// Throws a config error that starts with `source`.
  void (*check)(const Config& config, const Shape& shape, const std::string& source) = nullptr;
  std::string old_name = {};  // deprecated name, still accepted; "": none
  /// Adds its own options, `own_options<Struct>`; null: it has none, or they are members of Config.
  void (*own)(OwnOptions& options, const std::string& name) = nullptr;
  bool future_covariates = false;  // a forecaster that reads them without options for them

  bool is_called(std::string_view said) const { return said == name || (said == old_name && !said.empty()); }
  /// Whether the model has the option `path`: "name", one of its own, or a shared one that it lists.
  bool has_option(std::string_view path) const {
    return path == "name" || lies_in(path, name) ||
           std::ranges::any_of(shared, [&](std::string_view one) { return lies_in(path, one); });
  }
};

/// Factory for ModelRow::make.
template <class Made, class Model, class Config, class Shape>
std::shared_ptr<Model> make_model(const Config& config, const Shape& shape, nn::Initializer& init) {
  return std::make_shared<Made>(config, shape, init);
}

template <class Row>
std::vector<std::string> names_of(const std::vector<Row>& rows) {
  std::vector<std::string> names;
  for (const Row& row : rows) names.push_back(row.name);
  return names;
}
/// The names that a config accepts: model names, then deprecated names.
template <class Row>
std::vector<std::string> accepted_names(const std::vector<Row>& rows) {
  std::vector<std::string> names = names_of(rows);
  for (const Row& row : rows)
    if (!row.old_name.empty()) names.push_back(row.old_name);
  return names;
}
/// Looks up a row by name or deprecated name; nullptr if unknown.
template <class Row>
const Row* find_row(const std::vector<Row>& rows, std::string_view name) {
  for (const Row& row : rows)
    if (row.is_called(name)) return &row;
  return nullptr;
}
/// Looks up a row by name; config error if unknown.
template <class Row>
const Row& row_of(const std::vector<Row>& rows, std::string_view name) {
  const Row* row = find_row(rows, name);
  require(row != nullptr, ErrorKind::config, "unknown model '{}'", name);
  return *row;
}
template <class Row>
bool has_tokens(const std::vector<Row>& rows, std::string_view name) {
  const Row* row = find_row(rows, name);
  return row != nullptr && !row->mechanism.empty();
}

/// Warns once per process that `old_name` is deprecated in favour of `name`.
void warn_of_old_name(const std::string& old_name, const std::string& name);

/// Sets `config` to the authors' values for model `name`. Switching between models with a token encoder,
/// which differ only in their attention, keeps the options. A deprecated name is replaced.
template <class Config, class Row>
void use_model_of(const std::vector<Row>& rows, Config& config, std::string name) {
  if (!has_tokens(rows, name) || !has_tokens(rows, config.name)) {
    config = Config();
    if (const Row* row = find_row(rows, name); row != nullptr && row->defaults) row->defaults(config);
  }
  if (const Row* row = find_row(rows, name); row != nullptr && row->name != name) {
    warn_of_old_name(name, row->name);
    name = row->name;
  }
  config.name = std::move(name);
}

/// Config error, starting with `source`: `option` was changed, which `model` does not have, but `owners` do.
[[noreturn]] void fail_without_option(const Field& option, const std::string& model,
                                      const std::vector<std::string>& owners, const std::string& source);

/// Throws a config error for an invalid value, and for a changed option that the chosen model does not have.
/// `plain`: the unchanged config.
template <class Config, class Row>
void check_options(const std::vector<Row>& rows, Config config, Config plain, const std::string& source) {
  const Fields fields = fields_of(config), unchanged = fields_of(plain);
  fields.validate(source);
  const Row& chosen = row_of(rows, config.name);
  for (size_t i = 0; i < fields.list().size(); ++i) {
    const Field& field = fields.list()[i];
    if (chosen.has_option(field.path) || Fields::value_text(field) == Fields::value_text(unchanged.list()[i]))
      continue;
    std::vector<std::string> owners;
    for (const Row& row : rows)
      if (row.has_option(field.path)) owners.push_back(row.name);
    fail_without_option(field, config.name, owners, source);
  }
}

/// The same for families with presets (models with a token encoder).
template <class Config, class Row>
void check_options(const std::vector<Row>& rows, const Config& config, const std::string& source) {
  Config plain;
  plain.use_model(config.name);
  if (has_tokens(rows, config.name)) plain.use_preset(config.preset);
  check_options(rows, config, std::move(plain), source);
}

}  // namespace modewise::models
