#include "modewise/text/load_tokenizer.h"

#include <array>
#include <span>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/hash.h"
#include "modewise/io/mapped_file.h"
#include "modewise/io/tokenizers/word_piece_vocabulary.h"
#include "modewise/text/byte_pair_tokenizer.h"
#include "modewise/text/byte_tokenizer.h"
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
constexpr const char* kConfigFile = "tokenizer_config.json";  // in the folder of vocab.txt

std::string trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return std::string(text);
}

std::string_view content_of(const io::MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

/// Hash of a file and, for vocab.txt, of its tokenizer_config.json.
std::string hash_of(const fs::path& path) {
  const std::string hash = content_hash(io::MappedFile(path).bytes());
  const fs::path config = path.parent_path() / kConfigFile;
  if (path.extension() != ".txt" || !fs::exists(config)) return hash;
  const std::string both = hash + content_hash(io::MappedFile(config).bytes());
  return content_hash(std::as_bytes(std::span(both)));
}

std::shared_ptr<Tokenizer> load_vocabulary(const io::MappedFile& file, const fs::path& path,
                                           std::string hash) {
  const fs::path config = path.parent_path() / kConfigFile;
  io::BertTokenizerConfig rules;
  if (fs::exists(config)) {
    const io::MappedFile beside(config);
    rules = io::parse_bert_tokenizer_config(content_of(beside), config.string());
  }
  return std::make_shared<WordPieceTokenizer>(
      io::parse_word_piece_vocabulary(file.bytes(), path.string(), rules), std::move(hash), path);
}

std::shared_ptr<Tokenizer> load_json(const io::MappedFile& file, const fs::path& path, std::string hash) {
  io::TokenizerJson json = io::parse_tokenizer_json(file.bytes(), path.string());
  if (json.word_piece) return std::make_shared<WordPieceTokenizer>(std::move(json), std::move(hash), path);
  return std::make_shared<BytePairTokenizer>(std::move(json), path.string(), std::move(hash), path);
}

std::shared_ptr<Tokenizer> load_file(const fs::path& path) {
  const io::MappedFile file(path);
  const std::string source = path.string(), ending = path.extension().string();
  std::string hash = hash_of(path);
  if (ending == ".bin")
    return std::make_shared<PieceTokenizer>(io::parse_llama2c_tokenizer(file.bytes(), source),
                                            std::move(hash), path);
  if (ending == ".model")
    return std::make_shared<PieceTokenizer>(io::parse_sentencepiece_model(file.bytes(), source),
                                            std::move(hash), path);
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

}  // namespace

std::shared_ptr<Tokenizer> load_tokenizer(const std::string& source) {
  if (source == kBytes && !fs::exists(source)) return std::make_shared<ByteTokenizer>();
  if (!fs::is_directory(source)) return load_file(source);
  for (const char* name : kNames) {
    if (fs::exists(fs::path(source) / name)) return load_file(fs::path(source) / name);
  }
  fail(ErrorKind::no_input,
       "{} has no tokenizer file: tokenizer.model, tokenizer.json, tokenizer.bin or vocab.txt", source);
}

void keep_tokenizer(const Tokenizer& tokenizer, const fs::path& folder) {
  if (tokenizer.file().empty()) {
    write_file_atomically(folder / kBytesFile, std::string(kBytes) + "\n");
    return;
  }
  const fs::path& file = tokenizer.file();
  require(hash_of(file) == tokenizer.hash(), ErrorKind::data, "{} has changed since the tokenizer was loaded",
          file.string());
  const auto keep = [&](const fs::path& from, const fs::path& target) {
    if (fs::exists(target) && fs::equivalent(target, from)) return;
    write_file_atomically(target, io::MappedFile(from).bytes());
  };
  keep(file, folder / tokenizer.file_name());
  const fs::path config = file.parent_path() / kConfigFile;
  if (file.extension() == ".txt" && fs::exists(config)) keep(config, folder / kConfigFile);
}

}  // namespace modewise::text
