#pragma once
// Loading of tokenizers from files, and saving to a run folder.

#include <memory>
#include <string>

#include "modewise/text/tokenizer.h"

namespace modewise::text {

/// `source`: "bytes"; a file, by extension: tokenizer.bin (llama2.c), .model (sentencepiece), tokenizer.json,
/// or BERT's vocab.txt with an optional tokenizer_config.json in the same folder; or a folder with
/// tokenizer.json, tokenizer.model, tokenizer.bin, vocab.txt or the files of keep_tokenizer. Throws no_input
/// if it is missing and data errors if a file is invalid.
std::shared_ptr<Tokenizer> load_tokenizer(const std::string& source);

/// Copies the tokenizer's file to `folder`, so that load_tokenizer(folder) loads it. Throws a data error if
/// the file has changed since it was loaded.
void keep_tokenizer(const Tokenizer& tokenizer, const std::filesystem::path& folder);

}  // namespace modewise::text
