#pragma once
// What a model costs, by formula from its options and sizes, without building it: the parts that all models
// of tokens share, and a volume model of any size.
//
// A multiply-add is one product and one sum, as papers' "GFLOPS" count them: of matrix products, and one for
// each element of a normalisation's scale and of a gate. Softmax, rotary codes, additions alone and dropout
// count nothing. N tokens of N_1 × … × N_k, width D, H heads of width d, feed-forward M.

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

/// One block, or what stands before ("embedding") or behind ("head") them.
struct LayerCost {
  std::string name;
  std::vector<CostPart> parts;
  double activation_bytes = 0;

  int64_t parameters() const;
  double multiply_adds() const;
};

struct ModelCost {
  std::vector<int64_t> tokens;  // N_1 … N_k; empty for models without tokens
  std::vector<CostPart> parts;  // of all layers together
  /// Elements of the activations that a training step keeps of one sample for its backward pass, × their
  /// width.
  double activation_bytes = 0;
  std::vector<LayerCost> layers;
  /// Of the n² weights of full attention over n tokens, what a layer computes; 1 too where nobody asked.
  double weight_share = 1;

  int64_t parameters() const;
  double multiply_adds() const;
  /// Of the parts whose name is one of these.
  double multiply_adds_of(const std::vector<std::string>& names) const;
};

/// Where queries and keys of Kronecker attention are projected: on pooled tokens (ours; the same function) or
/// on all of them, as the released code does.
enum class Projection { pooled, full };

/// Collects parts layer by layer; equal names add up.
class CostAccount {
 public:
  explicit CostAccount(double bytes = 4) : bytes_(bytes) {}
  /// What follows belongs to the layer `name`.
  void layer(const std::string& name);
  void add(const std::string& name, int64_t parameters, double multiply_adds);
  /// A linear map of `rows` rows.
  void linear(const std::string& name, int64_t in, int64_t out, double rows, bool bias = true);
  void norm(int64_t width, double rows);
  /// Elements kept for the backward pass.
  void keep(double elements);
  ModelCost cost(std::vector<int64_t> tokens) &&;

 private:
  double bytes_;
  ModelCost cost_;
};

/// Adds parameters and multiply-adds of another model's parts, those of equal names together: what stands in
/// one beside others and is not trained.
void add_parts(ModelCost& cost, const ModelCost& other);

/// The position codes and blocks of models::TokenEncoder with attention `mechanism` (hot, transformer,
/// spatial, temporal, divided, pooling).
void add_codes(CostAccount& account, const models::EncoderConfig& config, const models::TokenShape& tokens);
void add_blocks(CostAccount& account, const models::EncoderConfig& config, const std::string& mechanism,
                const models::TokenShape& tokens, Projection projection);

/// A classifier of volumes (grids of any order) cut into patches: linear map of a patch with batch
/// normalisation, blocks, mean over tokens, LayerNorm, linear head; the released code's volume model.
struct VisionModel {
  std::vector<int64_t> size = {28, 28, 28};
  int64_t patch = 4, channels = 1, classes = 2;
  std::string mechanism = "hot";
  models::EncoderConfig encoder;

  models::TokenShape tokens() const;
};
ModelCost grid_cost(const VisionModel& model, Projection projection = Projection::pooled);

}  // namespace modewise::analysis
