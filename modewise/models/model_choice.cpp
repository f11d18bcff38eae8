#include "modewise/models/model_choice.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "modewise/core/error.h"

namespace modewise::models {

std::string title_of(const ModelChoice& choice, const AttentionConfig& attention) {
  std::string title = choice.name;
  if (choice.preset != "default") title += " " + choice.preset;
  if (attention.from_registry()) title += " " + attention.type;
  if (attention.combine != "product") title += " " + attention.combine;
  if (attention.kernel != "softmax") title += " " + attention.kernel;
  return title;
}

void warn_of_old_name(const std::string& old_name, const std::string& name) {
  static std::mutex mutex;
  static std::set<std::string> warned;
  const std::lock_guard lock(mutex);
  if (warned.insert(old_name).second)
    spdlog::warn("model.name = \"{}\" is deprecated: use \"{}\"", old_name, name);
}

bool OwnedOptions::has(std::string_view path) const {
  const auto in = [&](const std::vector<std::string_view>& list) {
    return std::any_of(list.begin(), list.end(), [&](std::string_view one) {
      return one.ends_with('*') ? path.starts_with(one.substr(0, one.size() - 1)) : path == one;
    });
  };
  return path == "name" || (in(only) && !in(without));
}

void check_options_are_used(const Fields& fields, const Fields& defaults, const std::string& model,
                            const std::vector<std::pair<std::string, OwnedOptions>>& models,
                            const std::string& source) {
  const auto chosen =
      std::find_if(models.begin(), models.end(), [&](const auto& one) { return one.first == model; });
  for (size_t i = 0; i < fields.list().size(); ++i) {
    const Field& field = fields.list()[i];
    if (chosen->second.has(field.path)) continue;
    const std::string value = Fields::value_text(field);
    if (value == Fields::value_text(defaults.list()[i])) continue;
    std::string owners;
    for (const auto& [name, options] : models)
      if (options.has(field.path)) owners += (owners.empty() ? " (it is an option of " : ", ") + name;
    fail(ErrorKind::config, "{}: {} = {} has no effect: model '{}' has no such option{}", source, field.path,
         value, model, owners.empty() ? "" : owners + ")");
  }
}

}  // namespace modewise::models
