#pragma once
// Tokenizers from files, and back into a folder.

#include <memory>
#include <string>

#include "modewise/text/tokenizer.h"

namespace modewise::text {

/// `source`: "bytes"; a tokenizer.bin of llama2.c, a .model of sentencepiece, a tokenizer.json, or BERT's
/// vocab.txt with the tokenizer_config.json that may stand beside it (told apart by the ending); or a folder
/// that holds tokenizer.json, tokenizer.model, tokenizer.bin, vocab.txt or what keep_tokenizer left there.
/// Throws no_input for what is not there and data errors for what is wrong in a file.
std::shared_ptr<Tokenizer> load_tokenizer(const std::string& source);

/// Copies the tokenizer's file into `folder`, so that load_tokenizer(folder) gives it again. Throws a data
/// error when the file has changed since it was loaded.
void keep_tokenizer(const Tokenizer& tokenizer, const std::filesystem::path& folder);

}  // namespace modewise::text
