// Loading and saving language models: layouts, errors of damaged or inconsistent files, and llama2.c's model.

#include "modewise/models/language_modeling/files.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <gmock/gmock.h>

#include "modewise/io/arrays/safetensors_shards.h"
#include "modewise/models/language_modeling/config_json.h"
#include "tests/error_of.h"
#include "tests/models/language_modeling/language_vectors.h"
#include "tests/scratch_folder.h"

namespace modewise::models {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

LanguageModelConfig grouped_config(const std::string& type) {
  LanguageModelConfig c;
  c.vocabulary = 29;
  c.width = 16;
  c.hidden = 24;
  c.layers = 2;
  c.heads = 4;
  c.kv_heads = 2;
  c.context = 32;
  c.attention.type = type;
  if (type == "summary") c.attention.fold = {0, 3, 4};
  if (type == "summary") c.attention.summary_tokens = 2;
  if (type == "window" || type == "lambda") c.attention.window = 6;
  if (type == "lambda") c.attention.sinks = 3;
  return c;
}

std::shared_ptr<LanguageModel> filled_model(const LanguageModelConfig& config) {
  auto model = make_language_model(config, 5);
  set_formula_weights(*model);
  const at::NoGradGuard no_grad;
  for (auto& item : model->named_parameters())
    if (item.key().ends_with("latents"))
      item.value().copy_(at::arange(item.value().numel(), at::kFloat).sin().view(item.value().sizes()));
  return model;
}

void expect_same_model(LanguageModel& a, LanguageModel& b) {
  const auto other = b.named_parameters();
  ASSERT_EQ(a.named_parameters().size(), other.size());
  for (const auto& item : a.named_parameters())
    EXPECT_TRUE(at::equal(item.value(), other[item.key()])) << item.key();
  const at::Tensor tokens = at::arange(40, at::kLong).mul(11).remainder(a.config().vocabulary).view({1, 40});
  EXPECT_TRUE(at::equal(a.forward(tokens), b.forward(tokens)));
}

TEST(LanguageFiles, EveryFormComesBackByTheBit) {
  for (const char* type : {"summary", "full", "window", "lambda", "axial", "random", "topk"})
    for (const bool tied : {true, false})
      for (const uint64_t shard : {uint64_t{1} << 30, uint64_t{4000}}) {
        LanguageModelConfig config = grouped_config(type);
        config.tied = tied;
        const auto model = filled_model(config);
        const ScratchFolder scratch;
        save_language_model(scratch / "m", *model, {.shard_bytes = shard});
        EXPECT_EQ(fs::exists(scratch / "m" / "model.safetensors"), shard > 4000);
        const LoadedLanguageModel back = load_language_model(scratch / "m");
        EXPECT_EQ(back.model->config().attention.type, type);
        EXPECT_EQ(back.model->config().attention.fold, model->config().attention.fold);
        EXPECT_EQ(back.model->config().context, 32);
        expect_same_model(*model, *back.model);
        EXPECT_THAT(error_of(ErrorKind::cannot_create, [&] { save_language_model(scratch / "m", *model); }),
                    HasSubstr("already contains a model"));
      }
}

TEST(LanguageFiles, RotaryScalingsComeBack) {
  for (const char* kind : {"none", "linear", "ntk", "yarn", "llama3"}) {
    LanguageModelConfig config = grouped_config("full");
    config.rope.scaling = {.base = 700,
                           .kind = kind,
                           .factor = 3,
                           .original_length = 16,
                           .low_frequency_factor = 1.5,
                           .high_frequency_factor = 5,
                           .beta_fast = 9,
                           .beta_slow = 2,
                           .truncate = false,
                           .gain = 0};
    const auto model = filled_model(config);
    const ScratchFolder scratch;
    save_language_model(scratch / "m", *model);
    expect_same_model(*model, *load_language_model(scratch / "m").model);
  }
}

TEST(LanguageFiles, ScalingsOfLevelsComeBack) {
  for (const char* kind : {"linear", "yarn", "llama3"})
    for (const int64_t scaled : {-1, 1})
      for (const bool level_lengths : {true, false})
        for (const double gain : {0.0, 1.25}) {
          LanguageModelConfig config = grouped_config("summary");
          config.rope.scaling = {.base = 700, .kind = kind, .factor = 3, .original_length = 32, .gain = gain};
          config.rope.scaled_level = scaled;
          config.rope.level_lengths = level_lengths;
          const auto model = filled_model(config);
          const ScratchFolder scratch;
          save_language_model(scratch / "m", *model);
          expect_same_model(*model, *load_language_model(scratch / "m").model);
        }
}

// Folders older than the key count lengths in tokens at every level.
TEST(LanguageFiles, OlderFoldersCountLengthsInTokens) {
  for (const char* kind : {"yarn", "llama3"}) {
    LanguageModelConfig config = grouped_config("summary");
    config.rope.scaling = {.base = 700, .kind = kind, .factor = 3, .original_length = 32};
    auto json = nlohmann::json::parse(format_language_json(config, "float32", {}));
    EXPECT_EQ(parse_language_json(json.dump(), "a").rope.level_lengths, true);
    EXPECT_EQ(json["modewise"]["rope"].erase("level_lengths"), 1u);
    EXPECT_EQ(parse_language_json(json.dump(), "a").rope.level_lengths, false);
    json["modewise"].erase("rope");
    EXPECT_EQ(parse_language_json(json.dump(), "a").rope.level_lengths, false);
  }
  const auto full = nlohmann::json::parse(format_language_json(grouped_config("full"), "float32", {}));
  EXPECT_FALSE(full.contains("modewise"));
  EXPECT_EQ(parse_language_json(full.dump(), "a").rope.level_lengths, true);
}

TEST(LanguageFiles, AFactorOfOneOpens) {
  auto json = nlohmann::json::parse(format_language_json(grouped_config("full"), "float32", {}));
  json["rope_scaling"] = nullptr;
  json["rope_parameters"] = {{"rope_type", "linear"}, {"rope_theta", 700}, {"factor", 1.0}};
  EXPECT_EQ(parse_language_json(json.dump(), "a").rope.scaling.kind, "linear");
}

TEST(LanguageFiles, Bfloat16RoundsOnce) {
  const auto model = filled_model(grouped_config("full"));
  const ScratchFolder scratch;
  save_language_model(scratch / "m", *model, {.dtype = "bfloat16"});
  const auto back = load_language_model(scratch / "m").model->named_parameters();
  for (const auto& item : model->named_parameters())
    EXPECT_TRUE(at::equal(item.value().to(at::kBFloat16).to(at::kFloat), back[item.key()]));
}

TEST(LanguageFiles, Llama2cComesBackByTheBitInBothVersions) {
  for (const bool tied : {true, false})
    for (const int version : {0, 1}) {
      LanguageModelConfig config = grouped_config("full");
      config.tied = tied;
      const auto model = filled_model(config);
      const ScratchFolder scratch;
      save_llama2c(scratch / "m.bin", *model, version);
      const LoadedLanguageModel back = load_language_model(scratch / "m.bin");
      EXPECT_EQ(back.layout, "llama2.c version " + std::to_string(version));
      expect_same_model(*model, *back.model);
    }
  const ScratchFolder scratch;
  EXPECT_THAT(error_of(ErrorKind::data,
                       [&] { save_llama2c(scratch / "m.bin", *filled_model(grouped_config("summary"))); }),
              HasSubstr("do not support attention types other than full"));
}

TEST(LanguageFiles, AttentionMayBeChangedOnTheWay) {
  const auto model = filled_model(grouped_config("full"));
  const ScratchFolder scratch;
  save_language_model(scratch / "m", *model);
  const LoadedLanguageModel changed = load_language_model(scratch / "m", [](LanguageModelConfig& config) {
    config.attention = {};
    config.attention.fold = {0, 2, 4};
  });
  EXPECT_EQ(changed.model->config().attention.type, "summary");
  EXPECT_THAT(
      changed.notes,
      testing::ElementsAre(
          "latents of 2 layers: none in the file, levels 1 to 2 are initialized as mean pooling (zero)"));
  save_language_model(scratch / "c", *changed.model);
  const LoadedLanguageModel full = load_language_model(scratch / "c", [](LanguageModelConfig& config) {
    config.attention = {};
    config.attention.type = "full";
  });
  EXPECT_THAT(full.notes, testing::ElementsAre(HasSubstr("ignored the latents of 2 layers")));
  expect_same_model(*model, *full.model);
  EXPECT_THAT(error_of(ErrorKind::config,
                       [&] {
                         load_language_model(scratch / "m",
                                             [](LanguageModelConfig& c) { c.attention.type = "pooled"; });
                       }),
              HasSubstr("is not causal"));
}

/// A saved model whose config.json or weights are modified.
class DamagedFolder : public testing::Test {
 protected:
  DamagedFolder() : config_(grouped_config("full")) {
    config_.tied = false;
    model_ = filled_model(config_);
    save_language_model(folder(), *model_);
    json_ = nlohmann::json::parse(read_file(folder() / "config.json"));
  }
  fs::path folder() const { return scratch_ / "m"; }
  std::string error_with(const std::function<void(nlohmann::json&)>& change) {
    nlohmann::json changed = json_;
    change(changed);
    write_file_atomically(folder() / "config.json", changed.dump());
    return error();
  }
  std::string error(ErrorKind kind = ErrorKind::data) {
    return error_of(kind, [&] { load_language_model(folder()); });
  }
  /// Rewrites the weights after a change.
  void rewrite(const std::function<void(std::vector<io::TensorView>&)>& change) {
    const fs::path copy = scratch_ / "copy.safetensors";
    fs::copy_file(folder() / "model.safetensors", copy, fs::copy_options::overwrite_existing);
    const io::SafetensorsFile file(copy);
    std::vector<io::TensorView> tensors = file.tensors();
    change(tensors);
    io::write_safetensors(folder() / "model.safetensors", tensors);
  }

