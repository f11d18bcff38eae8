#include "modewise/models/model_choice.h"

#include "modewise/core/error.h"

namespace modewise::models {

std::string title_of(const ModelChoice& choice, const AttentionConfig& attention) {
  std::string title = choice.name;
  if (choice.preset != "default") title += " " + choice.preset;
  if (attention.combine != "product") title += " " + attention.combine;
  if (attention.kernel != "softmax") title += " " + attention.kernel;
  return title;
}

void check_options_are_used(const Fields& fields, const Fields& defaults, const std::string& model,
                            const std::vector<std::string>& models, HasOption has_option,
                            const std::string& source) {
  for (size_t i = 0; i < fields.list().size(); ++i) {
    const Field& field = fields.list()[i];
    if (has_option(model, field.path)) continue;
    const std::string value = Fields::value_text(field);
    if (value == Fields::value_text(defaults.list()[i])) continue;
    std::string owners;
    for (const std::string& name : models)
      if (has_option(name, field.path)) owners += (owners.empty() ? " (it is an option of " : ", ") + name;
    fail(ErrorKind::config, "{}: {} = {} has no effect, model '{}' has no such option{}", source, field.path,
         value, model, owners.empty() ? "" : owners + ")");
  }
}

}  // namespace modewise::models
