#pragma once
// Cost model: parameters, multiply-adds and activation memory by formula from options and sizes, without
// building the model.
//
// A multiply-add (MAC) is one product and one sum, as papers' "GFLOPS" count them: those of matrix products,
// plus one per element of a normalisation's scale and of a gate. Softmax, rotary embedding, plain additions
// and dropout are not counted. N tokens of N_1 × … × N_k, width D, H heads of width d, feed-forward M.

#include <cstdint>
#include <string>
#include <vector>

namespace modewise::nn {

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

/// Collects parts layer by layer; parts of equal names are summed.
class CostAccount {
 public:
  /// `precision` of the activations: float32 or bf16.
  explicit CostAccount(const std::string& precision = "float32") : bytes_(precision == "bf16" ? 2 : 4) {}
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

/// Number of cells of a grid, N_1 · … · N_k.
double cell_count(const std::vector<int64_t>& sizes);

}  // namespace modewise::nn
