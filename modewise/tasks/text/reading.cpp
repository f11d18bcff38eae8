#include "modewise/tasks/text/reading.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "modewise/core/counted.h"
#include "modewise/core/error.h"
#include "modewise/data/text/token_rows.h"
#include "modewise/models/text/files.h"
#include "modewise/tasks/run/idle_settings.h"
#include "modewise/tasks/run/run_figures.h"
#include "modewise/tasks/run/run_tokenizer.h"
#include "modewise/text/load_tokenizer.h"

namespace modewise::tasks {
namespace {

std::shared_ptr<text::Tokenizer> tokenizer_of(const TextTaskConfig& config) {
  if (!config.tokenizer.empty()) return text::load_tokenizer(config.tokenizer);
  require(!config.model.from.empty(), ErrorKind::usage,
          "no tokenizer: give --tokenizer FOLDER, or a pretrained model with --from FOLDER");
  return text::load_tokenizer(models::text_folder(config.model.from).string());
}

TextReading reading_with(const TextTaskConfig& config, std::shared_ptr<text::Tokenizer> tokenizer) {
  TextReading reading{std::move(tokenizer), {}, config.data.length};
  reading.frame = text::text_frame(*reading.tokenizer);
  if (reading.length > 0) return reading;
  const int64_t own = reading.tokenizer->truncation().max_length;
  reading.length = own > 0 ? std::min(own, config.model.positions) : config.model.positions;
  return reading;
}

/// Extends a position embedding table: the `first` rows stay, the others are repeated block-wise or
/// interpolated linearly with aligned ends.
at::Tensor more_positions(const at::Tensor& table, int64_t first, int64_t rows, bool stretch) {
  const int64_t known = table.size(0) - first, wanted = rows - first;
  at::Tensor out = table.new_empty({rows, table.size(1)});
  out.narrow(0, 0, first).copy_(table.narrow(0, 0, first));
  for (int64_t i = 0; i < wanted; ++i) {
    const double place = stretch ? static_cast<double>(i) * static_cast<double>(known - 1) /
                                       static_cast<double>(std::max<int64_t>(wanted - 1, 1))
                                 : static_cast<double>(i % known);
    const auto low = std::min(static_cast<int64_t>(std::floor(place)), known - 1);
    const double part = place - static_cast<double>(low);
    at::Tensor row = table[first + low] * (1 - part);
    if (part > 0) row = row + table[first + low + 1] * part;
    out[first + i].copy_(row);
  }
  return out;
}

/// Copies all parameters, and extends the position embeddings.
template <class Model>
void take_longer(const TextTaskConfig& config, const Model& shorter, Model& longer) {
  const at::NoGradGuard no_grad;
  const auto from = shorter.named_parameters();
  for (auto& item : longer.named_parameters()) {
    const at::Tensor* had = from.find(item.key());
    if (had == nullptr) continue;  // parameter of the attention type
    if (item.key() == "encoder.positions.weight") {
      const int64_t first = longer.config().position_rows() - longer.config().positions;
      item.value().copy_(more_positions(*had, first, item.value().size(0), config.text.longer == "stretch"));
    } else if (had->sizes() == item.value().sizes()) {
      item.value().copy_(*had);
    }
  }
}

/// `take(model, folder)` loads the weights of a folder into a model of its number of positions.
template <class Model, class Make, class Take>
void start_from(const TextTaskConfig& config, Model& model, const Make& make, const Take& take) {
  if (config.model.from.empty()) return;
  const int64_t known = models::read_text_config(config.model.from).config.positions;
  std::vector<std::string> notes;
  if (known == config.model.positions) {
    notes = take(model, config.model.from);
  } else {
    models::TextModelConfig own = config.model;
    own.positions = known;
    const auto shorter = make(own);
    notes = take(*shorter, config.model.from);
    take_longer(config, *shorter, model);
    notes.push_back(fmt::format("the embeddings of {} positions were {} to {}", known,
                                config.text.longer == "stretch" ? "stretched" : "repeated",
                                config.model.positions));
  }
  for (const std::string& note : notes) spdlog::info("{}: {}", config.model.from, note);
}

/// Whether a sample may have more than `limit` tokens; an ASCII text has one for each byte at most, and one
/// for the space that some tokenizers prepend.
bool may_be_cut(const data::TextSet& set, int64_t sample, int64_t limit) {
  const auto i = static_cast<size_t>(sample);
  int64_t max_tokens = 0;
  for (const std::string_view text : {set.first[i], set.pairs() ? set.second[i] : std::string_view()}) {
    if (!std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) return true;
    max_tokens += std::ssize(text) + 1;
  }
  return max_tokens > limit;
}

}  // namespace

text::FramedText TextReading::framed(const data::TextSet& set, int64_t sample) const {
  const auto i = static_cast<size_t>(sample);
  const auto second = set.pairs() ? std::optional(set.second[i]) : std::nullopt;
  try {
    return text::frame_text(*tokenizer, frame, set.first[i], second, length);
  } catch (const Error& error) {
    fail(error.kind(), "{}: {}: {}", set.source, set.called(sample), error.what());
  }
}

models::TextInput TextReading::input(const data::TextSet& set, std::span<const int64_t> samples) const {
  std::vector<text::FramedText> rows;
  for (const int64_t i : samples) rows.push_back(framed(set, i));
  const data::TokenRows batch = data::side_by_side(rows, *frame.padding);
  return {batch.ids, batch.mask, batch.types};
}

void TextReading::warn_of_cuts(data::TextSet& set) const {
  const std::vector<text::TextFrame::Item>& items = set.pairs() ? frame.pair : frame.single;
  int64_t cut = 0;
  for (int64_t i = 0; i < set.count(); ++i)
    if (may_be_cut(set, i, length - std::ssize(items)) && framed(set, i).left_out > 0) ++cut;
  if (cut > 0)
    data::add_warning(
        set, fmt::format("{}: {} of {} {} {} cut to {} tokens (data.length)", set.source, cut, set.count(),
                         set.pairs() ? "pairs of texts" : "texts", is_or_are(cut), length));
}

NamedTexts TextReading::spread(const data::TextSet& set, const std::string& split, int64_t count) const {
  const std::vector<int64_t> samples = set.split(split);
  require(!samples.empty(), ErrorKind::data, "{}: {}", set.source, set.no_samples(split));
  NamedTexts texts;
  for (const int64_t i : spread_samples(std::ssize(samples), count)) {
    const int64_t sample = samples[static_cast<size_t>(i)];
    texts.emplace_back(set.called(sample), framed(set, sample));
  }
  return texts;
}

/// Config error for changed model settings that the pretrained model or the tokenizer overrides.
void refuse_overridden(TextTaskConfig wanted, TextTaskConfig config) {
  TextTaskConfig plain;
  const Fields given = fields_of(wanted), usual = fields_of(plain), used = fields_of(config);
  for (const Field& field : given.list()) {
    const std::string text = Fields::value_text(field),
                      has = Fields::value_text(*find_field(used, field.path));
    require(!field.path.starts_with("model.") || text == has ||
                text == Fields::value_text(*find_field(usual, field.path)),
            ErrorKind::config, "{} = {} has no effect: {} has {}; leave it out", field.path, text,
            config.model.from.empty() ? "the tokenizer" : "model.from", has);
  }
}

TextReading begin_reading(TextTaskConfig& config) {
  const TextTaskConfig wanted = config;
  std::shared_ptr<text::Tokenizer> tokenizer = tokenizer_of(config);
  const text::TextFrame frame = text::text_frame(*tokenizer);
  const bool scratch = config.model.from.empty();
  if (scratch) {
    config.model.vocabulary = frame.size;
    config.model.padding_id = *frame.padding;
  }
  config.model = models::started_text_config(config.model);
  models::TextModelConfig& model = config.model;
  require(frame.size <= model.vocabulary, ErrorKind::data,
          "the tokenizer ({}) has {} tokens, but the model {} has {}", tokenizer->name(), frame.size,
          model.from, model.vocabulary);
  require(*frame.padding == model.padding_id, ErrorKind::data,
          "the tokenizer ({}) pads with token {}, but the model {} with {}", tokenizer->name(),
          *frame.padding, model.from, model.padding_id);
  if (config.data.length > model.positions) {
    require(
        scratch || config.text.longer != "cut", ErrorKind::config,
        "data.length = {} exceeds the {} positions of {}: text.longer = \"repeat\" or \"stretch\" extends "
        "them",
        config.data.length, model.positions, model.from);
    model.positions = config.data.length;
  }
  refuse_overridden(wanted, config);
  return reading_with(config, std::move(tokenizer));
}

TextReading run_reading(const TextTaskConfig& config, const train::RunFolder& folder) {
  return reading_with(config, run_tokenizer(folder));
}

TextReading training_reading(TextTaskConfig& config, const Run& run) {
  const bool kept = run.has_folder() && std::filesystem::is_directory(run.folder().file("tokenizer"));
  return kept ? run_reading(config, run.folder()) : begin_reading(config);
}

double layer_rate(const TextTaskConfig& config, std::string_view parameter) {
  constexpr std::string_view kLayers = "encoder.layers.";
  const size_t at = parameter.find(kLayers);
  const auto layers = static_cast<double>(config.model.layers);
  if (at != std::string_view::npos) {
    const auto layer = std::stod(std::string(parameter.substr(at + kLayers.size())));
    return std::pow(config.text.layer_decay, layers - layer);
  }
  for (const char* code : {"encoder.words.", "encoder.positions.", "encoder.types.", "encoder.norm."})
    if (parameter.find(code) != std::string_view::npos) return std::pow(config.text.layer_decay, layers + 1);
  return 1;
}

void start_weights(const TextTaskConfig& config, models::TextClassifier& model,
                   const std::vector<std::string>& classes) {
  const auto make = [&](const models::TextModelConfig& own) {
    return models::make_text_classifier(own, model.classes(), static_cast<uint64_t>(config.train.seed));
  };
  start_from(config, model, make, [&](models::TextClassifier& into, const std::string& folder) {
    return models::take_text_weights(into, folder, classes);
  });
}

void start_weights(const TextTaskConfig& config, models::MaskedLanguageModel& model) {
  const auto make = [&](const models::TextModelConfig& own) {
    return models::make_masked_language_model(own, static_cast<uint64_t>(config.train.seed));
  };
  start_from(config, model, make, [](models::MaskedLanguageModel& into, const std::string& folder) {
    return models::take_text_weights(into, folder);
  });
}

}  // namespace modewise::tasks