  ScratchFolder scratch_;
  LanguageModelConfig config_;
  std::shared_ptr<LanguageModel> model_;
  nlohmann::json json_;
};

TEST_F(DamagedFolder, ConfigThatLies) {
  using Json = nlohmann::json;
  EXPECT_THAT(error_with([](Json& j) { j["num_attention_heads"] = 8; }), HasSubstr("num_attention_heads 8"));
  EXPECT_THAT(error_with([](Json& j) { j["num_key_value_heads"] = 4; }),
              HasSubstr("k_proj.weight' is [16, 16], but its file has [8, 16]"));
  EXPECT_THAT(error_with([](Json& j) { j["num_key_value_heads"] = 3; }), HasSubstr("must divide heads = 4"));
  EXPECT_THAT(error_with([](Json& j) { j["num_attention_heads"] = 1e9; }), HasSubstr("heads"));
  EXPECT_THAT(error_with([](Json& j) { j["num_hidden_layers"] = 3; }),
              HasSubstr("have no tensor 'model.layers.2."));
  EXPECT_THAT(error_with([](Json& j) { j["num_hidden_layers"] = 1; }),
              HasSubstr("unexpected tensor 'model.layers.1.input_layernorm.weight' for a model of 1 layers"));
  EXPECT_THAT(error_with([](Json& j) { j["num_hidden_layers"] = -1; }), HasSubstr("layers"));
  EXPECT_THAT(error_with([](Json& j) { j["num_hidden_layers"] = 1e300; }), HasSubstr("must be an integer"));
  EXPECT_THAT(error_with([](Json& j) { j["vocab_size"] = 16777216; }), HasSubstr("embed_tokens"));
  EXPECT_THAT(error_with([](Json& j) { j["hidden_size"] = 15; }), HasSubstr("embed_tokens"));
  EXPECT_THAT(error_with([](Json& j) { j["hidden_size"] = "wide"; }),
              HasSubstr("hidden_size must be an integer, got \"wide\""));
  EXPECT_THAT(error_with([](Json& j) { j.erase("vocab_size"); }), HasSubstr("has no vocab_size"));
  EXPECT_THAT(error_with([](Json& j) { j["head_dim"] = 3; }), HasSubstr("even head width"));
  EXPECT_THAT(error_with([](Json& j) {
                j["rms_norm_eps"] = nullptr;
                j["tie_word_embeddings"] = 1;
              }),
              HasSubstr("must be true or false"));
}

TEST_F(DamagedFolder, ArchitecturesThatAreNotRead) {
  using Json = nlohmann::json;
  EXPECT_THAT(error_with([](Json& j) { j["architectures"] = {"GPT2LMHeadModel"}; }),
              HasSubstr("unsupported architecture GPT2LMHeadModel"));
  EXPECT_THAT(error_with([](Json& j) {
                j.erase("architectures");
                j["model_type"] = "qwen2";
              }),
              HasSubstr("unsupported architecture qwen2"));
  EXPECT_THAT(error_with([](Json& j) { j["attention_bias"] = true; }),
              HasSubstr("attention biases are not supported"));
  EXPECT_THAT(error_with([](Json& j) { j["mlp_bias"] = true; }),
              HasSubstr("feed-forward biases are not supported"));
  EXPECT_THAT(error_with([](Json& j) { j["hidden_act"] = "gelu"; }), HasSubstr("hidden_act is \"gelu\""));
  EXPECT_THAT(error_with([](Json& j) {
                j["quantization_config"] = {{"bits", 4}};
              }),
              HasSubstr("quantized weights"));
  EXPECT_THAT(error_with([](Json& j) {
                j["rope_parameters"] = {{"rope_type", "dynamic"}, {"factor", 2}};
              }),
              HasSubstr("unsupported rotary scaling \"dynamic\""));
  EXPECT_THAT(error_with([](Json& j) {
                j["rope_parameters"] = {{"rope_type", "linear"}};
              }),
              HasSubstr("has no rope_parameters.factor"));
  EXPECT_THAT(error_with([](Json& j) { j["rope_scaling"] = "linear"; }),
              HasSubstr("rope_scaling must be an object"));
  EXPECT_THAT(error_with([](Json& j) {
                j["layer_types"] = {"full_attention", "sliding_attention"};
              }),
              HasSubstr("layer_types has full_attention and sliding_attention; only one attention type"));
  EXPECT_THAT(error_with([](Json& j) {
                j["layer_types"] = {"sliding_attention", "sliding_attention"};
              }),
              HasSubstr("layer_types are sliding_attention, which this architecture does not have"));
  EXPECT_THAT(error_with([](Json& j) { j["model_type"] = "mistral"; }),
              HasSubstr("model_type \"mistral\" contradicts the architecture LlamaForCausalLM, which is of "
                        "model_type \"llama\": correct one of them"));
  EXPECT_THAT(error_with([](Json& j) {
                j["modewise"] = {{"attention", {{"form", "pooled"}}}};
              }),
              HasSubstr("is not causal"));
}

TEST_F(DamagedFolder, ConfigThatIsNone) {
  for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
           {"", "not JSON"},
           {"[]", "the config must be an object"},
           {"{\"a\": 1", "not JSON"},
           {std::string(100000, '['), "nested deeper"},
           {"{\"a\": \"" + std::string(1 << 20, 'x') + "\"}", "exceed the limit of 1048576"}}) {
    write_file_atomically(folder() / "config.json", text);
    EXPECT_THAT(error(), HasSubstr(words));
  }
  fs::remove(folder() / "config.json");
  EXPECT_THAT(error(ErrorKind::no_input), HasSubstr("neither config.json nor model/config.json"));
}

