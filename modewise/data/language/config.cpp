#include "modewise/data/language/config.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "modewise/core/error.h"
#include "modewise/core/integer_bounds.h"

namespace modewise::data {

void RecallConfig::fields(Fields& f) {
  f.add("pairs", pairs, "pairs of a key and a value in a sample, one of these numbers each",
        {.min = 1, .max = 1 << 20});
  f.add("length", length, "tokens of a sample, its questions included", {.min = 4, .max = 1 << 26});
  f.add("distance", distance, "tokens at least between a pair and the first question", {.min = 0});
  f.add("questions", questions, "questions at the end; 0: as many as pairs", {.min = 0});
  f.add("repeated", repeated, "a key may be asked for again; otherwise at most once each");
  f.add("vocabulary", vocabulary, "different keys; as many values and fillers", {.min = 2, .max = 1 << 20});
  f.add("samples", samples, "training samples an epoch", {.min = 1, .max = 1 << 30});
  f.add("held_back", held_back, "samples of validation, and of test", {.min = 1, .max = 1 << 24});
}

int64_t RecallConfig::asked(int64_t pairs_there) const {
  if (questions == 0) return pairs_there;
  return repeated ? questions : std::min(questions, pairs_there);
}

void TextConfig::fields(Fields& f) {
  f.add("path", path,
        "text file, folder of them, .jsonl, token file (.safetensors), or recall: key-value pairs made up",
        {.is_path = [](const std::string& text) { return text != "recall"; }});
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
  f.group("recall", recall);
}

void TextConfig::validate(const std::string& source) const {
  require(split_ratios.size() == 3, ErrorKind::config,
          "{}: data.split_ratios must be three numbers (training, validation, test), got {}", source,
          split_ratios.size());
  double sum = 0;
  for (const double ratio : split_ratios) sum += ratio;
  require(split_ratios[0] > 0 && sum <= 1 + 1e-9, ErrorKind::config,
          "{}: data.split_ratios must begin above 0 and sum to at most 1, got {}", source,
          fmt::join(split_ratios, ", "));
  if (!is_recall()) return;
  require(!recall.pairs.empty(), ErrorKind::config, "{}: data.recall.pairs is empty", source);
  const int64_t most = *std::max_element(recall.pairs.begin(), recall.pairs.end());
  const int64_t asked = recall.asked(most);
  const int64_t needed = 2 * most + recall.distance + 1 + 2 * asked;
  require(most <= recall.vocabulary, ErrorKind::config,
          "{}: data.recall: {} pairs need as many different keys, but the vocabulary is {}", source, most,
          recall.vocabulary);
  require(needed <= recall.length, ErrorKind::config,
          "{}: data.recall: {} pairs, a distance of {} and {} questions need {} tokens, but the length is {}",
          source, most, recall.distance, asked, needed, recall.length);
}

}  // namespace modewise::data
