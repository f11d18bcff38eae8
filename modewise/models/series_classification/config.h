#pragma once
// Every option of every classifier of series.

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

/// How a series is cut into tokens.
struct SeriesPatchConfig {
  int64_t length = 16;             // steps of a patch
  int64_t stride = 8;              // steps from one patch to the next
  std::string channels = "mixed";  // mixed: a token holds all variables; independent: one each (PatchTST)
  double dropout = 0;
  void fields(Fields& f);
};

struct SeriesHeadConfig {
  std::string pooling = "attention";  // attention | mean | flatten
  double dropout = 0.1;
  void fields(Fields& f);
};

/// tcn and resnet.
struct SeriesConvolutionConfig {
  int64_t width = 64;  // channels (resnet: of its first block)
  int64_t kernel = 7;  // tcn
  int64_t levels = 0;  // tcn; 0: as many as see the whole series
  void fields(Fields& f);
};

struct SeriesLinearConfig {
  int64_t kernel = 25;  // steps of the moving average that is the trend
  void fields(Fields& f);
};

struct SeriesForestConfig {
  int64_t trees = 100;
  int64_t shapelets = 10;   // drawn at each node
  double shortest = 0.025;  // shapelet, as a share of its series
  double longest = 1;
  void fields(Fields& f);
};

struct SeriesRocketConfig {
  int64_t features = 10000;  // of minirocket, cut to a multiple of its 84 kernels
  void fields(Fields& f);
};

struct SeriesModelConfig {
  std::string name = "patchtst";
  std::string precision = "float32";  // float32 | bf16
  int64_t width = 64;                 // D
  int64_t hidden = 128;               // of the feed-forward
  int64_t blocks = 2;
  int64_t heads = 4;
  double dropout = 0.1;
  SeriesPatchConfig patch;
  SequenceAttentionConfig attention;
  SeriesHeadConfig head;
  SeriesConvolutionConfig convolution;
  SeriesLinearConfig linear;
  SeriesForestConfig forest;
  SeriesRocketConfig rocket;
  EnsembleConfig ensemble;

  void fields(Fields& f);

  /// Tokens of a series of that length, one variable's where they are apart.
  int64_t tokens(int64_t length) const;
};

/// Throws a config error for a value outside its rule, for values that do not fit together or do not fit the
/// shape, and for an option changed that the chosen model does not have. `source` opens the message.
void validate(const SeriesModelConfig& config, const SeriesShape& shape, const std::string& source = "model");

/// A name for tables: "patchtst", "patchtst axial 32·32", "tcn".
std::string title_of(const SeriesModelConfig& config);

using SeriesModelRow = ModelRow<SeriesModelConfig, SeriesShape, SeriesClassifier>;
/// Every classifier of series.
const std::vector<SeriesModelRow>& series_models();

}  // namespace modewise::models