TEST_F(DamagedFolder, WeightsThatDoNotFit) {
  rewrite([](auto& tensors) {
    std::erase_if(tensors, [](const auto& t) { return t.name == "model.norm.weight"; });
  });
  EXPECT_THAT(error(), HasSubstr("have no tensor 'model.norm.weight' of shape [16]"));
  rewrite([](auto& tensors) {
    tensors.push_back({"model.norm.weight", "I32", {16}, tensors[0].bytes.first(64)});
  });
  EXPECT_THAT(error(), HasSubstr("'model.norm.weight' has dtype I32"));
  rewrite([](auto& tensors) {
    for (auto& t : tensors)
      if (t.name == "model.norm.weight") t.dtype = "F32";
    tensors.push_back({"model.layers.0.self_attn.q_proj.bias", "F32", {16}, tensors[0].bytes.first(64)});
  });
  EXPECT_THAT(error(),
              HasSubstr("unexpected tensor 'model.layers.0.self_attn.q_proj.bias' for a model of 2 layers"));
  rewrite([](auto& tensors) {
    for (auto& t : tensors)
      if (t.name.ends_with("bias"))
        t.name = "model.layers.0.self_attn.rotary_emb.inv_freq";  // old files have it
  });
  EXPECT_EQ(load_language_model(folder()).model->config().width, 16);
  fs::resize_file(folder() / "model.safetensors", 1000);
  error();
  fs::remove(folder() / "model.safetensors");
  EXPECT_THAT(error(ErrorKind::no_input), HasSubstr("holds neither model.safetensors"));
}

