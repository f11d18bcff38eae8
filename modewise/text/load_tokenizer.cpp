#include "modewise/text/load_tokenizer.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <array>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/folder.h"
#include "modewise/core/hash.h"
#include "modewise/io/mapped_file.h"
#include "modewise/io/number_text.h"
#include "modewise/io/tokenizers/byte_alphabet.h"
#include "modewise/io/tokenizers/tokenizer_settings.h"
#include "modewise/io/tokenizers/word_piece_vocabulary.h"
#include "modewise/io/utf8.h"
#include "modewise/text/byte_pair_tokenizer.h"
#include "modewise/text/byte_tokenizer.h"
#include "modewise/text/metaspace_tokenizer.h"
#include "modewise/text/piece_tokenizer.h"
#include "modewise/text/word_piece_tokenizer.h"

namespace modewise::text {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBytesFile = "tokenizer.txt";  // contains the word "bytes"
constexpr std::string_view kBytes = "bytes";
// In search order.
constexpr std::array<const char*, 5> kNames = {"tokenizer.json", "tokenizer.model", "tokenizer.bin",
                                               "vocab.txt", kBytesFile};
constexpr const char* kConfigFile = "tokenizer_config.json";
constexpr const char* kAddedFile = "added_tokens.json";
constexpr const char* kTemplateFolder = "additional_chat_templates";
// Files beside a tokenizer that belong to it.
constexpr std::array<const char*, 5> kCompanions = {kConfigFile, "special_tokens_map.json", kAddedFile,
                                                    "chat_template.jinja", "chat_template.json"};

/// Logs a sentence once, because commands load a tokenizer several times.
void note(const std::string& sentence) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::lock_guard lock(mutex);
  if (said.insert(sentence).second) spdlog::info("{}", sentence);
}

std::string trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return std::string(text);
}

