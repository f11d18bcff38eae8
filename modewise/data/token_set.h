#pragma once
// Token sets: tokenized documents split into training, validation and test.

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
  std::vector<std::string> notes, warnings;

  /// "train", "validation", "test", or "all": the whole training file.
  TokenPart part(const std::string& name) const;
};

/// Tokenizes every document of `path`. Documents above 16 MiB are tokenized in pieces that end at line ends.
/// `tokenizer_path` is the argument of load_tokenizer.
TokenFile tokenize(const DocumentConfig& config, const std::string& path, const text::Tokenizer& tokenizer,
                   const std::string& tokenizer_path, std::vector<std::string>& notes);

/// The tokens of `path`: token files are mapped (data error if another tokenizer made them), text is
/// tokenized.
std::shared_ptr<const TokenFile> load_tokens(const DocumentConfig& config, const std::string& path,
                                             const text::Tokenizer& tokenizer,
                                             const std::string& tokenizer_path,
                                             std::vector<std::string>& notes);

/// Loads all splits of `config`. Splits without documents stay empty; data error if training is empty.
/// Without `with_test` a separate test file is not read, and the test split of config.path stays empty.
TokenSet load_token_set(const DocumentConfig& config, const text::Tokenizer& tokenizer,
                        const std::string& tokenizer_path, bool with_test = true);
/// The same, but a folder with train.txt, valid.txt and test.txt, or with folders train, val and test, has
/// these splits, unless config.split is set; a note says so.
TokenSet load_named_splits(const DocumentConfig& config, const text::Tokenizer& tokenizer,
                           const std::string& tokenizer_path, bool with_test = true);

/// The first `count` tokens of each document.
TokenPart first_tokens(const TokenPart& part, int64_t count, const text::Tokenizer& tokenizer);

/// Splits the documents of `file` by config: by a permutation keyed by (split_seed, site 5), or by cutting
/// each document; sizes of cut parts are counted in their decoded text.
void split_tokens(const DocumentConfig& config, const std::shared_ptr<const TokenFile>& file,
                  const text::Tokenizer& tokenizer, TokenSet& set);

}  // namespace modewise::data
