#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/io/utf8.h"
#include "modewise/text/load_tokenizer.h"

namespace modewise::cli {
namespace {

using Json = nlohmann::ordered_json;
using text::Tokenizer;

struct TokenizeOptions {
  std::string tokenizer, file = "-";
  bool pieces = false, count = false, decode = false;
};

std::string input_text(const std::string& file) {
  if (file != "-") return read_file(file);
  std::string text{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  require(!std::cin.bad(), ErrorKind::io, "standard input could not be read");
  return text;
}

/// Ids in decimal, with anything that is no digit between.
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
      fail(ErrorKind::data, "{}: a token's number was expected at byte {}, got {}", file, at,
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

int decode(const Program& program, const TokenizeOptions& options, const Tokenizer& tokenizer) {
  const std::vector<Tokenizer::Id> ids = parse_ids(input_text(options.file), options.file);
  const std::string text = tokenizer.decode(ids);
  if (program.json())
    program.print(
        Json{{"tokenizer", tokenizer.name()}, {"text", text}});  // what is no UTF-8 shows as U+FFFD there
  else                                                           // these bytes and no line end
    require(std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0,
            ErrorKind::io, "cannot write to stdout: {}", std::strerror(errno));
  return 0;
}

Json json_of(const TokenizeOptions& options, const Tokenizer& tokenizer, size_t bytes,
             const std::vector<Tokenizer::Id>& ids) {
  Json json = {{"tokenizer", tokenizer.name()}, {"hash", tokenizer.hash()}, {"vocabulary", tokenizer.size()}};
  const auto mark = [](std::optional<Tokenizer::Id> id) { return id ? Json(*id) : Json(nullptr); };
  json["begin"] = mark(tokenizer.begin_id());
  json["end"] = mark(tokenizer.end_id());
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

int tokenize(const Program& program, const TokenizeOptions& options) {
  require(options.decode + options.count + options.pieces < 2, ErrorKind::usage,
          "--pieces, --count and --decode are three outputs: give one of them");
  const auto tokenizer = text::load_tokenizer(options.tokenizer);
  if (options.decode) return decode(program, options, *tokenizer);
  const std::string text = input_text(options.file);
  const std::vector<Tokenizer::Id> ids = tokenizer->encode(text);
  if (program.json()) {
    program.print(json_of(options, *tokenizer, text.size(), ids));
  } else if (options.count) {
    program.print(fmt::format("{}\n", ids.size()));
  } else if (options.pieces) {
    std::string lines;
    for (const Tokenizer::Id id : ids)
      lines += fmt::format("{}\t{}\n", id, io::quote_for_message(piece_text(*tokenizer, id), 4096));
    program.print(lines);
  } else {
    program.print(fmt::format("{}\n", fmt::join(ids, " ")));
  }
  return 0;
}

}  // namespace

void add_tokenize(Program& program) {
  const auto options = std::make_shared<TokenizeOptions>();
  CLI::App* command =
      program.add_command(program.app(), "tokenize", "Text as the tokens of a language model, and back.",
                          "modewise tokenize --tokenizer tokenizer.json README.md --count",
                          [&program, options] { return tokenize(program, *options); });
  command
      ->add_option(
          "--tokenizer", options->tokenizer,
          "bytes, tokenizer.json, .model (sentencepiece), .bin (llama2.c), or a folder that holds one")
      ->required();
  command->add_option("file", options->file, "text, or with --decode token numbers; - is standard input");
  command->add_flag("--pieces", options->pieces, "a line a token: its number and its text");
  command->add_flag("--count", options->count, "how many tokens");
  command->add_flag("--decode", options->decode, "from numbers to text");
}

}  // namespace modewise::cli
