#pragma once
// Which labelled series a run is about, how they are split and scaled, and how training ones are varied.

#include <cstdint>
#include <string>

#include "modewise/core/fields.h"

namespace modewise::data {

/// Simulated classes of long series: noise with one of two motifs somewhere in the first half and one of two
/// in the second; which they are is the class, so that neither half alone tells it.
struct MotifsConfig {
  int64_t samples = 200;  // of training; half as many of test
  int64_t steps = 16384;
  int64_t variables = 1;
  double noise = 0.5;  // deviation; the motifs have amplitude 1
  int64_t width = 0;   // steps of a motif; 0: a sixteenth of half a case
  /// chirp: rising or falling, of equal power at every frequency; tone: of 32 or 8 steps a wave, at any
  /// phase.
  std::string shape = "chirp";
  void fields(Fields& f);
};

struct CollectionConfig {
  /// Folder with X_TRAIN.ts and X_TEST.ts, one of the two files, a file of all cases, or "motifs".
  std::string path;
  std::string train, test;  // the two files by name, instead
  /// official: the files' own split, validation cases cut from training; of a file of all cases a fifth is
  /// cut off for the test, the same for any seed. paper (Tensorized Attention, D.2):
  /// all cases split anew, 80/10/10. tslib (Time-Series-Library): the test cases are the validation cases.
  std::string protocol = "official";
  double validation_share = 0.2;  // official: of the training cases of each class
  int64_t split_seed = 1;
  std::string normalize = "variable";  // variable | case | none
  int64_t length = 0;                  // steps that there is room for; 0: the longest case
  MotifsConfig motifs;

  void fields(Fields& f);
  bool is_simulated() const { return path == "motifs"; }
};

/// Variations of training cases, drawn for each batch.
struct SeriesAugmentConfig {
  double noise = 0;   // deviation, in deviations of the variable
  double scale = 0;   // relative change of a case's values, at most
  int64_t shift = 0;  // steps by which a case is moved, at most; its ends are repeated
  double erase = 0;   // share of a case's steps, in one piece, that become 0, at most

  void fields(Fields& f);
  bool any() const { return noise > 0 || scale > 0 || shift > 0 || erase > 0; }
};

}  // namespace modewise::data
