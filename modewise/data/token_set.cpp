#include "modewise/data/token_set.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>
#include <span>

#include "modewise/core/counted.h"
#include "modewise/core/data_files.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/hash.h"
#include "modewise/core/random.h"
#include "modewise/data/split_names.h"
#include "modewise/data/text_documents.h"

namespace modewise::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPieceBytes = size_t{16} << 20;

/// Counts bytes and words of a span by decoding it.
void measure(const TokenFile& file, const text::Tokenizer& tokenizer, TokenSpan& span) {
  constexpr int64_t block = 1 << 20;
  std::vector<int64_t> ids;
  for (int64_t begin = span.begin; begin < span.end; begin += block) {
    ids.resize(static_cast<size_t>(std::min(block, span.end - begin)));
    file.read(begin, std::ssize(ids), ids.data());
    const std::string text = tokenizer.decode(std::vector<text::Tokenizer::Id>(ids.begin(), ids.end()));
    span.bytes += std::ssize(text);
    span.words += count_words(text) - (begin > span.begin ? 1 : 0);
  }
}

void cut_documents(const DocumentConfig& config, const TokenFile& file, const text::Tokenizer& tokenizer,
                   TokenSet& set) {
  for (const TokenSpan& document : file.documents()) {
    const auto share = [&](double ratio) {
      return static_cast<int64_t>(std::floor(ratio * static_cast<double>(document.size())));
    };
    const int64_t validation = share(config.split_ratios[1]), test = share(config.split_ratios[2]);
    const double sum = config.split_ratios[0] + config.split_ratios[1] + config.split_ratios[2];
    const int64_t end = document.begin + (sum > 1 - 1e-9 ? document.size() : share(sum));
    int64_t at = document.begin;
    const auto take = [&](TokenPart& part, int64_t until) {
      TokenSpan span{at, until, 0, 0};
      at = until;
      if (span.size() == 0) return;
      measure(file, tokenizer, span);
      part.spans.push_back(span);
    };
    take(set.train, end - validation - test);
    take(set.validation, end - test);
    take(set.test, end);
  }
}

void deal_documents(const DocumentConfig& config, const TokenFile& file, TokenSet& set) {
  const auto& documents = file.documents();
  const int64_t n = std::ssize(documents);
  const auto count = [&](double ratio) {
    return ratio == 0 ? 0 : std::max<int64_t>(1, std::llround(ratio * static_cast<double>(n)));
  };
  const int64_t validation = count(config.split_ratios[1]), test = count(config.split_ratios[2]);
  const double sum = config.split_ratios[0] + config.split_ratios[1] + config.split_ratios[2];
  const int64_t train = sum > 1 - 1e-9 ? n - validation - test : count(config.split_ratios[0]);
  require(train > 0 && train + validation + test <= n, ErrorKind::data,
          "{}: {} documents cannot be split into training, validation and test by {}, {}, {}; data.split = "
          "\"cut\" cuts each document",
          file.source(), n, config.split_ratios[0], config.split_ratios[1], config.split_ratios[2]);
  const std::vector<int64_t> order =
      random_permutation(n, {static_cast<uint64_t>(config.split_seed), RandomSite::splits, 0});
  const auto take = [&](TokenPart& part, int64_t begin, int64_t size) {
    std::vector<int64_t> chosen(order.begin() + begin, order.begin() + begin + size);
    std::sort(chosen.begin(), chosen.end());
    for (const int64_t i : chosen) part.spans.push_back(documents[static_cast<size_t>(i)]);
  };
  take(set.train, 0, train);
  take(set.validation, train, validation);
  take(set.test, train + validation, test);
}

std::string document_hash(const TokenPart& part, const TokenSpan& document) {
  std::vector<int64_t> ids(static_cast<size_t>(document.size()));
  part.file->read(document.begin, document.size(), ids.data());
  return content_hash(std::as_bytes(std::span(ids)));
}

