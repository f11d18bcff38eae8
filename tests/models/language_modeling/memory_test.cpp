// Memory of a language model's weights and caches, against the estimate made before allocation.

#include <ATen/ops/equal.h>
#include <gmock/gmock.h>

#include <fstream>

#include "modewise/models/language_modeling/text_generation.h"
#include "modewise/text/load_tokenizer.h"
#include "tests/models/language_modeling/language_vectors.h"
#include "tests/scratch_folder.h"
#include "tests/tensor_meter.h"

namespace modewise::models {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

LanguageModelConfig wide_config() {
  LanguageModelConfig c;
  c.vocabulary = 4096;
  c.width = 512;
  c.layers = 2;
  c.heads = 8;
  c.context = 64;
  c.attention.fold = {0, 4, 4};
  return c;
}

TEST(LanguageMemory, ASaveHoldsAPartOfATensor) {
  LanguageModelConfig config = wide_config();
  config.attention = {};
  config.attention.type = "full";
  const auto model = make_language_model(config, 3);
  const ScratchFolder scratch;
  constexpr int64_t kPart = 2 << 20;
  TensorMeter::begin();
  {
    const TensorMeter meter;
    save_language_model(scratch / "wide", *model);
    EXPECT_EQ(TensorMeter::peak(), 0);
    save_language_model(scratch / "narrow", *model, {.dtype = "bfloat16"});
    EXPECT_EQ(TensorMeter::peak(), kPart);
    save_llama2c(scratch / "m.bin", *model);
    EXPECT_EQ(TensorMeter::peak(), kPart);
  }
}

TEST(LanguageMemory, WeightsOfAModelRunInBfloat16AreNeverWidened) {
  const auto model = make_language_model(wide_config(), 3);
  const ScratchFolder scratch;
  save_language_model(scratch / "m", *model, {.dtype = "bfloat16"});
  const auto narrow = [](LanguageModelConfig& config) { config.precision = "bf16"; };
  constexpr int64_t kPart = 2 << 20;  // the chunk size of tensor copies, and small tensors
  const int64_t weights = model->config().parameters();
  TensorMeter::begin();
  {
    const TensorMeter meter;
    const auto loaded = load_language_model(scratch / "m", narrow, KeptWeights::as_activated);
    EXPECT_LE(TensorMeter::peak(), 2 * weights + kPart + (1 << 16));
    const auto wide = model->named_parameters();
    for (const auto& item : loaded.model->named_parameters())
      EXPECT_TRUE(at::equal(item.value(), wide[item.key()].to(at::kBFloat16))) << item.key();
  }
  for (const auto& item : load_language_model(scratch / "m", narrow).model->named_parameters())
    EXPECT_EQ(item.value().scalar_type(), at::kFloat) << item.key();  // for training
}

// A sparse file of 2 TiB.
TEST(LanguageMemory, WeightsThatDoNotFitAreRefusedBeforeAnyIsRead) {
  LanguageModelConfig config;
  config.vocabulary = 16777216;
  config.width = 65536;
  config.hidden = 32;
  config.layers = 1;
  config.heads = 64;
  config.attention.type = "full";
  const ScratchFolder scratch;
  fs::create_directories(scratch / "m");
  scratch.write("m/config.json", format_language_json(config.resolved(), "bfloat16", {}));
  nlohmann::ordered_json header;
  int64_t end = 0;
  for (const LanguageTensor& tensor : language_tensors(config)) {
    const int64_t begin = end;
    end += 2 * c10::multiply_integers(tensor.shape);
    header[tensor.name] = {{"dtype", "BF16"}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
  }
  const std::string text = header.dump();
  const uint64_t size = text.size();
  scratch.write("m/model.safetensors", std::string(reinterpret_cast<const char*>(&size), 8) + text);
  fs::resize_file(scratch / "m" / "model.safetensors", 8 + size + static_cast<uint64_t>(end));
  const auto message = [&](const char* precision) {
    return error_of(ErrorKind::general, [&] {
      load_language_model(
          scratch / "m", [&](LanguageModelConfig& c) { c.precision = precision; }, KeptWeights::as_activated);
    });
  };
  EXPECT_THAT(message("float32"), HasSubstr("weights in float32 need 4.06 TiB, but "));
  EXPECT_THAT(message("float32"), HasSubstr("; --precision bf16 needs half"));
  EXPECT_THAT(message("bf16"), HasSubstr("weights in bfloat16 need 2.03 TiB, but "));
}

LanguageModelConfig byte_config(const std::string& type) {
  LanguageModelConfig c;
  c.width = 16;
  c.layers = 2;
  c.heads = 4;
  c.kv_heads = 2;
  c.attention.type = type;
  if (type == "summary" || type == "axial") c.attention.fold = {0, 3, 4};
  if (type == "summary") c.attention.summary_tokens = 2;
  if (type == "window" || type == "lambda") c.attention.window = 37;
  if (type == "lambda") c.attention.sinks = 5;
  return c;
}

TEST(LanguageMemory, CachesTakeWhatIsCountedBeforehand) {
  const auto tokenizer = text::load_tokenizer("bytes");
  for (const char* type : {"summary", "full", "window", "lambda", "axial", "random", "topk"})
    for (const char* precision : {"float32", "bf16"}) {
      LanguageModelConfig config = byte_config(type);
      config.vocabulary = tokenizer->size();
      config.precision = precision;
      const auto model = make_language_model(config, 1);
      const Generation written = generate_text(*model, tokenizer, std::string(70, 'a'),
                                               {.tokens = 60, .stop_at_eos = false, .prompt_chunk = 30});
      const auto prompt = static_cast<int64_t>(written.prompt.size());
      EXPECT_EQ(static_cast<double>(written.cache_bytes),
                cache_bytes(model->config(), {.prompt = prompt, .chunk = 30, .tokens = 59}).kept)
          << type << " in " << precision;
    }
}

}  // namespace
}  // namespace modewise::models
