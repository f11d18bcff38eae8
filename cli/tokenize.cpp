#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "cli/commands.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/output_file.h"
#include "modewise/core/standard_streams.h"
#include "modewise/data/document_text.h"
#include "modewise/data/token_mix.h"
#include "modewise/data/token_set.h"
#include "modewise/io/utf8.h"
#include "modewise/report/table.h"
#include "modewise/text/load_tokenizer.h"

namespace modewise::cli {
namespace {

using Json = nlohmann::ordered_json;
using text::Tokenizer;

struct TokenizeOptions {
  std::vector<std::string> paths = {"-"};
  data::DocumentConfig text;
  data::MixOptions mix;
  std::string tokenizer = "bytes", out;
  bool pieces = false, count = false, decode = false, force = false;

  bool mixes() const { return paths.size() > 1 || !mix.shares.empty() || mix.minimum_words > 0; }
};

/// Parses decimal ids separated by non-digits.
std::vector<Tokenizer::Id> parse_ids(std::string_view text, const std::string& file) {
  std::vector<Tokenizer::Id> ids;
  for (size_t at = 0; at < text.size();) {
    if (std::string_view(" \t\r\n,;[]").find(text[at]) != std::string_view::npos) {
      ++at;
      continue;
    }
    Tokenizer::Id id = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), id);
    if (error != std::errc()) {
      fail(ErrorKind::data, "{}: expected a token id at byte {}, got {}", file, at,
           io::quote_for_message(text.substr(at, 20)));
    }
    ids.push_back(id);
    at = static_cast<size_t>(end - text.data());
  }
  return ids;
}

std::string piece_text(const Tokenizer& tokenizer, Tokenizer::Id id) {
  std::string text;
  bool start = false;
  tokenizer.append(id, start, text);
  return text;
}

void decode(const Program& program, const TokenizeOptions& options, const Tokenizer& tokenizer) {
  const std::string& path = options.paths.front();
  const std::vector<Tokenizer::Id> ids = parse_ids(read_text(path), path);
  const std::string text = tokenizer.decode(ids);
  // JSON replaces invalid UTF-8 by U+FFFD; otherwise the bytes are written without a line end.
  if (program.json())
    program.print(Json{{"tokenizer", tokenizer.name()}, {"text", text}});
  else
    write_text(text);
}

Json json_of(const TokenizeOptions& options, const Tokenizer& tokenizer, size_t bytes,
             const std::vector<Tokenizer::Id>& ids) {
  Json json = {{"tokenizer", tokenizer.name()}, {"hash", tokenizer.hash()}, {"vocabulary", tokenizer.size()}};
  const auto mark = [](std::optional<Tokenizer::Id> id) { return id ? Json(*id) : Json(nullptr); };
  json["begin"] = mark(tokenizer.begin_id());
  json["end"] = mark(tokenizer.end_id());
  const std::vector<Tokenizer::Id> before = tokenizer.tokens_before_text();
  json["begin_before_text"] = before.size() > 1 ? Json(before) : mark(tokenizer.begin_before_text());
  json["bytes"] = bytes;
  json["count"] = ids.size();
  if (!options.count) json["ids"] = ids;
  if (options.pieces) {
    Json pieces = Json::array();
    for (const Tokenizer::Id id : ids) pieces.push_back(piece_text(tokenizer, id));
    json["pieces"] = pieces;
  }
  return json;
}

/// The text of a file; of standard input the bytes after a byte order mark.
std::string text_of(const TokenizeOptions& options) {
  const std::string& path = options.paths.front();
  const std::string bytes = read_text(path), ending = std::filesystem::path(path).extension().string();
  if (path == "-") return bytes;
  require(ending != ".jsonl" && ending != ".ndjson", ErrorKind::usage,
          "{}: the texts of JSON lines are tokenized into a file: --out FILE.safetensors", path);
  std::vector<std::string> notes;  // on how training reads the file, which is shown as it is
  const data::DocumentText text(std::as_bytes(std::span(bytes)), path, options.text.allow_binary, notes);
  return std::string(text.text());
}

void show_tokens(const Program& program, const TokenizeOptions& options) {
  const auto tokenizer = text::load_tokenizer(options.tokenizer);
  if (options.decode) {
    decode(program, options, *tokenizer);
    return;
  }
  const std::string text = text_of(options);
  const std::vector<Tokenizer::Id> ids = tokenizer->encode(text);
  std::string shown = options.count    ? fmt::format("{}\n", ids.size())
                      : options.pieces ? ""
                                       : fmt::format("{}\n", fmt::join(ids, " "));
  if (options.pieces)
    for (const Tokenizer::Id id : ids)
      shown += fmt::format("{}\t{}\n", id, io::quote_for_message(piece_text(*tokenizer, id), 4096));
  program.print(tasks::Result(json_of(options, *tokenizer, text.size(), ids), std::move(shown)));
}

/// A row for each source of a mix.
report::Table mix_table(const TokenizeOptions& options, const data::TokenMix& mix) {
  report::Table table({{"text"}, {"documents"}, {"too short"}, {"tokens"}, {"share %"}});
  for (size_t i = 0; i < mix.parts.size(); ++i) {
    const data::MixPart& part = mix.parts[i];
    const double share = static_cast<double>(part.tokens) / static_cast<double>(mix.file.tokens());
    table.add_row({options.paths[i], part.documents, part.too_short, part.tokens, {100 * share, 1}});
  }
  return table;
}

