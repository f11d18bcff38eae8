#include "modewise/tasks/language_modeling/data.h"

#include <filesystem>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/hash.h"
#include "modewise/text/load_tokenizer.h"

namespace modewise::tasks {
namespace {

/// Data hash of recall: the parameters that determine the samples.
std::string recall_hash(data::RecallConfig config) {
  const std::string text = fields_of(config).to_toml();
  return content_hash(as_bytes(text));
}

}  // namespace

std::shared_ptr<text::Tokenizer> tokenizer_of(const LanguageModelingConfig& config) {
  if (config.data.is_recall()) return nullptr;
  if (!config.tokenizer.empty()) return text::load_tokenizer(config.tokenizer);
  if (!config.init.empty()) {
    namespace fs = std::filesystem;
    const fs::path init(config.init), within = fs::is_directory(init / "model") ? init / "model" : init;
    require(fs::is_directory(within), ErrorKind::usage, "{} has no tokenizer: set --tokenizer", config.init);
    return text::load_tokenizer(within.string());
  }
  if (data::is_token_file(config.data.path)) {
    const data::SpecialToken mark = data::TokenFile(std::filesystem::path(config.data.path)).tokenizer();
    require(mark.path == "bytes" || std::filesystem::exists(mark.path), ErrorKind::no_input,
            "{} was made by the tokenizer {}, which no longer exists: set --tokenizer", config.data.path,
            mark.path);
    return text::load_tokenizer(mark.path);
  }
  return text::load_tokenizer("bytes");
}

std::pair<std::optional<int32_t>, std::optional<int32_t>> document_tokens(const data::TextConfig& config,
                                                                          const text::Tokenizer& tokenizer) {
  std::pair<std::optional<int32_t>, std::optional<int32_t>> marks;
  if (config.begin_token == "auto")
    marks.first = tokenizer.begin_before_text();
  else if (config.begin_token == "yes")
    marks.first = tokenizer.begin_id();
  if (config.end_token) marks.second = tokenizer.end_id();
  if (marks.first && marks.first == marks.second) marks.second.reset();
  return marks;
}

LanguageData load_language_data(LanguageModelingConfig& config, std::shared_ptr<text::Tokenizer> tokenizer) {
  LanguageData data;
  if (config.data.is_recall()) {
    data.hash = recall_hash(config.data.recall);
    return data;
  }
  data.tokenizer = std::move(tokenizer);
  const std::string path = config.tokenizer.empty() && !data.tokenizer->file().empty()
                               ? data.tokenizer->file().string()
                               : (config.tokenizer.empty() ? "bytes" : config.tokenizer);
  data.set = data::load_named_splits(config.data, *data.tokenizer, path, config.train.test);
  data.hash = data.set.hash;
  std::tie(data.begin, data.end) = document_tokens(config.data, *data.tokenizer);
  if (config.init.empty())
    config.model.vocabulary = data.tokenizer->size();
  else
    require(data.tokenizer->size() <= config.model.vocabulary, ErrorKind::data,
            "the tokenizer has {} tokens, but the model {} has {}", data.tokenizer->size(), config.init,
            config.model.vocabulary);
  return data;
}

data::RecallSample recall_sample(const LanguageModelingConfig& config, const std::string& part,
                                 int64_t index) {
  // Validation and test samples have their own streams, independent of the training seed.
  const uint64_t stream = part == "train" ? 0 : part == "validation" ? 1 : 2;
  const int64_t seed = part == "train" ? config.train.seed : config.data.split_seed;
  return data::make_recall_sample(config.data.recall, static_cast<uint64_t>(seed) ^ stream << 62,
                                  static_cast<uint64_t>(index));
}

}  // namespace modewise::tasks
