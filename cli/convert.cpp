#include <fmt/format.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/options.h"
#include "modewise/core/error.h"
#include "modewise/core/output_file.h"
#include "modewise/report/table.h"

namespace modewise::cli {
namespace {

namespace fs = std::filesystem;

struct ConvertOptions {
  ModelOptions model;
  std::string out, dtype = "float32";
  double shard_gigabytes = 5;
  int64_t version = 0;
  bool force = false;
};

void convert(const Program& program, const ConvertOptions& options) {
  const std::string ending = fs::path(options.out).extension().string();
  const bool checkpoint = ending == ".bin";
  require(ending != ".gguf" && ending != ".safetensors", ErrorKind::usage,
          "{}: models are written as Hugging Face folders or as llama2.c's .bin, not as {} files",
          options.out, ending);
  if (checkpoint) prepare_output(options.out, options.force);
  const bool replaced = !checkpoint && models::holds_language_model(options.out);
  require(!replaced || options.force, ErrorKind::cannot_create,
          "{} already contains a model: choose another folder, or replace it with --overwrite", options.out);
  require(!checkpoint || options.dtype == "float32", ErrorKind::usage,
          "llama2.c's checkpoints are float32, not {}", options.dtype);
  const models::LoadedLanguageModel loaded = options.model.load();
  if (replaced) {
    require(loaded.folder.empty() || !fs::equivalent(loaded.folder, options.out), ErrorKind::usage,
            "{} is the model that is read: convert it to another folder", options.out);
    models::remove_language_model(options.out);
  }
  if (checkpoint)
    models::save_llama2c(options.out, *loaded.model, static_cast<int>(options.version));
  else
    models::save_language_model(options.out, *loaded.model,
                                {.dtype = options.dtype == "bf16" ? "bfloat16" : options.dtype,
                                 .shard_bytes = static_cast<uint64_t>(options.shard_gigabytes * 1e9),
                                 .tokenizer = loaded.tokenizer,
                                 .special = loaded.special,
                                 .keep_from = loaded.folder});
  const models::LanguageModelConfig& config = loaded.model->config();
  const bool tokenizer = loaded.tokenizer && !checkpoint;
  program.print(tasks::Result({{"out", options.out},
                               {"layout", checkpoint ? "llama2.c" : "hugging face"},
                               {"attention", config.attention.type},
                               {"parameters", config.parameters()},
                               {"tokenizer", tokenizer}},
                              fmt::format("{}: {} parameters, {} attention{}", options.out,
                                          report::Cell::count(config.parameters()).text(),
                                          config.attention.type, tokenizer ? ", with its tokenizer" : "")));
}

}  // namespace

void add_convert(Program& program) {
  const auto [command, options] = program.add_command<ConvertOptions>(
      program.app(), "convert",
      "Converts a language model to a Hugging Face folder or a llama2.c checkpoint.",
      "modewise convert stories260K.bin stories260K", convert);
  options.model.add_to(*command);
  command->add_option("out,--out", options.out, "folder, or file.bin for llama2.c")->required();
  command->add_option("--dtype", options.dtype, "weights of a folder: float32 or bf16 (default float32)")
      ->check(CLI::IsMember({"float32", "bf16"}));
  add_positive(*command, "--shard-gigabytes", options.shard_gigabytes, "maximum size of a file's tensors");
  command->add_option("--llama2c-version", options.version, "version of file.bin: 0 (legacy) or 1 (ak42)")
      ->check(CLI::IsMember({0, 1}));
  command->add_flag("--overwrite", options.force, "overwrite the file, or the model in the folder");
}

}  // namespace modewise::cli
