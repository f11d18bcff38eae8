#include "modewise/data/text/glue.h"

#include <algorithm>
#include <cctype>

#include "modewise/core/error.h"
#include "modewise/io/ascii.h"

namespace modewise::data {

const std::vector<GlueLayout>& glue_layouts() {
  static const std::vector<GlueLayout> all = {
      {.name = "cola",
       .title = "CoLA",
       .folder = "cola",
       .first = "sentence",
       .second = "",
       .label = "label",
       .classes = {"0", "1"},
       .header = false,
       .columns = 4,
       .text_column = 3,
       .label_column = 1},
      {.name = "sst2",
       .title = "SST-2",
       .folder = "sst2",
       .first = "sentence",
       .second = "",
       .label = "label",
       .classes = {"0", "1"}},
      {.name = "mrpc",
       .title = "MRPC",
       .folder = "mrpc",
       .first = "#1 String",
       .second = "#2 String",
       .label = "Quality",
       .classes = {"0", "1"}},
      {.name = "qqp",
       .title = "QQP",
       .folder = "qqp",
       .first = "question1",
       .second = "question2",
       .label = "is_duplicate",
       .classes = {"0", "1"}},
      {.name = "stsb",
       .title = "STS-B",
       .folder = "stsb",
       .first = "sentence1",
       .second = "sentence2",
       .label = "score",
       .classes = {}},
      {.name = "mnli",
       .title = "MNLI",
       .folder = "mnli",
       .first = "sentence1",
       .second = "sentence2",
       .label = "gold_label",
       .classes = {"entailment", "neutral", "contradiction"},
       .dev = "dev_matched.tsv",
       .further_dev = "dev_mismatched.tsv"},
      {.name = "qnli",
       .title = "QNLI",
       .folder = "qnli",
       .first = "question",
       .second = "sentence",
       .label = "label",
       .classes = {"entailment", "not_entailment"}},
      {.name = "rte",
       .title = "RTE",
       .folder = "rte",
       .first = "sentence1",
       .second = "sentence2",
       .label = "label",
       .classes = {"entailment", "not_entailment"}},
      {.name = "wnli",
       .title = "WNLI",
       .folder = "wnli",
       .first = "sentence1",
       .second = "sentence2",
       .label = "label",
       .classes = {"0", "1"}},
  };
  return all;
}

const GlueLayout& glue_layout(const std::string& name) {
  for (const GlueLayout& one : glue_layouts())
    if (one.name == name) return one;
  fail(ErrorKind::internal, "GLUE has no task '{}'", name);
}

const GlueLayout* glue_layout_of(const std::filesystem::path& folder) {
  const std::filesystem::path named = folder.has_filename() ? folder : folder.parent_path();
  std::string plain;
  for (const char c : named.filename().string())
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) plain += io::to_lower(c);
  const auto found = std::find_if(glue_layouts().begin(), glue_layouts().end(),
                                  [&](const GlueLayout& one) { return one.folder == plain; });
  return found == glue_layouts().end() ? nullptr : &*found;
}

}  // namespace modewise::data
