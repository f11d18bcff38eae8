// Server for the Python oracles: for a line `classes|masked<tab>FOLDER<tab>INPUT<tab>OUTPUT<tab>COPY` it runs
// the model of FOLDER on the tensors ids, types and mask of the safetensors file INPUT, writes its logits to
// OUTPUT and the model to the folder COPY, and answers "ok" or the error.

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>

#include <cstdio>
#include <iostream>
#include <sstream>

#include "modewise/core/error.h"
#include "modewise/io/arrays/safetensors.h"
#include "modewise/models/text/files.h"

namespace {

using namespace modewise;

at::Tensor tensor_of(const io::SafetensorsFile& file, const char* name, at::ScalarType type) {
  const auto view = file.find(name);
  require(view.has_value(), ErrorKind::data, "no tensor {}", name);
  return at::from_blob(const_cast<std::byte*>(view->bytes.data()), view->shape, type).clone();
}

models::TextInput input_of(const std::string& path) {
  const io::SafetensorsFile file(path);
  models::TextInput input;
  input.ids = tensor_of(file, "ids", at::kLong);
  if (file.find("types")) input.types = tensor_of(file, "types", at::kLong);
  if (file.find("mask")) input.mask = tensor_of(file, "mask", at::kBool);
  return input;
}

void write_logits(const std::string& path, const at::Tensor& given) {
  const at::Tensor logits = given.contiguous();
  const std::span bytes(static_cast<const std::byte*>(logits.const_data_ptr()), logits.nbytes());
  io::write_safetensors(path, {{{"logits", "F32", logits.sizes().vec(), bytes}}});
}

void answer(const std::vector<std::string>& words) {
  const at::NoGradGuard no_grad;
  const models::TextInput input = input_of(words.at(2));
  if (words.at(0) == "classes") {
    const auto loaded = models::load_text_classifier(words.at(1));
    write_logits(words.at(3), loaded.model->forward(input));
    models::save_text_model(words.at(4), *loaded.model,
                            {.labels = loaded.file.labels, .regression = loaded.file.regression});
  } else {
    const auto loaded = models::load_masked_language_model(words.at(1));
    write_logits(words.at(3), loaded.model->logits(loaded.model->hidden(input)));
    models::save_text_model(words.at(4), *loaded.model);
  }
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; std::getline(stream, word, '\t');) words.push_back(word);
    try {
      answer(words);
      std::printf("ok\n");
    } catch (const Error& error) {
      std::printf("error %d %s\n", error.exit_code(), error.what());
    }
    std::fflush(stdout);
  }
}