TEST(LanguageFiles, ConfigFlipsAreClean) {
  const std::string valid = format_language_json(grouped_config("summary"), "float32");
  std::string text = valid;
  for (size_t at = 0; at < valid.size(); ++at) {
    for (const int flip : {1, 2, 16, 32, 255}) {
      text[at] = static_cast<char>(valid[at] ^ flip);
      try {
        parse_language_json(text, "file");
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::data) << error.what();
      }
    }
    text[at] = valid[at];
    if (at + 1 == valid.size()) continue;  // the line's end
    EXPECT_THAT(error_of(ErrorKind::data, [&] { parse_language_json(valid.substr(0, at), "file"); }),
                testing::StartsWith("file: not JSON: parse error at line "));
  }
}

TEST(LanguageFiles, Stories260KHasTheLogitsOfItsFormula) {
  const std::string path = language_data("stories260K.bin");
  if (path.empty()) GTEST_SKIP() << "no stories260K.bin in MODEWISE_DATA";
  const auto vectors = language_vectors("stories260K.json");
  const LoadedLanguageModel loaded = load_language_model(path);
  EXPECT_EQ(loaded.model->config().parameters(), 260032);
  ASSERT_TRUE(loaded.tokenizer);
  std::vector<int64_t> ids = {1};
  for (const int64_t id : vectors["ids"]) ids.push_back(id);
  const at::Tensor logits = loaded.model->forward(token_tensor(ids));
  for (const auto& [place, row] : vectors["logits"].items())
    EXPECT_LE(largest_difference(logits[0][std::stoll(place)],
                                 at::tensor(row.get<std::vector<double>>(), at::kDouble)),
              1e-4);
  const ScratchFolder scratch;
  save_language_model(scratch / "m", *loaded.model, {.tokenizer = loaded.tokenizer});
  const LoadedLanguageModel back = load_language_model(scratch / "m");
  expect_same_model(*loaded.model, *back.model);
  ASSERT_TRUE(back.tokenizer);
  EXPECT_EQ(back.tokenizer->hash(), loaded.tokenizer->hash());
  save_llama2c(scratch / "s.bin", *back.model);
  expect_same_model(*loaded.model, *load_language_model(scratch / "s.bin").model);
}

}  // namespace
}  // namespace modewise::models
