#include "modewise/data/document_config.h"

#include <fmt/ranges.h>

#include "modewise/core/error.h"
#include "modewise/core/integer_bounds.h"

namespace modewise::data {

void DocumentConfig::fields(Fields& f) {
  f.add("validation", validation, "other text to validate on; empty: a part of path", {.is_path = always});
  f.add("test", test, "other text to test on; empty: a part of path", {.is_path = always});
  f.add("field", field, "of the objects of a .jsonl file: the one that holds the text");
  f.add("separator", separator,
        "what stands between the documents of a file: lines <|endoftext|> where there are any (auto), always "
        "(endoftext), blank lines (blank), nothing (none)",
        {.one_of = {"auto", "endoftext", "blank", "none"}});
  f.add("begin_token", begin_token, "put the tokenizer's begin token, if it has one, before each document");
  f.add("end_token", end_token, "put its end token, if it has one, behind each document");
  f.add("split", split,
        "documents: each goes to one part as a whole; cut: each is cut into the three parts; auto: cut where "
        "there are fewer than three",
        {.one_of = {"auto", "documents", "cut"}});
  f.add("split_ratios", split_ratios, "shares of training, validation and test", {.min = 0, .max = 1});
  f.add("split_seed", split_seed, "which documents go where", {.min = 0, .max = kAnyInteger});
  f.add(
      "shift", shift,
      "let the windows of each training batch begin a random number of tokens later, so that epochs differ");
}

void DocumentConfig::validate(const std::string& source) const {
  require(split_ratios.size() == 3, ErrorKind::config,
          "{}: data.split_ratios must be three numbers (training, validation, test), got {}", source,
          split_ratios.size());
  double sum = 0;
  for (const double ratio : split_ratios) sum += ratio;
  require(split_ratios[0] > 0 && sum <= 1 + 1e-9, ErrorKind::config,
          "{}: data.split_ratios must begin above 0 and sum to at most 1, got {}", source,
          fmt::join(split_ratios, ", "));
}

}  // namespace modewise::data
