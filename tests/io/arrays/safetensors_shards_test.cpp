#include "modewise/io/arrays/safetensors_shards.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "modewise/core/file.h"
#include "tests/io/damage.h"

namespace modewise::io {
namespace {

namespace fs = std::filesystem;

class ShardFolder : public testing::Test {
 protected:
  ShardFolder() {
    std::string pattern = (fs::temp_directory_path() / "modewise_shards_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~ShardFolder() override { fs::remove_all(folder_); }

  static TensorView view(const std::string& name, const std::vector<float>& values) {
    return {name, "F32", {static_cast<int64_t>(values.size())}, std::as_bytes(std::span(values))};
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  void write_shard(const std::string& file, const std::vector<TensorView>& tensors) const {
    write_safetensors(folder_ / file, tensors);
  }
  std::string error(ErrorKind kind) const {
    try {
      const SafetensorsFolder opened(folder_);
    } catch (const Error& error) {
      EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(kind)) << error.what();
      return error.what();
    }
    return "";
  }

  fs::path folder_;
  std::vector<float> one_ = {1, 2, 3}, two_ = {4, 5}, three_ = {6};
};

TEST_F(ShardFolder, OneFileWhenItFits) {
  const std::vector<TensorView> tensors = {view("a", one_), view("b", two_)};
  EXPECT_FALSE(SafetensorsFolder::is_one(folder_));
  write_safetensors_folder(folder_, sources_of(tensors), {{"format", "pt"}}, 1000);
  EXPECT_TRUE(SafetensorsFolder::is_one(folder_));
  EXPECT_TRUE(fs::exists(folder_ / "model.safetensors"));
  EXPECT_FALSE(fs::exists(folder_ / "model.safetensors.index.json"));
  const SafetensorsFolder opened(folder_);
  EXPECT_EQ(opened.size(), 2u);
  EXPECT_EQ(opened.find("b")->shape, std::vector<int64_t>{2});
  EXPECT_FALSE(opened.find("c"));
}

TEST_F(ShardFolder, ShardsKeepTheOrderAndTheSize) {
  const std::vector<TensorView> tensors = {view("a", one_), view("b", two_), view("c", three_)};
  write_safetensors_folder(folder_, sources_of(tensors), {{"format", "pt"}}, 13);
  const auto index = nlohmann::json::parse(read_file(folder_ / "model.safetensors.index.json"));
  EXPECT_EQ(index["metadata"]["total_size"], 24);
  EXPECT_EQ(index["weight_map"]["a"], "model-00001-of-00002.safetensors");
  EXPECT_EQ(index["weight_map"]["b"], "model-00002-of-00002.safetensors");
  EXPECT_EQ(index["weight_map"]["c"], "model-00002-of-00002.safetensors");
  const SafetensorsFolder opened(folder_);
  EXPECT_EQ(opened.size(), 3u);
  for (const TensorView& tensor : tensors) {
    const auto found = opened.find(tensor.name);
    ASSERT_TRUE(found) << tensor.name;
    EXPECT_TRUE(
        std::equal(found->bytes.begin(), found->bytes.end(), tensor.bytes.begin(), tensor.bytes.end()));
  }
  // A tensor larger than the shard limit gets its own shard.
  fs::remove_all(folder_);
  fs::create_directory(folder_);
  write_safetensors_folder(folder_, sources_of(tensors), {}, 1);
  EXPECT_EQ(SafetensorsFolder(folder_).size(), 3u);
  EXPECT_TRUE(fs::exists(folder_ / "model-00003-of-00003.safetensors"));
}

TEST_F(ShardFolder, WhatDoesNotFitTogetherIsNamed) {
  EXPECT_THAT(error(ErrorKind::no_input), testing::HasSubstr("holds neither model.safetensors nor"));
  write("model.safetensors.index.json", R"({"weight_map": {"a": "x.safetensors", "b": "y.safetensors"}})");
  EXPECT_THAT(error(ErrorKind::no_input), testing::HasSubstr("names the shard x.safetensors"));
  const std::string long_name(300, 'x');  // longer than a file's name can be
  write("model.safetensors.index.json", R"({"weight_map": {"a": ")" + long_name + R"("}})");
  EXPECT_THAT(error(ErrorKind::no_input),
              testing::HasSubstr("names the shard " + long_name + ", which is not in"));
  write("model.safetensors.index.json", R"({"weight_map": {"a": "x.safetensors", "b": "y.safetensors"}})");
  write_shard("x.safetensors", {view("a", one_)});
  EXPECT_THAT(error(ErrorKind::no_input), testing::HasSubstr("names the shard y.safetensors"));
  write_shard("y.safetensors", {view("b", two_)});
  EXPECT_EQ(error(ErrorKind::data), "");
  write_shard("y.safetensors", {view("b", two_), view("c", three_)});
  EXPECT_THAT(error(ErrorKind::data), testing::HasSubstr("holds the tensor 'c', which is not in"));
  write_shard("y.safetensors", {view("a", one_), view("b", two_)});
  EXPECT_THAT(error(ErrorKind::data), testing::HasSubstr("maps it to x.safetensors"));
  write_shard("y.safetensors", {});
  EXPECT_THAT(error(ErrorKind::data),
              testing::HasSubstr("maps the tensor 'b' to y.safetensors, which does not hold it"));
}

TEST_F(ShardFolder, WeightsInAnotherFormatAreNamed) {
  for (const char* name : {"tokenizer.bin", "training_args.bin", "config.json"}) write(name, "x");
  EXPECT_THAT(error(ErrorKind::no_input), testing::EndsWith("model.safetensors.index.json"));
  for (const char* name : {"z.ckpt", "y.pth", "x.gguf", "pytorch_model.bin"}) {
    write(name, "x");
    EXPECT_THAT(error(ErrorKind::no_input),
                testing::HasSubstr(std::string("model.safetensors.index.json; ") + name +
                                   " is not read: weights must be safetensors"));
  }
  fs::remove_all(folder_);
  EXPECT_THAT(error(ErrorKind::no_input), testing::EndsWith("model.safetensors.index.json")) << "no folder";
}

TEST(ShardIndex, IsCheckedWordByWord) {
  const Parse parse = [](std::span<const std::byte> bytes) { parse_shard_index(to_text(bytes), "file"); };
  const std::string valid =
      R"({"metadata": {"total_size": 9, "x": [1, -1, 0.5, true, {"y": null}]}, "weight_map": {"a": "f", "é": "g"}})";
  expect_every_truncation_fails(parse, valid);
  expect_flips_are_clean(parse, valid);
  EXPECT_EQ(parse_shard_index(valid, "file").at("é"), "g");
  expect_refused(
      parse,
      {{"list", "[]", "file: the index must be a JSON object"},
       {"number", "7", "file: the index must be a JSON object"},
       {"no map", R"({"metadata": {}})", "file: the index has no weight_map"},
       {"map of map only", R"({"metadata": {"weight_map": {"a": "f"}}})",
        "file: the index has no weight_map"},
       {"empty map", R"({"weight_map": {}})", "file: the weight_map is empty"},
       {"map is a list", R"({"weight_map": []})", "file: weight_map must be an object"},
       {"map is null", R"({"weight_map": null})", "file: weight_map must be an object"},
       {"map is text", R"({"weight_map": "a"})", "file: weight_map must be an object"},
       {"two maps", R"({"weight_map": {"a": "f"}, "weight_map": {"b": "f"}})",
        "file: duplicate key weight_map"},
       {"twice", R"({"weight_map": {"a": "f", "a": "g"}})", "file: duplicate tensor 'a' in weight_map"},
       {"number as file", R"({"weight_map": {"a": 3}})",
        "file: weight_map must map the tensor 'a' to a file name"},
       {"object as file", R"({"weight_map": {"a": {}}})",
        "file: weight_map must map the tensor 'a' to a file name"},
       {"list as file", R"({"weight_map": {"a": ["f"]}})",
        "file: weight_map must map the tensor 'a' to a file name"},
       {"path", R"({"weight_map": {"a": "../f"}})",
        "file: weight_map maps the tensor 'a' to '../f', which is not a file name in the same folder"},
       {"root", R"({"weight_map": {"a": "/etc/passwd"}})",
        "file: weight_map maps the tensor 'a' to '/etc/passwd', which is not a file name in the same folder"},
       {"parent", R"({"weight_map": {"a": ".."}})",
        "file: weight_map maps the tensor 'a' to '..', which is not a file name in the same folder"},
       {"nothing", R"({"weight_map": {"a": ""}})",
        "file: weight_map maps the tensor 'a' to '', which is not a file name in the same folder"},
       {"zero byte", "{\"weight_map\": {\"a\": \"f\\u0000\"}}",
        "file: weight_map maps the tensor 'a' to 'f\\x00', which is not a file name in the same folder"},
       {"deep", std::string(100000, '['), "file: the index must be a JSON object"},
       {"deep inside", R"({"x":)" + std::string(100000, '['), "file: not JSON at byte 100006"}});
}

}  // namespace
}  // namespace modewise::io
