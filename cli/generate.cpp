#include <spdlog/spdlog.h>

#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/options.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/memory.h"
#include "modewise/core/stop_signal.h"
#include "modewise/models/language_modeling/text_generation.h"

namespace modewise::cli {
namespace {

struct GenerateOptions {
  ModelOptions model;
  std::string prompt, prompt_file;
  models::GenerationConfig generation;
  bool echo = false, ignore_eos = false;
};

std::string prompt_of(const GenerateOptions& options) {
  if (options.prompt_file.empty()) return options.prompt;
  require(options.prompt.empty(), ErrorKind::usage, "--prompt and --prompt-file are two prompts: give one");
  if (options.prompt_file != "-") return read_file(options.prompt_file);
  return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
}

double rate(size_t tokens, double seconds) {
  return seconds > 0 ? static_cast<double>(tokens) / seconds : 0;
}

nlohmann::ordered_json json_of(const models::Generation& result, const models::LanguageModelConfig& config) {
  return {{"text", result.text},
          {"ids", result.ids},
          {"stopped_by", result.stopped_by},
          {"prompt_tokens", result.prompt.size()},
          {"tokens", result.ids.size()},
          {"prompt_seconds", result.prompt_seconds},
          {"seconds", result.seconds},
          {"tokens_per_second", rate(result.ids.size(), result.seconds)},
          {"cache_bytes", result.cache_bytes},
          {"attention", config.attention.type},
          {"fold", config.attention.fold},
          {"context", config.context},
          {"parameters", config.parameters()}};
}

void generate(const Program& program, const GenerateOptions& options) {
  install_stop_handlers();
  options.generation.sampling.validate();
  const std::string prompt = prompt_of(options);
  const models::LoadedLanguageModel loaded = options.model.load();
  require(loaded.tokenizer != nullptr, ErrorKind::usage,
          "no tokenizer lies with {}: --tokenizer names one (\"bytes\" for a model of bytes)",
          options.model.model);
  const bool stream = !program.json();
  if (stream && options.echo) write_text(prompt);
  models::GenerationConfig generation = options.generation;
  generation.stop_at_eos = !options.ignore_eos;
  const models::Generation result =
      models::generate_text(*loaded.model, loaded.tokenizer, prompt, generation, [&](std::string_view text) {
        if (stream) write_text(text);
        return stop_signal() == 0;
      });
  const models::LanguageModelConfig& config = loaded.model->config();
  if (stream)
    write_stdout("\n");
  else
    program.print(json_of(result, config));
  spdlog::info(
      "{} tokens of prompt in {:.2f} s, {} generated in {:.2f} s ({:.0f} a second); caches of {} ({})",
      result.prompt.size(), result.prompt_seconds, result.ids.size(), result.seconds,
      rate(result.ids.size(), result.seconds), memory_text(static_cast<double>(result.cache_bytes)),
      config.attention.type);
  const auto length = static_cast<int64_t>(result.prompt.size() + result.ids.size());
  if (length > config.context)
    spdlog::info("the text is longer ({} tokens) than those that the model was trained on ({})", length,
                 config.context);
  throw_if_stopped();
}

}  // namespace

void add_generate(Program& program) {
  const auto [command, options] = program.add_command<GenerateOptions>(
      program.app(), "generate", "Continues a text by a language model, token by token, on stdout.",
      "modewise generate stories260K.bin --prompt \"One day\" --tokens 200 --temperature 0", generate);
  options.model.add_to(*command);
  models::SamplingConfig& sampling = options.generation.sampling;
  command->add_option("--prompt", options.prompt, "text to continue; any bytes")->type_name(kAnyBytes);
  command->add_option("--prompt-file", options.prompt_file, "file with it, or - for standard input");
  command->add_option("--tokens", options.generation.tokens, "tokens to generate at most")
      ->check(non_negative_number())
      ->capture_default_str();
  command->add_option("--temperature", sampling.temperature, "0: the likeliest token; 1: as the model says")
      ->capture_default_str();
  command->add_option("--top-k", sampling.top_k, "choose among the k likeliest tokens; 0: all")
      ->capture_default_str();
  command->add_option("--top-p", sampling.top_p, "choose among the likeliest that make up this share")
      ->capture_default_str();
  command->add_option("--seed", sampling.seed, "of the choices")->capture_default_str();
  command->add_option("--stop", options.generation.stop, "end before this text; may be given several times")
      ->type_name(kAnyBytes);
  command->add_flag("--ignore-eos", options.ignore_eos,
                    "go on where the model marks the end of a text, or the beginning of the next");
  command->add_flag("--echo", options.echo, "the prompt first");
}

}  // namespace modewise::cli
