// Server for the Python oracle: for a line `FOLDER<tab>INPUT<tab>OUTPUT` it runs the ViT of FOLDER on the
// tensor images [B, N_1, N_2, C] of the safetensors file INPUT, writes its logits and the attention of each
// layer to OUTPUT, and answers "ok" or the error.

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>

#include <cstdio>
#include <iostream>
#include <sstream>

#include "modewise/core/error.h"
#include "modewise/io/arrays/safetensors.h"
#include "modewise/models/vision/vision_transformer.h"

namespace {

using namespace modewise;

void answer(const std::string& folder, const std::string& input, const std::string& output) {
  const at::NoGradGuard no_grad;
  const io::SafetensorsFile file(input);
  const io::TensorView view = file.find("pictures").value();
  models::ClassifierInput images;
  images.values = at::from_blob(const_cast<std::byte*>(view.bytes.data()), view.shape, at::kFloat).clone();
  const models::VisionShape shape{{view.shape[1], view.shape[2]}, view.shape[3], 5, false};
  models::VisionModelConfig config;
  config.use_model("vit");
  config.vit.from = folder;
  models::take_vit_sizes(config, shape);
  const auto model = models::make_vision_classifier(config, shape, 1);
  const auto notes = dynamic_cast<models::VisionTransformer&>(*model).take_weights(folder);
  model->eval();
  std::vector<at::Tensor> tensors = {model->forward(images).contiguous()};
  for (const at::Tensor& matrix : model->attention(images).full) tensors.push_back(matrix.contiguous());
  std::vector<io::TensorView> views;
  for (size_t i = 0; i < tensors.size(); ++i)
    views.push_back({i == 0 ? "logits" : "layer" + std::to_string(i),
                     "F32",
                     tensors[i].sizes().vec(),
                     {static_cast<const std::byte*>(tensors[i].const_data_ptr()), tensors[i].nbytes()}});
  io::write_safetensors(output, views);
  std::printf("ok%s%s\n", notes.empty() ? "" : " ", notes.empty() ? "" : notes[0].c_str());
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream stream(line);
    std::string folder, input, output;
    std::getline(stream, folder, '\t');
    std::getline(stream, input, '\t');
    std::getline(stream, output, '\t');
    try {
      answer(folder, input, output);
    } catch (const Error& error) {
      std::printf("error %d %s\n", error.exit_code(), error.what());
    }
    std::fflush(stdout);
  }
}