std::string_view content_of(const io::MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

/// The hash of a tokenizer whose file has `hash`, with `changes` by the files beside it.
std::string hash_with(std::string hash, std::span<const io::AddedToken> changes) {
  if (changes.empty()) return hash;
  for (const io::AddedToken& token : changes)
    hash += fmt::format("\n{} {}{}{}{} {}", token.id, token.special, token.left_strip, token.right_strip,
                        token.normalized, token.content);
  return content_hash(std::as_bytes(std::span(hash)));
}

/// Hash of a file and, for vocab.txt, of its tokenizer_config.json.
std::string hash_of(const fs::path& path) {
  const std::string hash = content_hash(io::MappedFile(path).bytes());
  const fs::path config = path.parent_path() / kConfigFile;
  if (path.extension() != ".txt" || !fs::exists(config)) return hash;
  const std::string both = hash + content_hash(io::MappedFile(config).bytes());
  return content_hash(std::as_bytes(std::span(both)));
}

/// The settings of the files beside a tokenizer.
io::TokenizerSettings settings_beside(const fs::path& path) {
  io::TokenizerSettings settings;
  for (const char* name : {"special_tokens_map.json", kConfigFile}) {  // the last wins
    const fs::path beside = path.parent_path() / name;
    if (!fs::exists(beside)) continue;
    const io::MappedFile file(beside);
    io::read_tokenizer_settings(content_of(file), beside.string(), settings);
  }
  if (const fs::path list = path.parent_path() / kAddedFile; !settings.added && fs::exists(list)) {
    const io::MappedFile file(list);
    settings.added = {io::parse_added_tokens(content_of(file), list.string(), settings.special),
                      list.string(), false};
  }
  if (settings.added)
    for (io::AddedToken& token : settings.added->tokens)
      token.special = token.special || settings.special.contains(token.content);
  return settings;
}

Tokenizer::Truncation truncation_of(const io::TokenizerSettings& settings, bool of_file = false) {
  return {.at_begin = settings.truncates_begin.value_or(of_file), .max_length = settings.max_length};
}

/// Adds the tokens of the files beside a tokenizer, whose file has `hash`; returns the hash with them.
std::string add_tokens(const io::TokenizerSettings& settings, io::TokenizerJson& json, std::string hash) {
  if (!settings.added) return hash;
  const auto find = [&](const std::string& content) {
    const bool as_it_is = json.word_piece || json.metaspace;
    const auto text = as_it_is ? std::optional(content) : io::bytes_of_alphabet(content);
    return text ? json.vocabulary.find(*text) : std::nullopt;
  };
  return hash_with(std::move(hash),
                   io::merge_added_tokens(*settings.added, json.vocabulary, find, json.added, json.size));
}

std::shared_ptr<Tokenizer> load_vocabulary(const io::MappedFile& file, const fs::path& path,
                                           std::string hash) {
  const fs::path config = path.parent_path() / kConfigFile;
  io::BertTokenizerConfig rules;
  if (fs::exists(config)) {
    const io::MappedFile beside(config);
    rules = io::parse_bert_tokenizer_config(content_of(beside), config.string());
  }
  io::TokenizerJson json = io::parse_word_piece_vocabulary(file.bytes(), path.string(), rules);
  const io::TokenizerSettings settings = settings_beside(path);
  hash = add_tokens(settings, json, std::move(hash));
  auto tokenizer = std::make_shared<WordPieceTokenizer>(std::move(json), std::move(hash), path);
  tokenizer->set_truncation(truncation_of(settings));
  return tokenizer;
}

/// The id of an added token or, with byte fallback, of any token.
std::optional<int32_t> id_of(const io::TokenizerJson& json, const std::optional<std::string>& name) {
  if (!name) return std::nullopt;
  for (const io::TokenizerJson::AddedToken& token : json.added)
    if (token.content == *name) return token.id;
  return json.metaspace ? json.vocabulary.find(*name) : std::nullopt;
}

/// The tokens of the post-processor before a text.
std::vector<int32_t> marks_before_text(const io::TokenizerJson& json) {
  std::vector<int32_t> out;
  for (const io::TemplateItem& item : json.around.single) {
    if (item.kind != io::TemplateItem::Kind::mark) break;
    out.push_back(item.mark);
  }
  return out;
}

/// Applies what transformers 5 takes from tokenizer_config.json instead of tokenizer.json: the normalization
/// of BERT's classes, and the space before a text of GPT-2's and RoBERTa's. Returns the hash of the changed
/// tokenizer.
std::string apply_class_options(const io::TokenizerSettings& settings, const fs::path& path,
                                io::TokenizerJson& json, std::string hash) {
  const fs::path config = path.parent_path() / kConfigFile;
  const std::string name = settings.class_name.value_or("");
  const bool of_file = name.starts_with("PreTrainedTokenizer") || name == "TokenizersBackend";
  if (of_file || !fs::exists(config)) return hash;
  std::string changed;
  if (json.word_piece && json.word_piece->normalizing) {
    const bool lower = settings.lower_case.value_or(true);
    const io::BertNormalizing options = {.clean_text = true,
                                         .space_chinese = settings.space_chinese.value_or(true),
                                         .strip_accents = settings.strip_accents.value_or(lower),
                                         .lower_case = lower};
    if (options != *json.word_piece->normalizing)
      changed = fmt::format("do_lower_case = {}, strip_accents = {}, tokenize_chinese_chars = {}", lower,
                            options.strip_accents, options.space_chinese);
    json.word_piece->normalizing = options;
  }
  if (!json.steps.empty() && settings.prefix_space &&
      *settings.prefix_space != json.steps.back().add_prefix_space) {
    json.steps.back().add_prefix_space = *settings.prefix_space;
    changed = fmt::format("add_prefix_space = {}", *settings.prefix_space);
  }
  if (changed.empty()) return hash;
  note(fmt::format("{}: {} instead of the options of {}, as in transformers 5", config.string(), changed,
                   path.filename().string()));
  hash += changed;
  return content_hash(std::as_bytes(std::span(hash)));
}

/// As in transformers 5, the post-processor alone decides about the begin token, whatever add_bos_token says.
std::shared_ptr<Tokenizer> load_json(const io::MappedFile& file, const fs::path& path, std::string hash) {
  io::TokenizerJson json = io::parse_tokenizer_json(file.bytes(), path.string());
  const bool puts = json.begin.has_value();
  std::vector<int32_t> before = marks_before_text(json);
  const io::TokenizerSettings settings = settings_beside(path);
  hash = add_tokens(settings, json, std::move(hash));
  hash = apply_class_options(settings, path, json, std::move(hash));
  const Tokenizer::Truncation truncation = truncation_of(settings, json.truncates_begin);
  std::shared_ptr<Tokenizer> tokenizer;
  if (json.word_piece) {
    tokenizer = std::make_shared<WordPieceTokenizer>(std::move(json), std::move(hash), path);
    tokenizer->set_puts_begin(puts);
    tokenizer->set_truncation(truncation);
    return tokenizer;
  }
  if (!json.begin) json.begin = id_of(json, settings.begin);
  if (!json.end) json.end = id_of(json, settings.end);
  if (json.metaspace)
    tokenizer = std::make_shared<MetaspaceTokenizer>(std::move(json), std::move(hash), path);
  else
    tokenizer = std::make_shared<BytePairTokenizer>(std::move(json), path.string(), std::move(hash), path);
  tokenizer->set_puts_begin(puts);
  tokenizer->set_truncation(truncation);
  if (before.size() > 1) tokenizer->set_several_before_text(std::move(before));
  if (tokenizer->begin_id() && settings.add_begin.value_or(puts) != puts)
    note(
        fmt::format("{}: add_bos_token is {}, but the post-processor of {} puts {} begin token before a "
                    "text, which is followed (as by transformers 5); bos = {} changes it",
                    (path.parent_path() / kConfigFile).string(), *settings.add_begin,
                    path.filename().string(), puts ? "a" : "no", puts ? "no" : "yes"));
  return tokenizer;
}

/// Whether a sentencepiece model encodes the parts of a text between added tokens as transformers does:
/// without normalization, and with the spaces of Llama's tokenizer.
bool splits_at_added_tokens(const io::SentencePieceModel& model, const io::TokenizerSettings& settings) {
  const std::string name = settings.class_name.value_or("LlamaTokenizer");
  const bool llama = name == "LlamaTokenizer" || name == "LlamaTokenizerFast";
  return model.algorithm == io::SentencePieceModel::Algorithm::bpe && model.character_map.empty() &&
         model.escape_whitespaces && !model.remove_extra_whitespaces && !model.whitespace_as_suffix &&
         (llama || !model.add_dummy_prefix);
}

/// The added tokens of the files beside a sentencepiece model; refuses those that cannot be matched exactly.
PieceAdditions additions_beside(const io::SentencePieceModel& model, const io::TokenizerSettings& settings,
                                const std::string& source) {
  PieceAdditions out{.tokens = {}, .prefix_after = settings.legacy};
  if (!settings.added) return out;
  int32_t size = model.pieces.size();
  const auto find = [&](const std::string& content) { return model.pieces.find(content); };
  io::merge_added_tokens(*settings.added, model.pieces, find, out.tokens, size);
  if (splits_at_added_tokens(model, settings)) return out;
  for (const io::AddedToken& token : out.tokens)
    require(
        token.id < model.pieces.size(), ErrorKind::data,
        "{}: the added token {} cannot be matched as by transformers: {} must be a BPE model without "
        "normalization, for LlamaTokenizer; in Python "
        "transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(folder) makes a tokenizer.json",
        settings.added->source, io::quote_for_message(token.content), source);
  return {};
}

/// add_bos_token decides about the begin token; by default, that of Llama's tokenizers, it is put.
std::shared_ptr<Tokenizer> load_sentencepiece(const io::MappedFile& file, const fs::path& path,
                                              std::string hash) {
  io::SentencePieceModel model = io::parse_sentencepiece_model(file.bytes(), path.string());
  const io::TokenizerSettings settings = settings_beside(path);
  PieceAdditions additions = additions_beside(model, settings, path.string());
  const auto take = [&](const std::optional<std::string>& name, int32_t& id) {
    if (!name) return;
    id = model.pieces.find(*name).value_or(id);
    for (const io::AddedToken& token : additions.tokens)
      if (token.content == *name) id = token.id;
  };
  take(settings.begin, model.begin);
  take(settings.end, model.end);
  hash = hash_with(std::move(hash), additions.tokens);
  auto tokenizer =
      std::make_shared<PieceTokenizer>(std::move(model), std::move(hash), path, std::move(additions));
  tokenizer->set_puts_begin(settings.add_begin.value_or(true));
  tokenizer->set_truncation(truncation_of(settings));
  return tokenizer;
}

std::shared_ptr<Tokenizer> load_file(const fs::path& path) {
  const io::MappedFile file(path);
  const std::string source = path.string(), ending = path.extension().string();
  std::string hash = hash_of(path);
  if (ending == ".bin")
    return std::make_shared<PieceTokenizer>(io::parse_llama2c_tokenizer(file.bytes(), source),
                                            std::move(hash), path);
  if (ending == ".model") return load_sentencepiece(file, path, std::move(hash));
  if (ending == ".json") return load_json(file, path, std::move(hash));
  if (path.filename() == kBytesFile) {
    require(file.bytes().size() < 64 && trimmed(content_of(file)) == kBytes, ErrorKind::data,
            "{}: the file must contain the word \"bytes\", the only tokenizer without its own file", source);
    return std::make_shared<ByteTokenizer>();
  }
  if (ending == ".txt") return load_vocabulary(file, path, std::move(hash));
  fail(ErrorKind::data,
       "{}: expected \"bytes\" or a tokenizer file: .json (Hugging Face), .model (sentencepiece), .bin "
       "(llama2.c) or .txt (BERT's vocabulary)",
       source);
}

/// Whether the files of a loaded tokenizer are still those that it was loaded from.
bool is_unchanged(const Tokenizer& tokenizer) {
  if (hash_of(tokenizer.file()) == tokenizer.hash()) return true;
  try {
    return load_file(tokenizer.file())->hash() == tokenizer.hash();
  } catch (const Error&) {
    return false;
  }
}

/// The first tokenizer file of a folder that can be read.
std::shared_ptr<Tokenizer> load_folder(const fs::path& folder) {
  std::vector<std::string> refused;
  for (const char* name : kNames) {
    if (!fs::exists(folder / name)) continue;
    try {
      auto tokenizer = load_file(folder / name);
      if (!refused.empty())
        note(fmt::format("the tokenizer is {}; {}", (folder / name).string(), fmt::join(refused, "; ")));
      return tokenizer;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::data) throw;
      refused.emplace_back(error.what());
    }
  }
  require(!refused.empty(), ErrorKind::no_input,
          "{} has no tokenizer file: tokenizer.json, tokenizer.model, tokenizer.bin or vocab.txt{}",
          folder.string(),
          fs::exists(folder / "merges.txt")
              ? "; of vocab.json and merges.txt, in Python transformers.AutoTokenizer.from_pretrained(folder)"
                ".save_pretrained(folder) makes a tokenizer.json"
              : "");
  require(refused.size() > 1, ErrorKind::data, "{}", refused.front());
  fail(ErrorKind::data, "{}: none of its {} tokenizer files can be read: {}", folder.string(), refused.size(),
       fmt::join(refused, "; "));
}

}  // namespace

