#include "modewise/data/document_config.h"

#include <fmt/ranges.h>

#include "modewise/core/error.h"
#include "modewise/core/integer_bounds.h"

namespace modewise::data {

void DocumentConfig::fields(Fields& f) {
  f.add("validation", validation, "validation text; empty: a split of path", {.is_path = always});
  f.add("test", test, "test text; empty: a split of path", {.is_path = always});
  f.add("text_field", field, "field of the objects of a .jsonl file that holds the text");
  f.add("allow_binary", allow_binary,
        "accept files other than texts (images, archives, NUL bytes) and use their bytes; otherwise they are "
        "an error");
  f.add("separator", separator,
        "separator between the documents of a file: <|endoftext|> lines if there are any (auto), always such "
        "lines (endoftext), blank lines (blank), no separator (none)",
        {.one_of = {"auto", "endoftext", "blank", "none"}});
  f.add("begin_token", begin_token,
        "the tokenizer's begin token before each document: as its files say (auto), yes if it has one, no",
        {.one_of = {"auto", "yes", "no"}});
  f.add("end_token", end_token, "its end token, if it has one, after each document");
  f.add("split", split,
        "documents: whole documents go to one split; cut: each document is cut into the three splits; auto: "
        "cut for fewer than three documents",
        {.one_of = {"auto", "documents", "cut"}});
  f.add("split_ratios", split_ratios, "fractions of training, validation and test", {.min = 0, .max = 1});
  f.add("split_seed", split_seed, "seed of the split by documents", {.min = 0, .max = kAnyInteger});
  f.add("shift", shift, "random offset of the windows of each training batch, so that epochs differ");
}

void DocumentConfig::validate(const std::string& source) const {
  require(split_ratios.size() == 3, ErrorKind::config,
          "{}: data.split_ratios must be three numbers (training, validation, test), got {}", source,
          split_ratios.size());
  double sum = 0;
  for (const double ratio : split_ratios) sum += ratio;
  require(split_ratios[0] > 0 && sum <= 1 + 1e-9, ErrorKind::config,
          "{}: data.split_ratios must begin with a number above 0 and sum to at most 1, got {}", source,
          fmt::join(split_ratios, ", "));
}

}  // namespace modewise::data
