#pragma once
// Every option of every forecaster. `name` and `preset` set the others to what their authors use; options set
// after them win, whatever their order in a file.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/core/fields.h"

namespace modewise::models {

struct ForecastShape;

/// How a window is normalised before a model sees it, and its forecast brought back (RevIN and relatives).
struct WindowConfig {
  std::string centre = "mean";          // mean | last | none: over observed cells
  std::string scale = "deviation";      // deviation | none
  bool affine = false;                  // learned weight and bias a series (RevIN)
  int64_t cycle = 0;                    // rows of a learned periodic profile a series; 0 is none
  double cycle_gain = 5;                // the profile is gain × parameter: its learning rate under Adam
  std::string cycle_start = "profile";  // profile (of the training data) | zero
  void fields(Fields& fields);
};

/// How the time axis is cut into tokens.
struct PatchConfig {
  int64_t length = 16;
  int64_t stride = 8;
  std::string embedding = "linear";  // linear | relu (conv, ReLU) | relu_norm (conv, ReLU, LayerNorm)
  double dropout = 0;
  void fields(Fields& fields);
};

struct PositionConfig {
  std::string code = "none";       // none | learned | sincos, over time and the ordered series modes
  bool identity = true;            // a learned code for each place of the series modes without order
  std::string rotary = "ordered";  // ordered (time and ordered series modes) | time | none
  double rotary_base = 10000;
  void fields(Fields& fields);
};

struct AttentionConfig {
  std::string combine = "product";    // product | sum | mean
  std::string pooling = "sum";        // sum | mean
  bool share_modes = false;           // one query/key projection for all modes
  std::vector<int64_t> attend_modes;  // token modes, time last; empty is all
  bool query_key_norm = true;         // LayerNorm of width d on pooled queries and keys
  std::string kernel = "softmax";     // softmax | linear
  int64_t features = 0;               // of the linear kernel; 0: d·⌈log d⌉
  double dropout = 0;                 // on the factors
  void fields(Fields& fields);
};

struct HeadConfig {
  std::string time = "flatten";  // flatten | mean | attention: what becomes of the time tokens
  double dropout = 0;
  bool zero_start = false;    // weights 0 at the start: the first forecast is the window's centre
  std::string skip = "none";  // none | shared | individual: a linear map of the window beside the model
  void fields(Fields& fields);
};

struct BaselineConfig {
  int64_t period = 24;           // of `seasonal`, rows
  int64_t kernel = 25;           // of `dlinear`'s moving average, rows, odd
  bool individual = false;       // own weights a series: dlinear, nlinear, rlinear
  std::string start = "random";  // random | average: weights 1/L, of dlinear and nlinear
  void fields(Fields& fields);
};

struct ModelConfig {
  std::string name = "hot";
  std::string preset = "default";
  std::string precision = "float32";  // float32 | bf16
  int64_t width = 64;                 // D
  int64_t hidden = 128;               // of the feed-forward
  int64_t blocks = 2;
  int64_t heads = 4;
  std::string feed_forward = "swiglu";  // swiglu | gelu
  double dropout = 0.1;                 // of attention and feed-forward outputs
  double layer_scale = 0;               // start of a learned scale a channel on each branch; 0 is none
  WindowConfig window;
  PatchConfig patch;
  PositionConfig position;
  AttentionConfig attention;
  HeadConfig head;
  BaselineConfig baseline;

  void fields(Fields& fields);

  /// Sets every option to what the authors of model `new_name` use, preset "default". Between hot, transformer,
  /// spatial and temporal, which differ in their attention alone, the options stay as they are.
  void use_model(std::string new_name);
  /// Sets the options in which the released HOT code and its paper differ ("release", "paper"), or ours
  /// ("default").
  void use_preset(std::string new_preset);
};

/// Throws a config error for a value outside its rule, for values that do not fit together or do not fit the
/// shape, and for an option changed that the chosen model does not have. `source` opens the message.
void validate(const ModelConfig& config, const ForecastShape& shape, const std::string& source = "model");

/// Whether `name` is hot or one of its siblings with another attention: transformer, spatial, temporal.
bool is_token_model(std::string_view name);

/// The names make_forecaster knows.
const std::vector<std::string>& forecaster_names();

}  // namespace modewise::models
