#include "modewise/data/language_modeling/config.h"

#include <algorithm>

#include "modewise/core/error.h"
#include "modewise/core/integer_bounds.h"

namespace modewise::data {

void RecallConfig::fields(Fields& f) {
  f.add("pairs", pairs, "key-value pairs of a sample: one of these numbers, drawn for each sample",
        {.min = 1, .max = 1 << 20});
  f.add("length", length, "tokens of a sample, including the queries", {.min = 4, .max = 1 << 26});
  f.add("distance", distance, "minimum number of tokens between a pair and the first query", {.min = 0});
  f.add("questions", questions, "queries at the end; 0: as many as pairs", {.min = 0});
  f.add("repeated", repeated, "allow several queries of one key");
  f.add("vocabulary", vocabulary, "number of keys, of values and of filler tokens",
        {.min = 2, .max = 1 << 20});
  f.add("samples", samples, "training samples per epoch", {.min = 1, .max = 1 << 30});
  f.add("held_back", held_back, "number of validation samples, and of test samples",
        {.min = 1, .max = 1 << 24});
}

int64_t RecallConfig::asked(int64_t pairs_there) const {
  if (questions == 0) return pairs_there;
  return repeated ? questions : std::min(questions, pairs_there);
}

void TextConfig::fields(Fields& f) {
  f.add("path", path,
        "text file, folder of text files, .jsonl, token file (.safetensors), or recall: synthetic key-value "
        "pairs",
        {.is_path = [](const std::string& text) { return text != "recall"; }});
  DocumentConfig::fields(f);
  f.group("recall", recall);
}

void TextConfig::validate(const std::string& source) const {
  DocumentConfig::validate(source);
  if (!is_recall()) return;
  require(!recall.pairs.empty(), ErrorKind::config, "{}: data.recall.pairs is empty", source);
  const int64_t maximum = *std::max_element(recall.pairs.begin(), recall.pairs.end());
  const int64_t asked = recall.asked(maximum);
  const int64_t needed = 2 * maximum + recall.distance + 1 + 2 * asked;
  require(maximum <= recall.vocabulary, ErrorKind::config,
          "{}: data.recall: {} pairs need as many different keys, but the vocabulary is {}", source, maximum,
          recall.vocabulary);
  require(needed <= recall.length, ErrorKind::config,
          "{}: data.recall: {} pairs, a distance of {} and {} queries need {} tokens, but the length is {}",
          source, maximum, recall.distance, asked, needed, recall.length);
}

}  // namespace modewise::data