std::shared_ptr<Tokenizer> load_tokenizer(const std::string& source) {
  if (source == kBytes && !fs::exists(source)) return std::make_shared<ByteTokenizer>();
  return fs::is_directory(source) ? load_folder(source) : load_file(source);
}

std::shared_ptr<Tokenizer> find_tokenizer(const std::string& source, std::vector<std::string>& notes) {
  const auto there = [&](const char* name) { return fs::exists(fs::path(source) / name); };
  if (!fs::exists(source) || (fs::is_directory(source) && std::ranges::none_of(kNames, there)))
    return nullptr;
  try {
    return load_tokenizer(source);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::no_input || error.kind() == ErrorKind::io) throw;
    notes.push_back(fmt::format("ignored the tokenizer of the model: {}", error.what()));
    return nullptr;
  }
}

void override_begin(Tokenizer& tokenizer, const std::string& bos) {
  if (bos == "auto") return;
  require(bos == "no" || tokenizer.begin_id(), ErrorKind::usage,
          "bos = yes, but the tokenizer ({}) has no begin token", tokenizer.name());
  tokenizer.set_puts_begin(bos == "yes");
}

void write_tokenizer_config(const Tokenizer& tokenizer, const fs::path& folder) {
  if (tokenizer.file().extension() != ".json" || fs::exists(folder / kConfigFile)) return;
  nlohmann::ordered_json config = {{"tokenizer_class", "PreTrainedTokenizerFast"}};
  const TextFrame frame = tokenizer.frame().value_or(TextFrame());
  const auto add = [&](const char* name, const std::optional<int32_t>& id) {
    if (id && tokenizer.has_token(*id)) config[name] = io::strip_spaces(tokenizer.token_text(*id));
  };
  add("bos_token", tokenizer.begin_id());
  add("eos_token", tokenizer.end_id());
  add("pad_token", frame.padding);
  add("mask_token", frame.mask);
  write_file_atomically(folder / kConfigFile, config.dump(2) + "\n");
}

