#pragma once
// Text sets: texts or pairs of texts with classes or regression targets, and splits.

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

  io::TextCells first, second;   // second: empty for single texts
  std::vector<double> targets;   // regression targets, NaN: unknown; empty: classification
  std::vector<int64_t> further;  // MNLI: the mismatched test pairs
  std::string layout;            // GLUE task, else ""

  int64_t count() const { return std::ssize(labels); }
  bool pairs() const { return !second.empty(); }
};

/// Requirements of a trained model for new texts.
struct TrainedTexts {
  std::vector<std::string> classes;  // empty: regression
  bool pairs = false;
  std::string hash = {};  // of the texts of its training
};

/// Loads the texts of `config` with classes, or with `numbers` regression targets. Data errors name file,
/// line and rule: a label unknown to training (or GLUE), an invalid number, single texts in one file and
/// pairs in another. Without `with_test` the test file is not read (it need not exist).
TextSet load_texts(const TextDataConfig& config, bool numbers, bool with_test = true);

/// Loads a GLUE file or your own for a trained model, all texts as test texts; the file of the training, if
/// it had no other, is split as then. Without `labelled` a label that the model does not know is as none.
TextSet load_texts_for(const std::string& file, const TextDataConfig& config, const TrainedTexts& trained,
                       bool with_test = true, bool labelled = true);

/// Hash of texts, labels and splits.
std::string hash_of(const TextSet& set);

}  // namespace modewise::data
