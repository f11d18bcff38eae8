#include "modewise/tasks/language_modeling/source.h"

#include <ATen/core/grad_mode.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "modewise/core/error.h"
#include "modewise/models/language_modeling/files.h"
#include "modewise/models/language_modeling/latents.h"
#include "modewise/tasks/language_modeling/spec.h"
#include "modewise/tasks/run/open_run.h"
#include "modewise/text/load_tokenizer.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;

/// Warns once per message, because evaluations rebuild the model for each length.
void warn_once(const std::string& note) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::lock_guard lock(mutex);
  if (said.insert(note).second) spdlog::warn("{}", note);
}

struct ModelFields {
  models::LanguageModelConfig& model;
  void fields(Fields& f) { model.fields(f); }
};

}  // namespace

bool is_language_model(const fs::path& path) {
  if (fs::is_regular_file(path)) return path.extension() == ".bin";
  return fs::exists(path / "config.json") && !fs::exists(path / "config.toml");
}

LanguageSource open_language_source(const fs::path& path, const std::string& tokenizer,
                                    const std::string& bos) {
  LanguageSource source;
  source.name = path.filename().empty() ? path.parent_path().filename().string() : path.filename().string();
  if (is_language_model(path)) {
    models::LoadedLanguageModel loaded = models::load_language_model(path);
    for (const std::string& note : loaded.notes) spdlog::info("{}", note);
    source.model = std::move(loaded.model);
    if (!tokenizer.empty()) loaded.set_tokenizer(text::load_tokenizer(tokenizer));
    source.tokenizer = std::move(loaded.tokenizer);
    source.end_ids = std::move(loaded.special.end);
  } else {
    source.run = open_run_as<LanguageModelingRun>(language_modeling_spec, path);
    source.model = source.run->model;
    if (!tokenizer.empty()) source.run->data.tokenizer = text::load_tokenizer(tokenizer);
    source.tokenizer = source.run->data.tokenizer;
    data::TextConfig& documents = source.run->config.data;
    if (bos != "auto") documents.begin_token = bos;
    if (source.tokenizer)
      source.tokenizer->set_puts_begin(document_tokens(documents, *source.tokenizer).first.has_value());
  }
  if (source.tokenizer) text::override_begin(*source.tokenizer, bos);
  if (source.tokenizer)
    require(source.tokenizer->size() <= source.model->config().vocabulary, ErrorKind::data,
            "the tokenizer ({}) has {} tokens, but the model {} has {}", source.tokenizer->name(),
            source.tokenizer->size(), path.string(), source.model->config().vocabulary);
  source.model->eval();
  return source;
}

models::LanguageModelConfig changed_config(models::LanguageModelConfig config,
                                           const std::vector<std::string>& changes) {
  const auto replaces = [](const std::string& change, std::string_view key, const std::string& value) {
    return change.starts_with(key) && change.substr(key.size()) != value;
  };
  const models::RopeConfig rope = config.rope;
  for (const std::string& change : changes) {
    if (replaces(change, "attention.type=", config.attention.type)) config.attention = {};
    // A new scaling uses the current definition, independent of the version that trained the model.
    if (replaces(change, "rope.scaling=", rope.scaling.kind)) config.rope.level_lengths = true;
  }
  ModelFields wrapper{config};
  Fields fields = fields_of(wrapper);
  for (const std::string& change : changes) fields.set(change);
  config.rope.require_effect(rope, "model");
  if (config.rope.scaling.original_length == 0 && config.rope.scaling.kind != "none")
    config.rope.scaling.original_length = config.context;
  config.validate("model");
  return config.resolved();
}

std::shared_ptr<models::LanguageModel> remade_model(const models::LanguageModel& model,
                                                    const models::LanguageModelConfig& config) {
  const at::NoGradGuard no_grad;
  const auto made = models::make_unset_language_model(config);
  const auto had = model.named_parameters();
  for (auto& item : made->named_parameters()) {
    if (item.key().ends_with(".latents")) continue;
    const at::Tensor* from = had.find(item.key());
    require(from != nullptr && from->sizes() == item.value().sizes(), ErrorKind::config,
            "the weights do not match: {} must be [{}]", item.key(), fmt::join(item.value().sizes(), ", "));
    item.value().copy_(*from);
  }
  const auto notes = models::take_latents(*made, [&](const std::string& name) {
    const at::Tensor* from = had.find(name);
    return from == nullptr ? at::Tensor() : *from;
  });
  for (const std::string& note : notes) warn_once(note);
  made->eval();
  return made;
}

}  // namespace modewise::tasks