void keep_tokenizer(const Tokenizer& tokenizer, const fs::path& folder) {
  if (tokenizer.file().empty()) {
    write_file_atomically(folder / kBytesFile, std::string(kBytes) + "\n");
    return;
  }
  const fs::path& file = tokenizer.file();
  require(is_unchanged(tokenizer), ErrorKind::data, "{} has changed since the tokenizer was loaded",
          file.string());
  const auto keep = [&](const fs::path& from, const fs::path& target) {
    if (fs::exists(target) && fs::equivalent(target, from)) return;
    write_file_atomically(target, io::MappedFile(from).bytes());
  };
  keep(file, folder / tokenizer.file_name());
  for (const char* name : kCompanions)
    if (const fs::path beside = file.parent_path() / name; fs::exists(beside)) keep(beside, folder / name);
  const fs::path templates = file.parent_path() / kTemplateFolder;
  if (!fs::is_directory(templates)) return;
  make_folders(folder / kTemplateFolder);
  for (const fs::path& path : entries_of(templates))
    if (path.extension() == ".jinja") keep(path, folder / kTemplateFolder / path.filename());
}

void remove_tokenizer(const fs::path& folder) {
  for (const char* name : kNames) fs::remove(folder / name);
  for (const char* name : kCompanions) fs::remove(folder / name);
}

}  // namespace modewise::text
