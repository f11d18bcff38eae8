#pragma once
// Text as a language model gets it: tokens of documents, parted into training, validation and test.

#include <memory>
#include <string>
#include <vector>

#include "modewise/data/document_config.h"
#include "modewise/data/token_file.h"
#include "modewise/text/tokenizer.h"

namespace modewise::data {

struct TokenSet {
  TokenPart train, validation, test;
  std::string source, hash;
  std::vector<std::string> notes;

  /// "train", "validation", "test", or "all": the whole of the file that is trained on.
  TokenPart part(const std::string& name) const;
};

/// The tokens of every document of `path`. Documents above 16 MiB are tokenized in pieces that end at line
/// ends. `tokenizer_path` is what load_tokenizer took.
TokenFile tokenize(const DocumentConfig& config, const std::string& path, const text::Tokenizer& tokenizer,
                   const std::string& tokenizer_path, std::vector<std::string>& notes);

/// `path` as tokens: a token file is mapped (data error when another tokenizer made it), the rest tokenized.
std::shared_ptr<const TokenFile> load_tokens(const DocumentConfig& config, const std::string& path,
                                             const text::Tokenizer& tokenizer,
                                             const std::string& tokenizer_path,
                                             std::vector<std::string>& notes);

/// Everything that `config` names. Parts without documents stay empty; data error when training is. Without
/// `with_test` a test file of its own is not read, and the test part of config.path stays empty.
TokenSet load_token_set(const DocumentConfig& config, const text::Tokenizer& tokenizer,
                        const std::string& tokenizer_path, bool with_test = true);

/// The documents of `file` parted as config says: by a permutation keyed by (split_seed, site 5), or each
/// document cut, whose parts' sizes are counted in their decoded text.
void split_tokens(const DocumentConfig& config, const std::shared_ptr<const TokenFile>& file,
                  const text::Tokenizer& tokenizer, TokenSet& set);

}  // namespace modewise::data
