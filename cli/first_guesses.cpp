#include "cli/first_guesses.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "modewise/core/escaped_text.h"
#include "modewise/io/ascii.h"

namespace modewise::cli {

namespace fs = std::filesystem;

namespace {

struct Guess {
  std::string_view word, answer;
};

constexpr Guess kCommands[] = {
    {"benchmark", "modewise cost measures attention, modewise compare RUN … compares runs"},
    {"chat", "modewise generate RUN --prompt TEXT continues a text"},
    {"classify", "modewise train classify-series, classify-images or classify-volumes trains a classifier"},
    {"deploy",
     "modewise predict RUN predicts with a run, modewise.load(RUN) gives its torch module in Python"},
    {"describe", "modewise data show FILE describes data"},
    {"doctor", "modewise info prints the build, the CPU and the kernels"},
    {"env", "modewise info prints the build, the CPU and the kernels"},
    {"eval", "modewise evaluate RUN evaluates a run"},
    {"export",
     "modewise convert RUN FOLDER writes a language model in Hugging Face's layout, modewise.load(RUN) gives "
     "the torch module of any run in Python"},
    {"fine-tune", "modewise train TASK --init RUN continues from the weights of a run"},
    {"finetune", "modewise train TASK --init RUN continues from the weights of a run"},
    {"fit", "modewise train DATA trains a model"},
    {"forecast", "modewise train forecast DATA trains a forecaster, modewise predict RUN then forecasts"},
    {"gpu", "--device cuda runs a command on a GPU, docs/gpu.md says what it needs"},
    {"infer", "modewise predict RUN predicts with a run"},
    {"inspect", "modewise data show FILE describes data, modewise info RUN a run"},
    {"list", "modewise compare runs/* lists finished runs"},
    {"list-models", "modewise train TASK --help names the models of a task, docs/models.md describes them"},
    {"models", "modewise train TASK --help names the models of a task, docs/models.md describes them"},
    {"plot", "modewise report RUN draws a run, modewise explain RUN its attention"},
    {"preprocess",
     "modewise train DATA reads and scales data itself, modewise data show FILE describes data"},
    {"quickstart", "modewise demo trains and compares models on simulated data"},
    {"resume", "modewise train --resume RUN resumes a run"},
    {"run", "modewise train DATA trains a model, modewise predict RUN predicts with it"},
    {"search",
     "modewise train forecast DATA --model auto searches for a model, modewise sweep FILE trains a grid"},
    {"segment", "modewise train segment DATA trains a segmenter, modewise predict RUN then predicts"},
    {"serve",
     "modewise predict RUN predicts with a run, modewise.load(RUN) gives its torch module in Python"},
    {"show", "modewise data show FILE describes data, modewise config show TASK lists settings"},
    {"test", "modewise evaluate RUN evaluates the test split of a run"},
    {"tune",
     "modewise train forecast DATA --model auto searches for a model, modewise sweep FILE trains a grid"},
    {"validate", "modewise evaluate RUN --split validation evaluates the validation split"},
    {"version", "modewise --version"},
    {"visualize", "modewise report RUN draws a run, modewise explain RUN its attention"},
};

// Options of other programs: an option here, or settings, of which the command has one or none.
constexpr Guess kOptions[] = {
    {"b", "--batch-size"},
    {"bs", "train.batch_size"},
    {"checkpoint", "--init"},
    {"ckpt", "--init"},
    {"context_length", "forecast.lookback"},
    {"cpu", "--device cpu"},
    {"csv", "--data"},
    {"cuda", "--device cuda"},
    {"d_ff", "model.hidden"},
    {"d_model", "model.width"},
    {"dataset", "--data"},
    {"date_col", "data.time_column"},
    {"date_column", "data.time_column"},
    {"ds", "data.time_column"},
    {"e", "--epochs"},
    {"e_layers", "model.layers"},
    {"early_stopping", "train.patience"},
    {"early_stopping_patience", "train.patience"},
    {"embed_dim", "model.width"},
    {"experiment", "--out"},
    {"file", "--data"},
    {"force", "--overwrite"},
    {"futr_exog_list", "data.future_covariates"},
    {"gpu", "--device cuda"},
    {"gradient_accumulation_steps", "train.accumulate"},
    {"gradient_checkpointing", "train.recompute"},
    {"h", "forecast.horizon"},
    {"hidden_size", "model.width"},
    {"id_col", "data.id"},
    {"input", "--data"},
    {"input_chunk_length", "forecast.lookback"},
    {"input_size", "forecast.lookback"},
    {"learning_rate", "--lr"},
    {"log_level", "--verbose"},
    {"max_epochs", "--epochs"},
    {"max_new_tokens", "--tokens"},
    {"model", "--run"},
    {"n_epochs", "--epochs"},
    {"n_heads", "model.heads"},
    {"n_jobs", "--threads"},
    {"name", "--out"},
    {"no_cuda", "--device cpu"},
    {"no_gpu", "--device cpu"},
    {"num_beams", "--beam-size"},
    {"num_epochs", "--epochs"},
    {"num_heads", "model.heads"},
    {"num_layers", "model.layers"},
    {"num_threads", "--threads"},
    {"num_workers", "--threads"},
    {"o", "--out"},
    {"output", "--out"},
    {"output_chunk_length", "forecast.horizon"},
    {"output_dir", "--out"},
    {"per_device_train_batch_size", "--batch-size"},
    {"pred_len", "forecast.horizon"},
    {"prediction_length", "forecast.horizon"},
    {"pretrained", "--init"},
    {"random_state", "--seed"},
    {"save_dir", "--out"},
    {"season", "model.period"},
    {"season_length", "model.period"},
    {"seasonality", "model.period"},
    {"seq_len", "forecast.lookback"},
    {"stat_exog_list", "data.static_covariates"},
    {"steps", "train.max_steps"},
    {"target", "data.columns"},
    {"target_cols", "data.columns"},
    {"test_size", "data.split_ratios=[0.7, 0.1, 0.2]"},
    {"time_col", "data.time_column"},
    {"train", "--data"},
    {"train_epochs", "--epochs"},
    {"train_size", "data.split_ratios=[0.7, 0.1, 0.2]"},
    {"unique_id", "data.id"},
    {"use_gpu", "--device cuda"},
    {"V", "--version"},
    {"v", "--version"},
    {"val_split", "data.split_ratios=[0.7, 0.1, 0.2]"},
    {"validation_split", "data.split_ratios=[0.7, 0.1, 0.2]"},
    {"wd", "train.optimizer.weight_decay"},
    {"weights", "--init"},
    {"workers", "--threads"},
};

/// "--set KEY=value" if the value, in lower case, is one of `values`, else what the key may be.
std::string one_of(const std::string& key, const std::string& value, const std::vector<std::string>& values) {
  const std::string known = io::to_lower(value);
  if (std::ranges::find(values, known) != values.end()) return fmt::format("--set {}={} sets it", key, known);
  return fmt::format("--set {}=… sets it: {}", key, fmt::join(values, ", "));
}

std::string loss_answer(const std::string& value) {
  return one_of("forecast.loss", value, {"mae", "mse", "huber", "quantile"});
}

std::string optimizer_answer(const std::string& value) {
  return one_of("train.optimizer.name", value, {"adamw", "adam"});
}

std::string schedule_answer(const std::string& value) {
  return one_of("train.schedule.name", value, {"constant", "cosine", "step", "type1", "one_cycle"});
}

std::string features_answer(const std::string& value) {
  const std::string which = io::to_lower(value);
  if (which == "m") return "all columns are forecast by default";
  if (which == "s") return "--set data.columns=NAME forecasts one column";
  return "all columns are forecast; --set data.future_covariates=NAME,… names future "
         "covariates";
}

std::string frequency_answer(const std::string& value) {
  return fmt::format("the time step is found in the dates; --set data.resample={} pools the rows to another",
                     value.empty() ? "…" : value);
}

/// Intervals of 80 and 95 % of "80,95", "[80, 95]" or "0.8 0.95".
std::string level_answer(const std::string& value) {
  std::set<double> levels;
  for (const char* at = value.c_str(); *at != '\0';) {
    char* end = nullptr;
    const double number = std::strtod(at, &end);
    if (end == at) {
      ++at;
      continue;
    }
    at = end;
    const double share = number > 1 ? number / 100 : number;
    if (share > 0 && share < 1) levels.insert(share);
  }
  if (levels.empty()) levels = {0.8};
  std::set<double> quantiles = {0.5};
  for (const double level : levels)
    for (const double side : {-1.0, 1.0}) quantiles.insert(std::round((0.5 + side * level / 2) * 1e6) / 1e6);
  return fmt::format(
      "--set calibration.intervals={} calibrates such intervals; --set forecast.loss=quantile --set "
      "'forecast.quantiles=[{}]' trains their quantiles",
      fmt::join(levels, ","), fmt::join(quantiles, ", "));
}

std::string history_answer(const std::string& /*value*/) {
  return "there is no counterpart: a column that is not a future covariate is forecast, too, or left out by "
         "--set "
         "data.drop=NAME";
}

std::string decoder_answer(const std::string& /*value*/) {
  return "there is no counterpart: no model has a decoder input";
}

// Options whose values differ, too; the command must have the setting.
constexpr struct {
  std::string_view word, key;
  std::string (*answer)(const std::string& value);
} kTranslated[] = {
    {"confidence", "forecast.quantiles", level_answer},
    {"features", "data.columns", features_answer},
    {"freq", "data.resample", frequency_answer},
    {"hist_exog_list", "data.drop", history_answer},
    {"interval", "forecast.quantiles", level_answer},
    {"label_len", "forecast.lookback", decoder_answer},
    {"level", "forecast.quantiles", level_answer},
    {"loss", "forecast.loss", loss_answer},
    {"loss_fn", "forecast.loss", loss_answer},
    {"lradj", "train.schedule.name", schedule_answer},
    {"lr_scheduler", "train.schedule.name", schedule_answer},
    {"optimizer", "train.optimizer.name", optimizer_answer},
    {"scheduler", "train.schedule.name", schedule_answer},
};

// Options without a counterpart, of the command that has `option`.
constexpr struct {
  std::string_view word, option, answer;
} kMissing[] = {
    {"beam_size", "--temperature",
     "generate has no beam search: it samples, or decodes greedily with --temperature 0"},
    {"best_of", "--temperature", "generate draws one text: run it with --seed 1, --seed 2, … for several"},
    {"do_sample", "--temperature", "generate samples unless --temperature is 0"},
    {"n", "--temperature", "generate draws one text: run it with --seed 1, --seed 2, … for several"},
    {"num_beams", "--temperature",
     "generate has no beam search: it samples, or decodes greedily with --temperature 0"},
    {"num_return_sequences", "--temperature",
     "generate draws one text: run it with --seed 1, --seed 2, … for several"},
    {"num_samples", "--temperature",
     "generate draws one text: run it with --seed 1, --seed 2, … for several"},
};

/// The answer to `word`; "": none.
template <size_t N>
std::string_view answer_to(const Guess (&rows)[N], std::string_view word) {
  const auto* row = std::find_if(rows, rows + N, [&](const Guess& guess) { return guess.word == word; });
  return row == rows + N ? std::string_view() : row->answer;
}

/// Keys whose last part is `name`, those of few parts first.
std::vector<std::string> keys_named(const std::vector<std::string>& settings, const std::string& name) {
  std::vector<std::string> keys;
  for (const std::string& key : settings)
    if (key == name || key.ends_with("." + name)) keys.push_back(key);
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

std::string argument_hint(std::string_view word, const std::vector<std::string>& settings) {
  if (settings.empty()) {
    if (const std::string_view answer = answer_to(kCommands, word); !answer.empty())
      return fmt::format(" ({})", answer);
    std::error_code error;
    return fs::exists(word, error)
               ? fmt::format(" (modewise train {0}, modewise data show {0})", command_word(std::string(word)))
               : "";
  }
  const std::string_view name = word.substr(0, word.find('='));
  const std::vector<std::string> keys = keys_named(settings, std::string(name));
  if (name.size() == word.size() || keys.empty()) return "";
  return fmt::format(" (--set {}{} sets it)", keys.front(), word.substr(name.size()));
}

std::string option_hint(std::string_view option, std::string_view value,
                        const std::vector<std::string>& options, const std::vector<std::string>& settings) {
  option.remove_prefix(std::min(option.find_first_not_of('-'), option.size()));
  std::string name(option);
  std::replace(name.begin(), name.end(), '-', '_');
  const std::string_view answer = answer_to(kOptions, name);
  const std::string_view its_option = answer.substr(0, answer.find(' '));  // "--device cuda"
  if (std::find(options.begin(), options.end(), its_option) != options.end())
    return fmt::format(" (the option is {})", answer);
  for (const auto& row : kTranslated)
    if (row.word == name && std::find(settings.begin(), settings.end(), row.key) != settings.end())
      return fmt::format(" ({})", row.answer(std::string(value)));
  for (const auto& row : kMissing)
    if (row.word == name && std::find(options.begin(), options.end(), row.option) != options.end())
      return fmt::format(" ({})", row.answer);
  if (const std::string_view command = answer_to(kCommands, option); settings.empty() && !command.empty())
    return fmt::format(" ({})", command);
  const std::string_view key = answer.substr(0, answer.find('='));  // "data.split_ratios=[0.7, 0.1, 0.2]"
  const bool has_key = std::find(settings.begin(), settings.end(), key) != settings.end();
  if (has_key && key.size() < answer.size()) return fmt::format(" (--set '{}' sets it)", answer);
  std::vector<std::string> keys = keys_named(settings, name);
  if (has_key) keys = {std::string(key)};
  constexpr size_t kShown = 3;
  if (keys.empty()) return "";
  keys.resize(std::min(keys.size(), kShown));
  for (std::string& one : keys) one = fmt::format("--set {}={}", one, value.empty() ? "…" : value);
  return fmt::format(" ({} sets it)", fmt::join(keys, " or "));
}

}  // namespace modewise::cli
