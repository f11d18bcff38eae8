#include "modewise/models/model_choice.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

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

SharedOptions joined(const std::vector<SharedOptions>& lists) {
  SharedOptions all;
  for (const SharedOptions& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

SharedOptions token_options() {
  return {"preset",       "precision", "width",       "hidden", "layers", "heads",
          "feed_forward", "dropout",   "layer_scale", "patch",  "head",   "attention.dropout"};
}

SharedOptions random_feature_options() {
  return {"attention.features", "attention.feature_map", "attention.feature_draw",
          "attention.features_redraw_every"};
}

bool lies_in(std::string_view path, std::string_view name) {
  return path.starts_with(name) && (path.size() == name.size() || path[name.size()] == '.');
}

void fail_without_option(const Field& option, const std::string& model,
                         const std::vector<std::string>& owners, const std::string& source) {
  fail(ErrorKind::config, "{}: {} = {} has no effect: model '{}' has no such option{}", source, option.path,
       Fields::value_text(option), model,
       owners.empty() ? "" : fmt::format(" (it is an option of {})", fmt::join(owners, ", ")));
}

}  // namespace modewise::models
