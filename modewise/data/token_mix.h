#pragma once
// Mixes of texts: whole documents of several token files, in given shares of the tokens.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "modewise/data/token_file.h"

namespace modewise::data {

struct MixOptions {
  std::vector<double> shares;  // of each source, in any unit; empty: all documents of each
  int64_t minimum_words = 0;   // shorter documents are left out
  int64_t seed = 1;            // of the order in which the documents of a source are taken
};

/// The documents that a mix takes from one source.
struct MixPart {
  int64_t documents = 0, tokens = 0;
  int64_t too_short = 0;  // documents that minimum_words left out
};

struct TokenMix {
  TokenFile file;
  std::vector<MixPart> parts;  // one per source
};

/// Mixes sources of one tokenizer; `tokenizer` and `source` describe the result. It is as large as possible
/// without repeating a document: with shares, the source that has the fewest tokens for its share is taken
/// whole, and of the others documents in a permutation keyed by (seed, source), until one more would miss the
/// share by more. The documents are in the order of their sources.
///
/// Errors: usage for another number of shares than sources or a share that is not above 0; data, naming the
/// source, if none of its documents is long enough, or the first one exceeds its share.
TokenMix mix_tokens(std::span<const std::shared_ptr<const TokenFile>> sources, const MixOptions& options,
                    SpecialToken tokenizer, const std::string& source);

}  // namespace modewise::data
