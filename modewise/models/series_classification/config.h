#pragma once
// Options of the series classifiers.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/models/ensemble_config.h"
#include "modewise/models/model_choice.h"
#include "modewise/models/sequence_attention_config.h"

namespace modewise::models {

class SeriesClassifier;
struct SeriesShape;

/// Patching of a series into tokens.
struct SeriesPatchConfig {
  int64_t length = 16;  // patch length in steps
  int64_t stride = 8;   // patch stride in steps
  std::string channels =
      "mixed";  // mixed: tokens span all variables; independent: one variable each (PatchTST)
  double dropout = 0;
  void fields(Fields& f);
};

struct SeriesHeadConfig {
  std::string pooling = "attention";  // attention | mean | flatten
  double dropout = 0.1;
  void fields(Fields& f);
};

/// Options of tcn and resnet.
struct SeriesConvolutionConfig {
  int64_t width = 64;  // channels (resnet: of the first block)
  void fields(Fields& f);
};

struct SeriesTcnConfig {
  int64_t kernel = 7;
  int64_t levels = 0;  // 0: receptive field covers the whole series
  void fields(Fields& f);
};

struct SeriesLinearConfig {
  int64_t kernel = 25;  // steps of the moving average (trend)
  void fields(Fields& f);
};

struct SeriesForestConfig {
  int64_t trees = 100;
  int64_t shapelets = 10;   // candidate shapelets per node
  double shortest = 0.025;  // shortest shapelet, as a fraction of the series length
  double longest = 1;
  void fields(Fields& f);
};

struct SeriesRocketConfig {
  int64_t features = 10000;  // minirocket: rounded down to a multiple of its 84 kernels
  void fields(Fields& f);
};

struct SeriesModelConfig {
  std::string name = "patchtst";
  std::string precision = "float32";  // float32 | bf16
  int64_t width = 64;                 // D
  int64_t hidden = 128;               // feed-forward width
  int64_t blocks = 2;
  int64_t heads = 4;
  double dropout = 0.1;
  SeriesPatchConfig patch;
  SequenceAttentionConfig attention;
  SeriesHeadConfig head;
  SeriesConvolutionConfig convolution;
  SeriesTcnConfig tcn;
  SeriesLinearConfig dlinear;
  SeriesForestConfig shapelet_forest;
  SeriesRocketConfig minirocket;
  EnsembleConfig ensemble;

  void fields(Fields& f);

  /// Number of tokens of a series of this length (per variable if channel independent).
  int64_t tokens(int64_t length) const;
};

/// Throws a config error for invalid or inconsistent values, values that do not match the shape, and a
/// changed option that the model does not have. `source` starts the message.
void validate(const SeriesModelConfig& config, const SeriesShape& shape, const std::string& source = "model");

/// Whether the model is trained in gradient steps, rather than by one pass over the training samples.
bool learns_in_steps(const SeriesModelConfig& config);

/// A title for tables: "patchtst", "patchtst axial 32·32", "tcn".
std::string title_of(const SeriesModelConfig& config);

using SeriesModelRow = ModelRow<SeriesModelConfig, SeriesShape, SeriesClassifier>;
/// Registry of all series classifiers.
const std::vector<SeriesModelRow>& series_models();

}  // namespace modewise::models
