#include "modewise/analysis/grid_cost.h"

#include <utility>

namespace modewise::analysis {

models::TokenShape VisionModel::tokens() const {
  models::TokenShape out;
  for (size_t mode = 0; mode < size.size(); ++mode) {
    out.sizes.push_back((size[mode] + patch - 1) / patch);
    out.ordered_modes.push_back(static_cast<int64_t>(mode));
  }
  return out;
}

nn::ModelCost grid_cost(const VisionModel& model, models::Projection projection) {
  const models::TokenShape tokens = model.tokens();
  const double count = nn::cell_count(tokens.sizes);
  const int64_t width = model.encoder.width;
  const std::vector<int64_t> patch(model.size.size(), model.patch);
  nn::CostAccount account;
  account.layer("embedding");
  models::add_patches(account, "relu_norm", patch, model.channels, width, count);
  add_codes(account, model.encoder, tokens);
  add_blocks(account, model.encoder, model.mechanism, tokens, projection);
  account.layer("head");
  account.norm(width, 1);
  account.linear("head", width, model.classes, 1);
  account.keep(2 * static_cast<double>(width));
  return std::move(account).cost(tokens.sizes);
}

}  // namespace modewise::analysis
