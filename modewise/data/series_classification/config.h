#pragma once
// Config of series classification data: source, split protocol, normalization and augmentation.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/data/number_marks.h"

namespace modewise::data {

/// Simulated long series: noise with one of two motifs in the first half and one of two in the second half.
/// The class is the pair of motifs, so it depends on both halves.
struct MotifsConfig {
  int64_t samples = 200;  // training samples; half as many test samples
  int64_t steps = 16384;
  int64_t variables = 1;
  double noise = 0.5;  // std; the motifs have amplitude 1
  int64_t width = 0;   // steps of a motif; 0: 1/16 of half a sample
  /// chirp: rising or falling, with equal power spectra; tone: period of 32 or 8 steps, random phase.
  std::string shape = "chirp";
  void fields(Fields& f);
};

/// Columns of tables besides the values of the series.
struct SampleColumns {
  /// auto: the column label, class, target or y, the first one without a header | NAME.
  std::string label = "auto";
  /// auto: a nameless column, one named id, index or sample …, or a running number | none | NAMES.
  std::vector<std::string> index = {"auto"};
  std::string header = "auto";  // auto | yes | no: whether the first row has names
  NumberMarks marks = {};

  bool finds_index() const { return index == std::vector<std::string>{"auto"}; }
};

struct CollectionConfig {
  /// Folder with X_TRAIN.ts and X_TEST.ts, one of the two files, a file of all samples, or "motifs".
  std::string path;
  std::string train, test;  // the two files, instead of `path`
  SampleColumns columns;
  /// official: the files' own split, validation samples taken from training; for one file a fifth is the test
  /// split, independent of the seed. paper (Tensorized Attention, D.2): random 80/10/10 split of all samples.
  /// tslib (Time-Series-Library): the test samples are also the validation samples.
  std::string protocol = "official";
  double validation_share = 0.2;  // official: of the training samples of each class
  int64_t split_seed = 1;
  std::string normalize = "variable";  // variable | sample | none
  int64_t length = 0;                  // maximum length; 0: the longest sample
  MotifsConfig motifs;

  void fields(Fields& f);
  bool is_simulated() const { return path == "motifs"; }
};

/// Augmentation of training samples, drawn for each batch.
struct SeriesAugmentConfig {
  double noise = 0;   // std, relative to the variable's std
  double scale = 0;   // maximum relative change of a sample's values
  int64_t shift = 0;  // maximum shift in steps; ends are repeated
  double erase = 0;   // maximum fraction of contiguous steps set to 0

  void fields(Fields& f);
  bool any() const { return noise > 0 || scale > 0 || shift > 0 || erase > 0; }
};

}  // namespace modewise::data
