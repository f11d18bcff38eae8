#pragma once
// Loading of tokenizers from files, and saving to a run folder.

#include <memory>
#include <string>
#include <vector>

#include "modewise/text/tokenizer.h"

namespace modewise::text {

/// `source`: "bytes"; a file, by extension: tokenizer.bin (llama2.c), .model (sentencepiece), tokenizer.json,
/// or BERT's vocab.txt with an optional tokenizer_config.json in the same folder; or a folder with
/// tokenizer.json, tokenizer.model, tokenizer.bin, vocab.txt or the files of keep_tokenizer, of which the
/// first that can be read is taken: the log says why others were not. Throws no_input if it is missing and
/// data errors if a file is invalid, for a folder with the reason for each file.
///
/// Its files decide whether the begin token is put before a text: the post-processor of a tokenizer.json; for
/// a sentencepiece model add_bos_token of tokenizer_config.json, which is true by default. The added tokens
/// of tokenizer_config.json or added_tokens.json in its folder belong to it; a data error names one that
/// contradicts it. So do the options of that file that transformers 5 puts in the place of tokenizer.json's:
/// do_lower_case, strip_accents, tokenize_chinese_chars and add_prefix_space, unless tokenizer_class is
/// PreTrainedTokenizerFast.
std::shared_ptr<Tokenizer> load_tokenizer(const std::string& source);

/// The same for a model's folder or file, which may have none: null if there is no file, or, with a sentence
/// in `notes`, if its content is not a tokenizer. A file that cannot be read is an error (no_input, io).
std::shared_ptr<Tokenizer> find_tokenizer(const std::string& source, std::vector<std::string>& notes);

/// `bos`: "yes" or "no" instead of what the tokenizer's files say, "auto": as they say. Usage error for "yes"
/// without a begin token.
void override_begin(Tokenizer& tokenizer, const std::string& bos);

/// Copies the tokenizer's file, its tokenizer_config.json, special_tokens_map.json, added_tokens.json and
/// chat templates to `folder`, so that load_tokenizer(folder) loads it. Throws a data error if the file has
/// changed since it was loaded.
void keep_tokenizer(const Tokenizer& tokenizer, const std::filesystem::path& folder);
/// Removes the tokenizer files of a folder, except for additional chat templates.
void remove_tokenizer(const std::filesystem::path& folder);

/// Writes a tokenizer_config.json for transformers beside a tokenizer.json in `folder` that has none: its
/// class takes the file as it is, where that of a model's type replaces its normalization.
void write_tokenizer_config(const Tokenizer& tokenizer, const std::filesystem::path& folder);

}  // namespace modewise::text
