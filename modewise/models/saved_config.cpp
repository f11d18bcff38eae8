#include "modewise/models/saved_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "modewise/core/file.h"
#include "modewise/core/toml_paths.h"

namespace modewise::models {
namespace {

/// A saved model config: the fields whose paths start with `prefix`.
class SavedModel {
 public:
  SavedModel(Fields& fields, const std::set<std::string>& named, std::string prefix)
      : fields_(fields), named_(named), prefix_(std::move(prefix)) {}

  void set_younger_keys() {
    if (lacks("head.norm")) set("head.norm", "true");
    if (lacks("attention.normalize_sum") && is("preset", "paper")) {
      // Models without factors have neither option; the preset then set pooling to mean for all models.
      if (is("name", "hot"))
        set("attention.normalize_sum", "false");
      else
        set("attention.pooling", "\"sum\"");
    }
    if (lacks("attention.feature_draw") && is("attention.kernel", "linear"))
      set("attention.feature_draw", "\"fixed\"");
  }

 private:
  const Field* find(const std::string& key) const {
    const auto found = std::find_if(fields_.list().begin(), fields_.list().end(),
                                    [&](const Field& field) { return field.path == prefix_ + key; });
    return found == fields_.list().end() ? nullptr : &*found;
  }
  /// Whether the model has the key but the saved text does not.
  bool lacks(const std::string& key) const { return find(key) != nullptr && !named_.contains(prefix_ + key); }
  bool is(const std::string& key, const std::string& text) const {
    const Field* field = find(key);
    return field != nullptr && *std::get<std::string*>(field->value) == text;
  }
  void set(const std::string& key, const std::string& text) {
    fields_.load_toml(fmt::format("{} = {}", prefix_ + key, text), prefix_ + key);
  }

  Fields& fields_;
  const std::set<std::string>& named_;
  std::string prefix_;
};

}  // namespace

void load_saved_toml(Fields& fields, std::string_view text, const std::string& source) {
  fields.load_toml(text, source);
  constexpr std::string_view kName = "attention.normalize_sum";
  std::vector<std::string> prefixes;
  for (const Field& field : fields.list())
    if (field.path.ends_with(kName))
      prefixes.push_back(field.path.substr(0, field.path.size() - kName.size()));
  if (prefixes.empty()) return;
  const std::set<std::string> named = toml_paths(text, source);
  for (const std::string& prefix : prefixes) SavedModel(fields, named, prefix).set_younger_keys();
}

void load_saved_file(Fields& fields, const std::string& path) {
  load_saved_toml(fields, read_file(path), path);
}

}  // namespace modewise::models
