#include "modewise/data/token_mix.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "modewise/core/counted.h"
#include "modewise/core/error.h"
#include "modewise/core/random.h"

namespace modewise::data {
namespace {

/// Indices of the documents with at least `minimum_words`.
std::vector<size_t> long_documents(const TokenFile& file, int64_t minimum_words) {
  std::vector<size_t> chosen;
  for (size_t i = 0; i < file.documents().size(); ++i)
    if (file.documents()[i].words >= minimum_words) chosen.push_back(i);
  require(!chosen.empty(), ErrorKind::data, "{}: none of {} documents has {} words", file.source(),
          file.documents().size(), minimum_words);
  return chosen;
}

int64_t tokens_of(const TokenFile& file, const std::vector<size_t>& documents) {
  int64_t tokens = 0;
  for (const size_t i : documents) tokens += file.documents()[i].size();
  return tokens;
}

/// Documents in the order of `stream` while each brings the tokens nearer to `wanted`; sorted.
std::vector<size_t> take(const TokenFile& file, const std::vector<size_t>& documents, double wanted,
                         const RandomStream& stream) {
  std::vector<size_t> taken;
  double tokens = 0;
  for (const int64_t at : random_permutation(std::ssize(documents), stream)) {
    const size_t document = documents[static_cast<size_t>(at)];
    const auto size = static_cast<double>(file.documents()[document].size());
    if (tokens + size / 2 > wanted) break;
    tokens += size;
    taken.push_back(document);
  }
  const bool others = std::ranges::any_of(documents, [&](size_t document) {
    return static_cast<double>(file.documents()[document].size()) / 2 <= wanted;
  });
  require(!taken.empty(), ErrorKind::data, "{}: its share of the mix, {:.0f} tokens, is less than half of {}",
          file.source(), wanted,
          others
              ? "the document that was drawn first: another seed, or a source with shorter documents, helps"
              : "each of its documents: a larger share, or a source with shorter documents, such as of a "
                "text whose documents are separated (--separator), helps");
  std::sort(taken.begin(), taken.end());
  return taken;
}

void add_document(const TokenFile& file, const TokenSpan& span, TokenFileBuilder& builder) {
  constexpr int64_t kBlock = 1 << 20;
  builder.begin_document(span.bytes, span.words);
  std::vector<int64_t> read;
  for (int64_t begin = span.begin; begin < span.end; begin += kBlock) {
    read.resize(static_cast<size_t>(std::min(kBlock, span.end - begin)));
    file.read(begin, std::ssize(read), read.data());
    builder.add(std::vector<int32_t>(read.begin(), read.end()));
  }
}

}  // namespace

TokenMix mix_tokens(std::span<const std::shared_ptr<const TokenFile>> sources, const MixOptions& options,
                    SpecialToken tokenizer, const std::string& source) {
  const std::vector<double>& shares = options.shares;
  require(shares.empty() || shares.size() == sources.size(), ErrorKind::usage,
          "{} for {}: each text needs one", counted(std::ssize(shares), "share"),
          counted(std::ssize(sources), "text"));
  std::vector<std::vector<size_t>> documents;
  for (const auto& file : sources) documents.push_back(long_documents(*file, options.minimum_words));
  double unit = std::numeric_limits<double>::infinity();  // tokens per unit of the shares
  for (size_t i = 0; i < shares.size(); ++i) {
    require(std::isfinite(shares[i]) && shares[i] > 0, ErrorKind::usage, "a share must be above 0, got {}",
            shares[i]);
    unit = std::min(unit, static_cast<double>(tokens_of(*sources[i], documents[i])) / shares[i]);
  }
  TokenFileBuilder builder(std::move(tokenizer), source);
  std::vector<MixPart> parts;
  for (size_t i = 0; i < sources.size(); ++i) {
    const TokenFile& file = *sources[i];
    MixPart& part = parts.emplace_back();
    part.too_short = std::ssize(file.documents()) - std::ssize(documents[i]);
    if (!shares.empty())
      documents[i] = take(file, documents[i], shares[i] * unit,
                          {static_cast<uint64_t>(options.seed), RandomSite::splits, 1 + i});
    part.documents = std::ssize(documents[i]);
    part.tokens = tokens_of(file, documents[i]);
    for (const size_t document : documents[i]) add_document(file, file.documents()[document], builder);
  }
  return {builder.finish(), std::move(parts)};
}

}  // namespace modewise::data
