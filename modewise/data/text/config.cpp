#include "modewise/data/text/config.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "modewise/core/error.h"
#include "modewise/core/integer_bounds.h"
#include "modewise/io/number_text.h"

namespace modewise::data {

void TextDataConfig::fields(Fields& f) {
  f.add("path", path,
        "a folder of GLUE (CoLA, SST-2, …); a folder with train, validation and test as .csv, .tsv or JSON "
        "lines (.jsonl, .ndjson, .json); one such file; for masked_lm a text file, a folder of texts or a "
        ".jsonl",
        {.is_path = always});
  f.add("validation", validation,
        "validation file; empty: that of the folder, or a split of the training file", {.is_path = always});
  f.add("test", test, "test file; empty: that of the folder, or a split of a single file",
        {.is_path = always});
  f.add("glue", glue, "GLUE task of the folder: auto (by its name), a task, or none",
        {.one_of = {"auto", "none", "cola", "sst2", "mrpc", "qqp", "stsb", "mnli", "qnli", "rte", "wnli"}});
  f.add("dev", dev,
        "use of GLUE's labelled dev.tsv: test (validation is taken from training) or both (validation and "
        "test, as in papers: an upper bound)",
        {.one_of = {"test", "both"}});
  f.add("text", text, "column or field of the text");
  f.add("pair", pair, "column or field of the second text; auto: text2 or pair if it exists; none", {});
  f.add("label", label, "column or field of the class, or of the regression target");
  f.add("delimiter", delimiter,
        "delimiter of tables: auto (comma for .csv, tab for .tsv), comma, semicolon, tab or bar",
        {.one_of = {"auto", "comma", "semicolon", "tab", "bar"}});
  f.add("classes", classes, "classes in order, as in the labels; empty: those of the training texts");
  f.add("allow_broken", allow_broken,
        "skip rows with too few or too many cells and pairs with an empty text; otherwise they are an error");
  f.add("allow_binary", allow_binary,
        "masked_lm: accept files other than texts and use their bytes; otherwise they are an error");
  f.add("validation_share", validation_share,
        "fraction of each class's training texts used for validation if there is no validation file",
        {.min = 0.01, .max = 0.9});
  f.add("split_ratios", split_ratios, "fractions of training, validation and test for a single file",
        {.min = 0, .max = 1});
  f.add("split_seed", split_seed, "seed of the split", {.min = 0, .max = kAnyInteger});
  f.add("separator", separator,
        "masked_lm: separator between the documents of a file: <|endoftext|> lines if there are any (auto), "
        "always such lines (endoftext), blank lines (blank), no separator (none)",
        {.one_of = {"auto", "endoftext", "blank", "none"}});
  f.add("length", length,
        "maximum length in tokens, including special tokens; longer texts are truncated; 0: the model's or "
        "its tokenizer's",
        {.min = 0, .max = 1 << 24});
}

void TextDataConfig::validate(const std::string& source) const {
  documents().validate(source);
  std::vector<std::string_view> names;
  for (const std::string& name : classes) {
    names.push_back(io::strip_spaces(name));
    require(std::count(names.begin(), names.end(), names.back()) == 1, ErrorKind::config,
            "{}: data.classes names the class '{}' twice", source, names.back());
  }
}

DocumentConfig TextDataConfig::documents() const {
  DocumentConfig out;
  out.path = path;
  out.validation = validation;
  out.test = test;
  out.field = text;
  out.separator = separator;
  out.allow_binary = allow_binary;
  out.split_ratios = split_ratios;
  out.split_seed = split_seed;
  return out;
}

void MaskingConfig::fields(Fields& f) {
  f.add("mask_rate", share, "fraction of tokens selected for prediction", {.min = 0.001, .max = 0.9});
  f.add("mask_token_probability", hidden, "fraction of the selected tokens replaced by the mask token",
        {.min = 0, .max = 1});
  f.add("random_token_probability", exchanged,
        "fraction of the selected tokens replaced by a random token; the rest is unchanged",
        {.min = 0, .max = 1});
  f.add("whole_words", whole_words, "whole-word masking: select all tokens of a word or none");
}

void MaskingConfig::validate(const std::string& source) const {
  require(
      hidden + exchanged <= 1 + 1e-9, ErrorKind::config,
      "{}: masking.mask_token_probability = {} and masking.random_token_probability = {} sum to more than 1",
      source, hidden, exchanged);
}

}  // namespace modewise::data
