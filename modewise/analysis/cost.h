#pragma once
// Cost model: parameters, multiply-adds and activation memory by formula from options and sizes, without
// building the model. Parts shared by all token models, and a volume model of any size.
//
// A multiply-add (MAC) is one product and one sum, as papers' "GFLOPS" count them: those of matrix products,
// plus one per element of a normalisation's scale and of a gate. Softmax, rotary embedding, plain additions
// and dropout are not counted. N tokens of N_1 × … × N_k, width D, H heads of width d, feed-forward M.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/models/encoder_config.h"

namespace modewise::analysis {

struct CostPart {
  std::string name;  // "embedding", "query and key", "value and output", "scores and mixing", "feed-forward",
                     // "norms" …
  int64_t parameters = 0;
  double multiply_adds = 0;  // forward pass of one sample
};

/// One block, or the layers before ("embedding") or after ("head") the blocks.
struct LayerCost {
  std::string name;
  std::vector<CostPart> parts;
  double activation_bytes = 0;

  int64_t parameters() const;
  double multiply_adds() const;
};

struct ModelCost {
  std::vector<int64_t> tokens;  // N_1 … N_k; empty for models without tokens
  std::vector<CostPart> parts;  // summed over all layers
  /// Bytes of activations that a training step keeps per sample for the backward pass.
  double activation_bytes = 0;
  std::vector<LayerCost> layers;
  /// Fraction of the n² weights of full attention that a layer computes; 1 if not computed.
  double weight_share = 1;

  int64_t parameters() const;
  double multiply_adds() const;
  /// Multiply-adds of the parts with one of these names.
  double multiply_adds_of(const std::vector<std::string>& names) const;
};

/// The tokens that Kronecker attention projects to queries and keys: pooled tokens (here; the same function)
/// or all tokens (the released code).
enum class Projection { pooled, full };

/// Collects parts layer by layer; parts of equal names are summed.
class CostAccount {
 public:
  explicit CostAccount(double bytes = 4) : bytes_(bytes) {}
  /// Starts the layer `name`: following parts belong to it.
  void layer(const std::string& name);
  void add(const std::string& name, int64_t parameters, double multiply_adds);
  /// Adds a linear layer applied to `rows` rows.
  void linear(const std::string& name, int64_t in, int64_t out, double rows, bool bias = true);
  void norm(int64_t width, double rows);
  /// Adds elements kept for the backward pass.
  void keep(double elements);
  ModelCost cost(std::vector<int64_t> tokens) &&;

 private:
  double bytes_;
  ModelCost cost_;
};

/// Adds parameters and multiply-adds of another model's parts, by name: for frozen members of an ensemble.
void add_parts(ModelCost& cost, const ModelCost& other);

/// Adds position embeddings and blocks of models::TokenEncoder with attention `mechanism` (hot, transformer,
/// spatial, temporal, divided, pooling).
void add_codes(CostAccount& account, const models::EncoderConfig& config, const models::TokenShape& tokens);
void add_blocks(CostAccount& account, const models::EncoderConfig& config, const std::string& mechanism,
                const models::TokenShape& tokens, Projection projection);

/// The released code's volume classifier (grids of any order): linear patch embedding with batch
/// normalisation, blocks, mean over tokens, LayerNorm, linear head.
struct VisionModel {
  std::vector<int64_t> size = {28, 28, 28};
  int64_t patch = 4, channels = 1, classes = 2;
  std::string mechanism = "hot";
  models::EncoderConfig encoder;

  models::TokenShape tokens() const;
};
ModelCost grid_cost(const VisionModel& model, Projection projection = Projection::pooled);

}  // namespace modewise::analysis
