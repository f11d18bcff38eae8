#pragma once
// The parts of a tokenizer.json that are objects with a "type".

#include <string>
#include <vector>

#include "modewise/io/json_scanner.h"
#include "modewise/io/tokenizers/tokenizer_json.h"

namespace modewise::io {

/// The "type" of the object that follows, which stays the next value; empty for null or where none is given.
std::string peek_type(JsonScanner& json);

/// Refuses a normalizer that changes text.
void parse_normalizer(JsonScanner& json);
/// Refuses what is no byte-level decoder.
void parse_decoder(JsonScanner& json);
/// Appends the steps of a pre_tokenizer.
void parse_pre_tokenizer(JsonScanner& json, std::vector<TokenizerJson::Step>& steps);
/// The options of a BertNormalizer, or of none.
void parse_bert_normalizer(JsonScanner& json, WordPieceRules& rules);
/// Refuses what is no BertPreTokenizer.
void parse_bert_pre_tokenizer(JsonScanner& json);
/// Takes what is put around texts.
void parse_post_processor(JsonScanner& json, TokenizerJson& tokenizer);

}  // namespace modewise::io
