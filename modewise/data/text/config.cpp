#include "modewise/data/text/config.h"

#include <fmt/ranges.h>

#include "modewise/core/error.h"
#include "modewise/core/integer_bounds.h"

namespace modewise::data {

void TextDataConfig::fields(Fields& f) {
  f.add(
      "path", path,
      "a folder of GLUE (CoLA, SST-2, …); a folder with train, validation and test as .jsonl, .csv or .tsv; "
      "one such file; for masked training text, a folder of texts or a .jsonl",
      {.is_path = always});
  f.add("validation", validation, "file to validate on; empty: that of the folder, or a part of training",
        {.is_path = always});
  f.add("test", test, "file to test on; empty: that of the folder, or a part of a single file",
        {.is_path = always});
  f.add("glue", glue, "GLUE's layout of the folder: auto (by its name), one by name, or none",
        {.one_of = {"auto", "none", "cola", "sst2", "mrpc", "qqp", "stsb", "mnli", "qnli", "rte", "wnli"}});
  f.add("dev", dev,
        "what GLUE's labelled dev.tsv is: test (validation is cut from training) or both (the weights are "
        "chosen by it too, as papers do: an upper bound)",
        {.one_of = {"test", "both"}});
  f.add("text", text, "column or field of the text, in data of one's own");
  f.add("pair", pair, "column or field of the second text; auto: text2 or pair where there is one; none", {});
  f.add("label", label, "column or field of the class, or of the number");
  f.add("delimiter", delimiter, "of tables: auto (comma of .csv, tab of .tsv), comma, semicolon, tab or bar",
        {.one_of = {"auto", "comma", "semicolon", "tab", "bar"}});
  f.add("classes", classes, "classes in their order, as the labels have them; empty: those of the training");
  f.add("allow_broken", allow_broken,
        "leave out rows with too few or too many cells and pairs with an empty side, instead of refusing");
  f.add("validation_share", validation_share,
        "share of each class's training texts to validate on, where no file is for that",
        {.min = 0.01, .max = 0.9});
  f.add("split_ratios", split_ratios, "shares of training, validation and test of a single file",
        {.min = 0, .max = 1});
  f.add("split_seed", split_seed, "which texts go where", {.min = 0, .max = kAnyInteger});
  f.add(
      "separator", separator,
      "masked: what stands between the documents of a file: lines <|endoftext|> where there are any (auto), "
      "always (endoftext), blank lines (blank), nothing (none)",
      {.one_of = {"auto", "endoftext", "blank", "none"}});
  f.add("length", length, "tokens of a text, its marks included; longer ones are cut; 0: the model's",
        {.min = 0, .max = 1 << 24});
}

void TextDataConfig::validate(const std::string& source) const {
  documents().validate(source);
}

DocumentConfig TextDataConfig::documents() const {
  DocumentConfig out;
  out.path = path;
  out.validation = validation;
  out.test = test;
  out.field = text;
  out.separator = separator;
  out.split_ratios = split_ratios;
  out.split_seed = split_seed;
  return out;
}

void MaskingConfig::fields(Fields& f) {
  f.add("mask_rate", share, "share of the tokens that are asked for", {.min = 0.001, .max = 0.9});
  f.add("mask_token_probability", hidden, "share of these that become the mask", {.min = 0, .max = 1});
  f.add("random_token_probability", exchanged, "share of these that become any other token; the rest stays as it is",
        {.min = 0, .max = 1});
  f.add("whole_words", whole_words, "ask for all tokens of a word or for none");
}

void MaskingConfig::validate(const std::string& source) const {
  require(hidden + exchanged <= 1 + 1e-9, ErrorKind::config,
          "{}: masking.mask_token_probability = {} and masking.random_token_probability = {} sum to more than 1", source, hidden, exchanged);
}

}  // namespace modewise::data
