#include "modewise/text/load_tokenizer.h"

#include <array>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/hash.h"
#include "modewise/io/mapped_file.h"
#include "modewise/text/byte_pair_tokenizer.h"
#include "modewise/text/byte_tokenizer.h"
#include "modewise/text/piece_tokenizer.h"

namespace modewise::text {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBytesFile = "tokenizer.txt";  // holds the word "bytes"
constexpr std::string_view kBytes = "bytes";
// In the order in which they are looked for.
constexpr std::array<const char*, 4> kNames = {"tokenizer.json", "tokenizer.model", "tokenizer.bin",
                                               kBytesFile};

std::string trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return std::string(text);
}

std::shared_ptr<Tokenizer> load_file(const fs::path& path) {
  const io::MappedFile file(path);
  const std::string source = path.string(), ending = path.extension().string();
  std::string hash = content_hash(file.bytes());
  if (ending == ".bin")
    return std::make_shared<PieceTokenizer>(io::parse_llama2c_tokenizer(file.bytes(), source),
                                            std::move(hash), path);
  if (ending == ".model")
    return std::make_shared<PieceTokenizer>(io::parse_sentencepiece_model(file.bytes(), source),
                                            std::move(hash), path);
  if (ending == ".json")
    return std::make_shared<BytePairTokenizer>(io::parse_tokenizer_json(file.bytes(), source), source,
                                               std::move(hash), path);
  if (ending == ".txt") {
    const std::string_view content(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
    require(content.size() < 64 && trimmed(content) == kBytes, ErrorKind::data,
            "{}: the file must hold the word \"bytes\", the only tokenizer without a file of its own",
            source);
    return std::make_shared<ByteTokenizer>();
  }
  fail(ErrorKind::data,
       "{}: a tokenizer is \"bytes\", or a file that ends in .json (Hugging Face), .model (sentencepiece) or "
       ".bin "
       "(llama2.c)",
       source);
}

}  // namespace

std::shared_ptr<Tokenizer> load_tokenizer(const std::string& source) {
  if (source == kBytes && !fs::exists(source)) return std::make_shared<ByteTokenizer>();
  if (!fs::is_directory(source)) return load_file(source);
  for (const char* name : kNames) {
    if (fs::exists(fs::path(source) / name)) return load_file(fs::path(source) / name);
  }
  fail(ErrorKind::no_input, "{} holds no tokenizer: tokenizer.model, tokenizer.json or tokenizer.bin",
       source);
}

void keep_tokenizer(const Tokenizer& tokenizer, const fs::path& folder) {
  if (tokenizer.file().empty()) {
    write_file_atomically(folder / kBytesFile, std::string(kBytes) + "\n");
    return;
  }
  const io::MappedFile file(tokenizer.file());
  require(content_hash(file.bytes()) == tokenizer.hash(), ErrorKind::data,
          "{} has changed since the tokenizer was loaded", tokenizer.file().string());
  const fs::path target = folder / ("tokenizer" + tokenizer.file().extension().string());
  if (fs::exists(target) && fs::equivalent(target, tokenizer.file())) return;
  write_file_atomically(target, file.bytes());
}

}  // namespace modewise::text
