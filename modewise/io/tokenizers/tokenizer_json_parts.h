#pragma once
// Parsers for the components of a tokenizer.json, objects with a "type".

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/io/json_scanner.h"
#include "modewise/io/tokenizers/tokenizer_json.h"

namespace modewise::io {

/// The "type" of the next object, which is not consumed; empty for null or without a type.
std::string peek_type(JsonScanner& json);

/// Calls `one` for each element of the array `key` of a Sequence.
void for_each_of_sequence(JsonScanner& json, std::string_view key, const std::function<void()>& one);
/// Limits the nesting of Sequences.
void check_sequence_depth(JsonScanner& json, int depth);
[[noreturn]] void refuse_part(JsonScanner& json, std::string_view part, const std::string& type);

/// Refuses a normalizer that changes text.
void parse_normalizer(JsonScanner& json);
/// Refuses all but a byte-level decoder.
void parse_decoder(JsonScanner& json);
/// Appends the steps of a pre_tokenizer.
void parse_pre_tokenizer(JsonScanner& json, std::vector<TokenizerJson::Step>& steps);
/// Parses the options of a BertNormalizer, or no normalizer.
void parse_bert_normalizer(JsonScanner& json, WordPieceRules& rules);
/// Refuses all but a BertPreTokenizer.
void parse_bert_pre_tokenizer(JsonScanner& json);
/// Parses the template of special tokens around texts.
void parse_post_processor(JsonScanner& json, TokenizerJson& tokenizer);

/// Parts of a BPE converted from sentencepiece.
struct MetaspaceParts {
  MetaspaceRules rules;
  bool replaces = false;  // spaces become U+2581
};
/// Reads Prepend and Replace, refuses others.
void parse_metaspace_normalizer(JsonScanner& json, MetaspaceParts& parts);
/// Reads Metaspace, refuses others.
void parse_metaspace_pre_tokenizer(JsonScanner& json, MetaspaceParts& parts);
void parse_metaspace_decoder(JsonScanner& json, MetaspaceParts& parts);

}  // namespace modewise::io