void write_tokens(const Program& program, const TokenizeOptions& options) {
  namespace fs = std::filesystem;
  const auto& paths = options.paths;
  require(std::find(paths.begin(), paths.end(), "-") == paths.end(), ErrorKind::usage,
          "--out needs the text's file or folder");
  require(fs::path(options.out).extension() == ".safetensors", ErrorKind::usage,
          "--out must end in .safetensors, got '{}'", options.out);
  prepare_output(options.out, options.force);
  const auto tokenizer = text::load_tokenizer(options.tokenizer);
  const std::string tokenizer_path =
      options.tokenizer == "bytes" ? "bytes" : absolute_path(options.tokenizer);
  std::vector<std::string> notes;
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::shared_ptr<const data::TokenFile>> sources;
  for (const std::string& path : paths)
    sources.push_back(
        data::load_tokens(options.text, absolute_path(path), *tokenizer, tokenizer_path, notes));
  for (const std::string& note : notes) spdlog::info("{}", note);
  std::optional<data::TokenMix> mix;
  if (options.mixes())
    mix = mix_tokens(sources, options.mix, sources.front()->tokenizer(), sources.front()->source());
  const data::TokenFile& file = mix ? mix->file : *sources.front();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  file.write(options.out);
  int64_t bytes = 0;
  for (const data::TokenSpan& document : file.documents()) bytes += document.bytes;
  Json json = {{"file", options.out},
               {"tokenizer", tokenizer->name()},
               {"tokenizer_hash", tokenizer->hash()},
               {"documents", file.documents().size()},
               {"tokens", file.tokens()},
               {"bytes", bytes},
               {"seconds", seconds}};
  std::string shown = fmt::format(
      "{}: {} documents, {} bytes, {} tokens of {} ({:.2f} bytes per token, {:.1f} MB/s)", options.out,
      file.documents().size(), report::Cell::count(bytes).text(), report::Cell::count(file.tokens()).text(),
      tokenizer->name(), static_cast<double>(bytes) / static_cast<double>(file.tokens()),
      static_cast<double>(bytes) / seconds / 1e6);
  if (mix) {
    for (size_t i = 0; i < paths.size(); ++i)
      json["texts"].push_back({{"text", paths[i]},
                               {"documents", mix->parts[i].documents},
                               {"too_short", mix->parts[i].too_short},
                               {"tokens", mix->parts[i].tokens}});
    shown += "\n" + mix_table(options, *mix).to_text();
  }
  program.print(tasks::Result(std::move(json), std::move(shown)));
}

void tokenize(const Program& program, const TokenizeOptions& options) {
  require(options.decode + options.count + options.pieces + !options.out.empty() < 2, ErrorKind::usage,
          "--pieces, --count, --decode and --out are exclusive: give one");
  const data::DocumentConfig usual;
  const bool documents = options.text.field != usual.field || options.text.separator != usual.separator;
  require(!options.out.empty() || (!options.mixes() && !documents && !options.force), ErrorKind::usage,
          "several texts, --shares, --minimum-words, --text-field, --separator and --overwrite need --out "
          "FILE");
  if (options.out.empty())
    show_tokens(program, options);
  else
    write_tokens(program, options);
}

}  // namespace

void add_tokenize(Program& program) {
  const auto [command, options] = program.add_command<TokenizeOptions>(
      program.app(), "tokenize",
      "Tokenizes text to stdout, or with --out to a token file that training maps instead of the text; or "
      "decodes token ids.",
      "modewise tokenize books/ --tokenizer tokenizer.model --out books.safetensors", tokenize);
  command->add_option(
      "text", options.paths,
      "text file, or - for standard input; with --out also a folder, .jsonl or token file, and "
      "several of them; with --decode token ids");
  command->add_option(
      "--tokenizer", options.tokenizer,
      "tokenizer: bytes, tokenizer.bin, sentencepiece .model, tokenizer.json, or a folder with one");
  command->add_option("--out", options.out, "file.safetensors");
  command
      ->add_option(
          "--shares", options.mix.shares,
          "with --out: a share of the tokens for each text, such as 20,20,60; the file is as large as "
          "that allows without repeating a document (default: all documents)")
      ->delimiter(',');
  command
      ->add_option("--minimum-words", options.mix.minimum_words,
                   "with --out: leave out documents with fewer words")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--seed", options.mix.seed, "seed of the documents that --shares draws (default 1)")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--pieces", options.pieces, "print one line per token: id and text");
  command->add_flag("--count", options.count, "print the number of tokens");
  command->add_flag("--decode", options.decode, "decode token ids to text");
  command->add_option("--text-field,--field", options.text.field,
                      "text field of the objects of a .jsonl file");
  command->add_flag("--allow-binary", options.text.allow_binary,
                    "accept files other than texts and use their bytes");
  command
      ->add_option("--separator", options.text.separator,
                   "separator between documents: auto, endoftext, blank, none (default auto)")
      ->check(CLI::IsMember({"auto", "endoftext", "blank", "none"}));
  command->add_flag("--overwrite", options.force, "overwrite the file");
}

}  // namespace modewise::cli
