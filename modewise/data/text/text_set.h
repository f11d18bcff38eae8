#pragma once
// Texts, or pairs of them, with their classes or numbers, parted into training, validation and test.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/data/labelled_samples.h"
#include "modewise/data/text/config.h"
#include "modewise/data/text/text_rows.h"
#include "modewise/io/tables/text_cells.h"

namespace modewise::data {

struct TextSet : LabelledSamples {
  TextSet() : LabelledSamples("text", "texts") {}

  io::TextCells first, second;   // second: of pairs, else empty
  std::vector<double> targets;   // numbers to be told, NaN where unknown; empty: the labels count
  std::vector<int64_t> further;  // of MNLI: the mismatched test pairs
  std::string layout;            // of GLUE: its name, else ""

  int64_t count() const { return std::ssize(labels); }
  bool pairs() const { return !second.empty(); }
};

/// What a trained model asks of other texts.
struct TrainedTexts {
  std::vector<std::string> classes;  // empty: a number
  bool pairs = false;
};

/// What `config` names: classes, or with `numbers` what is to be told of each text. Data errors name file,
/// line and rule: a label that training (or GLUE) does not have, a number that is none, single texts in one
/// file and pairs in another. Without `with_test` the test file is not read (it need not be there).
TextSet load_texts(const TextDataConfig& config, bool numbers, bool with_test = true);

/// A file of GLUE or of one's own for a trained model, all of whose texts are test texts.
TextSet load_texts_for(const std::string& file, const TextDataConfig& config, const TrainedTexts& trained);

/// Hash of texts, labels and splits.
std::string hash_of(const TextSet& set);

}  // namespace modewise::data