/// Warns of test documents that are documents of the other splits. Those of other lengths are not read.
void warn_of_copies(TokenSet& set) {
  std::set<int64_t> sizes;
  for (const TokenSpan& document : set.test.spans) sizes.insert(document.size());
  std::set<std::string> known;
  for (const TokenPart* part : {&set.train, &set.validation})
    for (const TokenSpan& document : part->spans)
      if (sizes.contains(document.size())) known.insert(document_hash(*part, document));
  const auto copies = std::ranges::count_if(set.test.spans, [&](const TokenSpan& document) {
    return known.contains(document_hash(set.test, document));
  });
  if (copies > 0)
    set.warnings.push_back(
        fmt::format("{}: {} of the {} test documents {} identical to documents of the training or validation "
                    "split, which "
                    "makes its results too good",
                    set.source, copies, set.test.spans.size(), is_or_are(copies)));
}

/// The split of an entry of a folder: a folder test, a file test.txt or wiki.test.tokens; nothing: none.
std::optional<size_t> split_of_entry(const fs::path& entry) {
  if (fs::is_directory(entry)) return split_of_name(entry.filename().string());
  std::string rest = entry.filename().string();
  while (true) {
    const size_t point = rest.find('.');
    if (const std::optional<size_t> split = split_of_name(rest.substr(0, point)); split) return split;
    if (point == std::string::npos) return std::nullopt;
    rest.erase(0, point + 1);
  }
}

/// The config with the texts of the splits that a folder names; those that are set stay.
DocumentConfig with_named_splits(DocumentConfig config, std::vector<std::string>& notes) {
  if (config.split != "auto" || !fs::is_directory(config.path)) return config;
  std::array<std::set<std::string>, 3> found;
  std::set<std::string> others;
  for (const fs::path& entry : data_entries(config.path)) {
    const std::optional<size_t> split = split_of_entry(entry);
    (split ? found[*split] : others).insert(entry.filename().string());
  }
  if (found[0].empty() || (found[1].empty() && found[2].empty())) return config;
  std::array<std::string, 3> texts;
  for (size_t split = 0; split < found.size(); ++split) {
    require(found[split].size() < 2, ErrorKind::data,
            "{}: {} are texts of one split by their names; put them into one folder, or set data.path, "
            "data.validation and data.test to a text each (data.split = \"documents\" splits all files)",
            config.path, fmt::join(found[split], " and "));
    if (!found[split].empty()) texts[split] = fs::path(config.path) / *found[split].begin();
  }
  notes.push_back(fmt::format("{}: the splits are {}{}{}", config.path, *found[0].begin(),
                              found[1].empty() ? "" : ", " + *found[1].begin(),
                              found[2].empty() ? "" : ", " + *found[2].begin()));
  if (!others.empty()) notes.push_back(left_out_of_splits(config.path, others));
  config.path = texts[0];
  if (config.validation.empty()) config.validation = texts[1];
  if (config.test.empty()) config.test = texts[2];
  return config;
}

}  // namespace

TokenPart TokenSet::part(const std::string& name) const {
  if (name == "train") return train;
  if (name == "validation") return validation;
  if (name == "test") return test;
  return {train.file, train.file->documents()};
}

TokenFile tokenize(const DocumentConfig& config, const std::string& path, const text::Tokenizer& tokenizer,
                   const std::string& tokenizer_path, std::vector<std::string>& notes) {
  TokenFileBuilder builder({tokenizer.name(), tokenizer.hash(), tokenizer_path, tokenizer.size()}, path);
  for_each_document(
      config, path,
      [&](std::string_view text) {
        builder.begin_document(std::ssize(text), count_words(text));
        while (!text.empty()) {
          size_t size = text.size();
          if (size > kPieceBytes) {
            const size_t line = text.rfind('\n', kPieceBytes - 1);
            size = line == std::string_view::npos ? kPieceBytes : line + 1;
          }
          builder.add(tokenizer.encode(text.substr(0, size)));
          text.remove_prefix(size);
        }
      },
      notes);
  return builder.finish();
}

