#pragma once
// Parsers for the components of a tokenizer.json, objects with a "type".

#include <string>
#include <vector>

#include "modewise/io/json_scanner.h"
#include "modewise/io/tokenizers/tokenizer_json.h"

namespace modewise::io {

/// The "type" of the next object, which is not consumed; empty for null or without a type.
std::string peek_type(JsonScanner& json);

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

}  // namespace modewise::io
