#include "cli/first_guesses.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace modewise::cli {
namespace {

struct Guess {
  std::string_view word, answer;
};

constexpr Guess kCommands[] = {
    {"benchmark", "modewise cost measures attention, modewise compare RUN … compares runs"},
    {"classify", "modewise train classify-series, classify-images or classify-volumes trains a classifier"},
    {"describe", "modewise data show FILE describes data"},
    {"eval", "modewise evaluate RUN evaluates a run"},
    {"finetune", "modewise train TASK --init RUN continues from the weights of a run"},
    {"fine-tune", "modewise train TASK --init RUN continues from the weights of a run"},
    {"fit", "modewise train DATA trains a model"},
    {"forecast", "modewise train forecast DATA trains a forecaster, modewise predict RUN then forecasts"},
    {"infer", "modewise predict RUN predicts with a run"},
    {"inspect", "modewise data show FILE describes data, modewise info RUN a run"},
    {"list", "modewise compare runs/* lists finished runs"},
    {"resume", "modewise train --resume RUN resumes a run"},
    {"run", "modewise train DATA trains a model, modewise predict RUN predicts with it"},
    {"search",
     "modewise train forecast DATA --model auto searches for a model, modewise sweep FILE trains a grid"},
    {"segment", "modewise train segment DATA trains a segmenter, modewise predict RUN then predicts"},
    {"show", "modewise data show FILE describes data, modewise config show TASK lists settings"},
    {"test", "modewise evaluate RUN evaluates the test split of a run"},
    {"tune",
     "modewise train forecast DATA --model auto searches for a model, modewise sweep FILE trains a grid"},
    {"validate", "modewise evaluate RUN --split validation evaluates the validation split"},
    {"version", "modewise --version"},
};

// Options of other programs: an option here, or settings, of which the command has one or none.
constexpr Guess kOptions[] = {
    {"bs", "train.batch_size"},
    {"context_length", "forecast.lookback"},
    {"d_ff", "model.hidden"},
    {"d_model", "model.width"},
    {"e_layers", "model.layers"},
    {"embed_dim", "model.width"},
    {"file", "--data"},
    {"force", "--overwrite"},
    {"freq", "data.resample"},
    {"h", "forecast.horizon"},
    {"hidden_size", "model.width"},
    {"input", "--data"},
    {"input_size", "forecast.lookback"},
    {"loss_fn", "forecast.loss"},
    {"max_epochs", "train.epochs"},
    {"n_heads", "model.heads"},
    {"num_epochs", "train.epochs"},
    {"num_heads", "model.heads"},
    {"num_layers", "model.layers"},
    {"output", "--out"},
    {"output_dir", "--out"},
    {"pred_len", "forecast.horizon"},
    {"prediction_length", "forecast.horizon"},
    {"random_state", "--seed"},
    {"save_dir", "--out"},
    {"seq_len", "forecast.lookback"},
    {"steps", "train.max_steps"},
    {"target", "data.columns"},
    {"train", "--data"},
    {"wd", "train.optimizer.weight_decay"},
};

/// The answer to `word`; "": none.
template <size_t N>
std::string_view answer_to(const Guess (&rows)[N], std::string_view word) {
  const auto* row = std::find_if(rows, rows + N, [&](const Guess& guess) { return guess.word == word; });
  return row == rows + N ? std::string_view() : row->answer;
}

bool has_key(const Fields& settings, std::string_view key) {
  return std::any_of(settings.list().begin(), settings.list().end(),
                     [&](const Field& field) { return field.path == key; });
}

/// Keys whose last part is `name`, those of few parts first.
std::vector<std::string> keys_named(const Fields& settings, const std::string& name) {
  std::vector<std::string> keys;
  for (const Field& field : settings.list())
    if (field.path == name || field.path.ends_with("." + name)) keys.push_back(field.path);
  std::stable_sort(keys.begin(), keys.end(), [](const std::string& a, const std::string& b) {
    return std::count(a.begin(), a.end(), '.') < std::count(b.begin(), b.end(), '.');
  });
  return keys;
}

}  // namespace

std::vector<std::string> with_help_option(std::vector<std::string> command_line) {
  if (command_line.size() >= 2 && command_line[1] == "help") {
    command_line.erase(command_line.begin() + 1);
    command_line.emplace_back("--help");
  }
  return command_line;
}

std::string command_hint(std::string_view word) {
  const std::string_view answer = answer_to(kCommands, word);
  return answer.empty() ? std::string() : fmt::format(" ({})", answer);
}

std::string option_hint(std::string_view option, std::string_view value,
                        const std::vector<std::string>& options, const Fields& settings) {
  option.remove_prefix(std::min(option.find_first_not_of('-'), option.size()));
  std::string name(option);
  std::replace(name.begin(), name.end(), '-', '_');
  const std::string_view answer = answer_to(kOptions, name);
  if (std::find(options.begin(), options.end(), answer) != options.end())
    return fmt::format(" (the option is {})", answer);
  std::vector<std::string> keys = keys_named(settings, name);
  if (!answer.empty() && has_key(settings, answer)) keys = {std::string(answer)};
  constexpr size_t kShown = 3;
  if (keys.empty()) return "";
  keys.resize(std::min(keys.size(), kShown));
  for (std::string& key : keys) key = fmt::format("--set {}={}", key, value.empty() ? "…" : value);
  return fmt::format(" ({} sets it)", fmt::join(keys, " or "));
}

}  // namespace modewise::cli
