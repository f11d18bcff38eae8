#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/config_options.h"
#include "cli/task_verbs.h"
#include "modewise/core/error.h"
#include "modewise/data/token_set.h"
#include "modewise/report/table.h"
#include "modewise/text/load_tokenizer.h"

namespace modewise::cli {
namespace {

struct TokenizeOptions {
  data::TextConfig text;
  std::string tokenizer = "bytes", out;
  bool force = false;
};

int tokenize_text(const Program& program, const TokenizeOptions& options) {
  namespace fs = std::filesystem;
  require(fs::path(options.out).extension() == ".safetensors", ErrorKind::usage,
          "--out must end in .safetensors, got '{}'", options.out);
  require(options.force || !fs::exists(options.out), ErrorKind::cannot_create,
          "{} exists already: --force overwrites it", options.out);
  const auto tokenizer = text::load_tokenizer(options.tokenizer);
  const std::string source = options.tokenizer == "bytes" ? "bytes" : absolute_path(options.tokenizer);
  std::vector<std::string> notes;
  const auto begin = std::chrono::steady_clock::now();
  const data::TokenFile file =
      data::tokenize(options.text, absolute_path(options.text.path), *tokenizer, source, notes);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  file.write(options.out);
  for (const std::string& note : notes) spdlog::info("{}", note);
  int64_t bytes = 0;
  for (const data::TokenSpan& document : file.documents()) bytes += document.bytes;
  if (program.json()) {
    program.print(nlohmann::ordered_json{{"file", options.out},
                                         {"tokenizer", tokenizer->name()},
                                         {"tokenizer_hash", tokenizer->hash()},
                                         {"documents", file.documents().size()},
                                         {"tokens", file.tokens()},
                                         {"bytes", bytes},
                                         {"seconds", seconds}});
    return 0;
  }
  program.print(fmt::format(
      "{}: {} documents, {} bytes, {} tokens of {} ({:.2f} bytes a token, {:.1f} MB a second)", options.out,
      file.documents().size(), report::Cell::count(bytes).text(), report::Cell::count(file.tokens()).text(),
      tokenizer->name(), static_cast<double>(bytes) / static_cast<double>(file.tokens()),
      static_cast<double>(bytes) / seconds / 1e6));
  return 0;
}

}  // namespace

void add_tokenize(Program& program) {
  const auto options = std::make_shared<TokenizeOptions>();
  CLI::App* command =
      program.add_command(program.app(), "tokenize",
                          "Text as a file of tokens, which trainings map instead of reading the text again.",
                          "modewise tokenize books/ --tokenizer tokenizer.model --out books.safetensors",
                          [&program, options] { return tokenize_text(program, *options); });
  command->add_option("text", options->text.path, "text file, folder of them, or .jsonl")->required();
  command->add_option("--tokenizer", options->tokenizer,
                      "bytes, tokenizer.bin, sentencepiece .model, tokenizer.json, or a folder with one");
  command->add_option("--out", options->out, "file.safetensors")->required();
  command->add_option("--field", options->text.field,
                      "of the objects of a .jsonl file: the one with the text");
  command
      ->add_option("--separator", options->text.separator, "between documents: auto, endoftext, blank, none")
      ->check(CLI::IsMember({"auto", "endoftext", "blank", "none"}));
  command->add_flag("--force", options->force, "overwrite the file");
}

}  // namespace modewise::cli
