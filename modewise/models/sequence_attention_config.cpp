#include "modewise/models/sequence_attention_config.h"

#include <utility>

#include "modewise/core/error.h"
#include "modewise/ops/attention_forms.h"

namespace modewise::models {

void SequenceAttentionConfig::fields(Fields& f, const std::string& help, std::vector<std::string> forms) {
  forms.emplace_back("tensor");
  f.add_preset("form", form, help, {.one_of = std::move(forms)}, [this] {
    if (form == "tensor") form = "causal";  // what the form is often called
  });
  f.add("fold", fold,
        "sizes n_1 … n_m that the tokens are folded to, last fastest; n_1 may be 0: it grows with them",
        {.min = 0});
  f.add("window", window, "tokens that a token sees one by one; causal: 0 is twice the last size of fold",
        {.min = 0});
  f.add("slots", slots, "causal: summaries a finished block", {.min = 1, .max = 1024});
}

void SequenceAttentionConfig::validate(const std::string& source) const {
  const ops::AttentionForm& known = ops::attention_form(form);
  const auto unused = [&](bool given, const char* name) {
    require(!given, ErrorKind::config, "{}: attention.{} has no effect with attention.form = \"{}\"", source,
            name, form);
  };
  unused(!known.fold && !fold.empty(), "fold");
  unused(!known.window && window != 0, "window");
  unused(!known.latents && slots != 1, "slots");
  double cells = 1;
  for (size_t i = 0; i < fold.size(); ++i) {
    require(fold[i] >= 1 || (i == 0 && fold[i] == 0), ErrorKind::config,
            "{}: attention.fold holds {} at place {}; sizes are at least 1, and only the first may be 0 (as "
            "long as the sequence needs)",
            source, fold[i], i + 1);
    if (fold[i] > 0) cells *= static_cast<double>(fold[i]);
  }
  require(cells < 0x1p62, ErrorKind::config,
          "{}: the product of attention.fold, about {:.3g}, is beyond 62 bits", source, cells);
  require(!known.window || known.latents || window >= 1, ErrorKind::config,
          "{}: attention.form = \"{}\" needs attention.window, the tokens that a token sees", source, form);
  require(
      !known.latents || window == 0 || fold.size() < 2 || window >= fold.back(), ErrorKind::config,
      "{}: attention.window = {} is smaller than the last size of attention.fold, {}: tokens of the block "
      "that is not finished yet would be seen by nobody",
      source, window, fold.empty() ? 0 : fold.back());
}

}  // namespace modewise::models