std::shared_ptr<const TokenFile> load_tokens(const DocumentConfig& config, const std::string& path,
                                             const text::Tokenizer& tokenizer,
                                             const std::string& tokenizer_path,
                                             std::vector<std::string>& notes) {
  if (!is_token_file(path))
    return std::make_shared<const TokenFile>(tokenize(config, path, tokenizer, tokenizer_path, notes));
  auto file = std::make_shared<const TokenFile>(std::filesystem::path(path));
  require(file->tokenizer().hash == tokenizer.hash(), ErrorKind::data,
          "{} was made by the tokenizer '{}' ({}), but '{}' is used: give that tokenizer, or the text", path,
          file->tokenizer().name, file->tokenizer().path, tokenizer.name());
  return file;
}

TokenPart first_tokens(const TokenPart& part, int64_t count, const text::Tokenizer& tokenizer) {
  TokenPart out{part.file, {}};
  for (const TokenSpan& document : part.spans) {
    TokenSpan span = document;
    if (span.size() > count) {
      span = {document.begin, document.begin + count, 0, 0};
      measure(*part.file, tokenizer, span);
    }
    out.spans.push_back(span);
  }
  return out;
}

void split_tokens(const DocumentConfig& config, const std::shared_ptr<const TokenFile>& file,
                  const text::Tokenizer& tokenizer, TokenSet& set) {
  set.train.file = set.validation.file = set.test.file = file;
  const bool few = std::ssize(file->documents()) < 3;
  if (config.split == "cut" || (config.split == "auto" && few)) {
    cut_documents(config, *file, tokenizer, set);
    if (config.split == "auto" && (config.split_ratios[1] > 0 || config.split_ratios[2] > 0))
      set.notes.push_back(
          fmt::format("{} contains {}: cut into consecutive training, validation and test splits",
                      file->source(), file->documents().size() == 1 ? "one document" : "two documents"));
  } else {
    deal_documents(config, *file, set);
  }
}

TokenSet load_token_set(const DocumentConfig& config, const text::Tokenizer& tokenizer,
                        const std::string& tokenizer_path, bool with_test) {
  TokenSet set;
  const auto load = [&](const std::string& path) {
    return load_tokens(config, path, tokenizer, tokenizer_path, set.notes);
  };
  const std::shared_ptr<const TokenFile> main = load(config.path);
  DocumentConfig own = config;
  if (!config.validation.empty()) own.split_ratios[1] = 0;
  if (!config.test.empty()) own.split_ratios[2] = 0;
  // The fractions of splits with their own files go to training.
  own.split_ratios[0] = std::min(1.0, config.split_ratios[0] + config.split_ratios[1] +
                                          config.split_ratios[2] - own.split_ratios[1] - own.split_ratios[2]);
  split_tokens(own, main, tokenizer, set);
  std::string hash = main->hash();
  const auto replace = [&](const std::string& path, TokenPart& part) {
    if (path.empty()) return;
    part.file = load(path);
    part.spans = part.file->documents();
    hash += part.file->hash();
  };
  replace(config.validation, set.validation);
  if (with_test)
    replace(config.test, set.test);
  else
    set.test.spans.clear();
  require(!set.train.spans.empty(), ErrorKind::data, "{}: there is no text to train on", config.path);
  set.source = config.path;
  set.hash = content_hash(as_bytes(hash));
  warn_of_copies(set);
  return set;
}

TokenSet load_named_splits(const DocumentConfig& config, const text::Tokenizer& tokenizer,
                           const std::string& tokenizer_path, bool with_test) {
  std::vector<std::string> notes;
  TokenSet set = load_token_set(with_named_splits(config, notes), tokenizer, tokenizer_path, with_test);
  set.source = config.path;
  set.notes.insert(set.notes.begin(), notes.begin(), notes.end());
  return set;
}

}  // namespace modewise::data
