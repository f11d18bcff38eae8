#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/options.h"
#include "modewise/core/error.h"
#include "modewise/core/memory.h"
#include "modewise/core/standard_streams.h"
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
  require(options.prompt.empty(), ErrorKind::usage, "--prompt and --prompt-file are exclusive: give one");
  return read_text(options.prompt_file);
}

/// The options that sample as transformers does by the model's generation_config.json, where `used` differs.
std::vector<std::string> unused_sampling(const models::SamplingConfig& file,
                                         const models::SamplingConfig& used) {
  std::vector<std::string> out;
  const auto add = [&](const char* option, auto wanted, auto has) {
    if (wanted != has) out.push_back(fmt::format("{} {}", option, wanted));
  };
  add("--temperature", file.temperature, used.temperature);
  if (file.temperature > 0) {
    add("--top-k", file.top_k, used.top_k);
    add("--top-p", file.top_p, used.top_p);
    add("--min-p", file.min_p, used.min_p);
  }
  add("--repetition-penalty", file.repetition_penalty, used.repetition_penalty);
  return out;
}

void name_unused_sampling(const models::FileSampling& file, const models::SamplingConfig& used) {
  const auto unused = file.sampling ? unused_sampling(*file.sampling, used) : std::vector<std::string>();
  if (!unused.empty())
    spdlog::info("the sampling options of the model's generation_config.json are not used: {}",
                 fmt::join(unused, " "));
  if (!file.unsupported.empty())
    spdlog::info("the model's generation_config.json has options that modewise does not support: {}",
                 fmt::join(file.unsupported, ", "));
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
  require(!options.echo || !program.json(), ErrorKind::usage,
          "--echo has no effect with --json, whose \"text\" is the continuation alone");
  const std::string prompt = prompt_of(options);
  const models::LoadedLanguageModel loaded = options.model.load();
  require(loaded.tokenizer != nullptr, ErrorKind::usage,
          "{} has no tokenizer: set --tokenizer (\"bytes\" for a byte-level model)", options.model.model);
  name_unused_sampling(loaded.sampling, options.generation.sampling);
  const bool stream = !program.json();
  if (stream && options.echo) write_text(prompt);
  models::GenerationConfig generation = options.generation;
  generation.stop_at_eos = !options.ignore_eos;
  generation.end_ids = loaded.special.end;
  const models::Generation result =
      models::generate_text(*loaded.model, loaded.tokenizer, prompt, generation, [&](std::string_view text) {
        if (stream) write_text(text);
        return stop_signal() == 0;
      });
  const models::LanguageModelConfig& config = loaded.model->config();
  for (const std::string& note : result.notes) spdlog::warn("{}", note);
  if (stream)
    write_stdout("\n");
  else
    program.print(json_of(result, config));
  spdlog::info(
      "{} tokens of prompt in {:.2f} s, {} generated in {:.2f} s ({:.0f} per second); caches of {} ({})",
      result.prompt.size(), result.prompt_seconds, result.ids.size(), result.seconds,
      rate(result.ids.size(), result.seconds), memory_text(static_cast<double>(result.cache_bytes)),
      config.attention.type);
  const auto length = static_cast<int64_t>(result.prompt.size() + result.ids.size());
  if (length > config.context)
    spdlog::info("the text ({} tokens) is longer than the training length of the model ({})", length,
                 config.context);
  throw_if_stopped();
}

}  // namespace

void add_generate(Program& program) {
  const auto [command, options] = program.add_command<GenerateOptions>(
      program.app(), "generate", "Generates the continuation of a text with a language model, on stdout.",
      "modewise generate stories260K.bin --prompt \"One day\" --tokens 200 --temperature 0", generate);
  options.model.add_to(*command);
  command
      ->add_option(
          "--bos", options.model.bos,
          "begin token before the prompt: as the tokenizer's files say (auto), yes, no (default auto)")
      ->check(CLI::IsMember({"auto", "yes", "no"}));
  models::SamplingConfig& sampling = options.generation.sampling;
  command->add_option("--prompt", options.prompt, "text to continue; any bytes")->type_name(kAnyBytes);
  command->add_option("--prompt-file", options.prompt_file, "file with the prompt, or - for standard input");
  command->add_option("--tokens", options.generation.tokens, "maximum number of new tokens")
      ->check(non_negative_number())
      ->capture_default_str();
  command->add_option("--temperature", sampling.temperature, "sampling temperature; 0: greedy decoding")
      ->capture_default_str();
  command->add_option("--top-k", sampling.top_k, "sample from the k most probable tokens; 0: all")
      ->capture_default_str();
  command
      ->add_option("--top-p", sampling.top_p,
                   "nucleus sampling: smallest set of tokens with this probability")
      ->capture_default_str();
  command
      ->add_option("--min-p", sampling.min_p,
                   "sample from the tokens with at least this share of the largest probability")
      ->capture_default_str();
  command
      ->add_option("--repetition-penalty", sampling.repetition_penalty,
                   "lower the logits of tokens of the text so far: above 1 against repetitions; 1: none")
      ->capture_default_str();
  command->add_option("--seed", sampling.seed, "seed of the sampling")->capture_default_str();
  command->add_option("--stop", options.generation.stop, "stop before this text; repeatable")
      ->type_name(kAnyBytes);
  command->add_flag("--ignore-eos", options.ignore_eos, "continue after end tokens");
  command->add_flag("--echo", options.echo, "print the prompt first");
}

}  // namespace modewise::cli
