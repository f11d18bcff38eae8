#pragma once
// Added tokens in the files of a tokenizer: in tokenizer.json, in added_tokens_decoder of
// tokenizer_config.json, and in added_tokens.json.

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/io/json_scanner.h"
#include "modewise/io/tokenizers/token_table.h"
#include "modewise/io/tokenizers/tokenizer_json.h"

namespace modewise::io {

using AddedToken = TokenizerJson::AddedToken;

constexpr size_t kMaxAddedTokens = 100'000;

/// Reads an id; `what` names it in messages.
int32_t read_token_id(JsonScanner& json, std::string_view what);

/// Reads {"id": 5, "content": "<s>", "special": true, …}; `id` is that of a file that has it elsewhere.
AddedToken read_added_token(JsonScanner& json, std::optional<int32_t> id = {});

/// Reads added_tokens_decoder: {"5": {"content": "<s>", …}, …}. The result is in order of the ids.
std::vector<AddedToken> read_added_tokens_decoder(JsonScanner& json);

/// Reads added_tokens.json: {"<s>": 5, …}. Tokens of `special` are special. The result is in order of the
/// ids.
std::vector<AddedToken> parse_added_tokens(std::string_view json, const std::string& source,
                                           const std::set<std::string>& special);

/// The tokens of the files beside a tokenizer, in order of their ids.
struct TokensBeside {
  std::vector<AddedToken> tokens;
  std::string source;      // their file
  bool overrides = false;  // their flags replace those of the tokenizer's own file
};

/// Merges tokens of the files beside a tokenizer into `added`, its own ones; `find` finds a token in its
/// vocabulary. Returns the tokens that change the tokenizer. Throws a data error that names file and token
/// for an id that contradicts the tokenizer's own file.
std::vector<AddedToken> merge_added_tokens(
    const TokensBeside& beside, const TokenTable& vocabulary,
    const std::function<std::optional<int32_t>(const std::string&)>& find, std::vector<AddedToken>& added,
    int32_t& size);

}  // namespace modewise::io
