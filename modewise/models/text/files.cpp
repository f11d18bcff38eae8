#include "modewise/models/text/files.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/folder.h"
#include "modewise/core/memory.h"
#include "modewise/io/arrays/safetensors_shards.h"
#include "modewise/models/file_tensors.h"
#include "modewise/models/pretrained_head.h"
#include "modewise/models/text/text_tensors.h"
#include "modewise/text/load_tokenizer.h"

namespace modewise::models {
namespace {

namespace fs = std::filesystem;
using Part = TextTensor::Part;

/// Converts old tensor names to current transformers names: LayerNorm gamma and beta to weight and bias, the
/// model prefix on encoder tensors, and the decoder bias to the head's bias.
std::string current_name(std::string name, const std::string& kind) {
  const auto replace_end = [&](std::string_view old, std::string_view now) {
    if (name.ends_with(old)) name.replace(name.size() - old.size(), old.size(), now);
  };
  replace_end("LayerNorm.gamma", "LayerNorm.weight");
  replace_end("LayerNorm.beta", "LayerNorm.bias");
  replace_end("predictions.decoder.bias", "predictions.bias");
  replace_end("lm_head.decoder.bias", "lm_head.bias");
  for (const char* part : {"embeddings.", "encoder.", "pooler."})
    if (name.starts_with(part)) return kind + "." + name;
  return name;
}

/// The tensors of a folder under their current names.
class TextWeights {
 public:
  TextWeights(const fs::path& folder, const TextModelConfig& config) : folder_(folder), file_(folder) {
    for (io::TensorView& tensor : file_.tensors()) {
      std::string name = current_name(tensor.name, config.kind);
      found_.emplace(std::move(name), std::move(tensor));  // keeps the first of a duplicated bias
    }
  }

  /// nullptr if missing.
  const io::TensorView* find(const std::string& name) const {
    const auto entry = found_.find(name);
    return entry == found_.end() ? nullptr : &entry->second;
  }
  /// The same, checking the shape against `config`, the file's own.
  const io::TensorView* checked(const TextTensor& wanted, const TextModelConfig& config) const {
    const io::TensorView* view = find(wanted.file);
    if (view == nullptr) return nullptr;
    require(view->shape == wanted.shape, ErrorKind::data,
            "{}: according to config.json (hidden_size {}, num_attention_heads {}, intermediate_size {}, "
            "vocab_size {}, "
            "max_position_embeddings {}, type_vocab_size {}) the tensor '{}' is [{}], but its file has [{}]",
            folder_.string(), config.width, config.heads, config.hidden, config.vocabulary,
            config.position_rows(), config.types, wanted.file, fmt::join(wanted.shape, ", "),
            fmt::join(view->shape, ", "));
    check_type(*view, wanted.file);
    return view;
  }
  void check_type(const io::TensorView& view, const std::string& name) const {
    require(float_type(view.dtype).has_value(), ErrorKind::data,
            "{}: the tensor '{}' has dtype {}; supported are F32, F64, F16 and BF16", folder_.string(), name,
            view.dtype);
  }
  [[noreturn]] void lacks(const std::string& name, at::IntArrayRef shape) const {
    fail(ErrorKind::data, "{}: the weights have no tensor '{}' of shape [{}]", folder_.string(), name,
         fmt::join(shape, ", "));
  }
  /// Tensor names not in `taken`, except derived tables.
  std::vector<std::string> others(const std::set<std::string>& taken) const {
    std::vector<std::string> out;
    for (const auto& [name, view] : found_)
      if (!taken.contains(name) && !name.ends_with(".position_ids") && !name.ends_with("decoder.weight"))
        out.push_back(name);
    return out;
  }
  std::string folder() const { return folder_.string(); }

 private:
  fs::path folder_;
  io::SafetensorsFolder file_;
  std::map<std::string, io::TensorView> found_;
};

void check_text_memory(const std::vector<TextTensor>& tensors, const std::string& source) {
  double weights = 0;
  for (const TextTensor& tensor : tensors) {
    double size = 1;
    for (const int64_t n : tensor.shape) size *= static_cast<double>(n);
    weights += size;
  }
  const auto there = static_cast<double>(available_memory());
  require(4 * weights <= 0.9 * there, ErrorKind::general,
          "{}: {:.0f} weights in float32 need {}, but only {} of memory are free", source, weights,
          memory_text(4 * weights), memory_text(there));
}

/// Checks that all encoder tensors exist and match config.json, before building the model.
void check_encoder(const TextWeights& weights, const TextModelConfig& config) {
  const std::vector<TextTensor> tensors = text_tensors(config, TextHead::none, 0);
  std::set<std::string> known;
  for (const TextTensor& wanted : tensors) {
    if (weights.checked(wanted, config) == nullptr) weights.lacks(wanted.file, wanted.shape);
    known.insert(wanted.file);
  }
  for (const std::string& name : weights.others(known)) {
    const bool type = config.attention.type != "full" && name.find(".attention.") != std::string::npos;
    require(type || !(name.starts_with(config.kind + ".embeddings.") ||
                      name.starts_with(config.kind + ".encoder.")),
            ErrorKind::data, "{}: unexpected tensor '{}' for a model of {} layers", weights.folder(), name,
            config.layers);
  }
  check_text_memory(tensors, weights.folder());
}

/// Refuses an output layer that is not the word embedding, which transformers 5 loads untied.
void check_decoder(const TextWeights& weights, const TextModelConfig& config) {
  const std::string words = config.kind + ".embeddings.word_embeddings.weight";
  const std::string decoder =
      config.kind == "bert" ? "cls.predictions.decoder.weight" : "lm_head.decoder.weight";
  const io::TensorView* own = weights.find(decoder);
  require(own == nullptr || equal_views(*own, *weights.find(words)), ErrorKind::data,
          "{}: the tensor '{}' differs from '{}'; an untied output layer is not supported", weights.folder(),
          decoder, words);
}

const char* part_name(Part part) {
  return part == Part::pooler ? "the pooler" : "the head";
}

/// Reorders the rows of a loaded head: row i becomes `rows`[i].
void reorder_head(torch::nn::Module& model, const std::vector<int64_t>& rows) {
  const at::Tensor index = at::tensor(rows, at::kLong);
  for (auto& item : model.named_parameters())
    if (item.key().starts_with("output.")) item.value().copy_(item.value().index_select(0, index));
}

/// Loads the parameters of `model` that the folder has; pooler or head may be missing, and the head may be
/// for other classes than `names`.
std::vector<std::string> take_weights(torch::nn::Module& model, const TextWeights& weights,
                                      const TextFileConfig& file, const TextModelConfig& config,
                                      TextHead head, int64_t classes,
                                      const std::vector<std::string>& names = {}) {
  const at::NoGradGuard no_grad;
  auto parameters = model.named_parameters();
  if (head == TextHead::masked) check_decoder(weights, file.config);
  std::set<std::string> taken, known;
  std::set<Part> missing;
  const std::vector<TextTensor> tensors = text_tensors(config, head, classes);
  for (const TextTensor& wanted : tensors) {
    known.insert(wanted.own);
    const io::TensorView* view = weights.find(wanted.file);
    const bool fits = view != nullptr && view->shape == wanted.shape;
    if (!fits && wanted.part != Part::encoder) missing.insert(wanted.part);
    require(fits || wanted.part != Part::encoder, ErrorKind::config,
            "{}: the weights do not match: with these settings '{}' is [{}]", weights.folder(), wanted.file,
            fmt::join(wanted.shape, ", "));
  }
  if (head == TextHead::classes && file.labels.empty())
    missing.insert(Part::head);  // of another architecture
  std::vector<std::string> notes;
  for (const Part part : missing)
    notes.push_back(fmt::format("{} is newly initialized: {} has no matching one", part_name(part),
                                file.architecture.empty() ? "the folder" : file.architecture));
  HeadRows matched;
  if (!names.empty() && !missing.contains(Part::head)) {
    matched = match_head_rows(file.labels, names);
    if (!matched.rows) missing.insert(Part::head);
    if (!matched.note.empty()) notes.push_back(matched.note);
  }
  for (const TextTensor& wanted : tensors) {
    if (missing.contains(wanted.part)) continue;
    const io::TensorView* view = weights.find(wanted.file);
    weights.check_type(*view, wanted.file);
    copy_view(*view, parameters[wanted.own]);
    taken.insert(wanted.file);
  }
  if (matched.rows) reorder_head(model, *matched.rows);
  int64_t fresh = 0;
  for (const auto& item : parameters) {
    if (known.contains(item.key())) continue;
    const std::string name = form_tensor_name(config, item.key());
    const io::TensorView* view = weights.find(name);
    if (view == nullptr || view->shape != item.value().sizes().vec()) {
      ++fresh;
      continue;
    }
    weights.check_type(*view, name);
    copy_view(*view, item.value());
    taken.insert(name);
  }
  if (fresh > 0)
    notes.push_back(fmt::format("{} weights of the attention type {} are newly initialized", fresh,
                                config.attention.type));
  if (const auto others = weights.others(taken); !others.empty())
    notes.push_back(fmt::format("ignored {} tensors that this model does not use: {}{}", others.size(),
                                others[0], others.size() > 1 ? ", …" : ""));
  return notes;
}

/// Builds the complete model and loads its weights, checking the head against config.json.
template <class Model, class Make>
LoadedText<Model> load_text(const fs::path& path, TextHead head, const Make& make) {
  const fs::path folder = text_folder(path);
  LoadedText<Model> out;
  out.file = read_text_config(folder);
  require(out.file.head == head, ErrorKind::data, "{}: the architecture is {}; expected {}", folder.string(),
          out.file.architecture.empty() ? "not named" : out.file.architecture,
          head == TextHead::classes ? "a classifier (…ForSequenceClassification)"
                                    : "a masked language model (…ForMaskedLM)");
  const auto classes = static_cast<int64_t>(out.file.labels.size());
  const TextWeights weights(folder, out.file.config);
  check_encoder(weights, out.file.config);
  const std::vector<TextTensor> tensors = text_tensors(out.file.config, head, classes);
  for (const TextTensor& wanted : tensors)
    if (weights.checked(wanted, out.file.config) == nullptr) weights.lacks(wanted.file, wanted.shape);
  check_text_memory(tensors, folder.string());
  nn::Initializer init = nn::Initializer::without_values();
  out.model = make(out.file.config, classes, init);
  out.notes = take_weights(*out.model, weights, out.file, out.file.config, head, classes);
  out.tokenizer = text::find_tokenizer(folder.string(), out.notes);
  out.model->eval();
  return out;
}

std::vector<std::string> take_from(torch::nn::Module& model, const TextModelConfig& config, TextHead head,
                                   int64_t classes, const fs::path& path,
                                   const std::vector<std::string>& names = {}) {
  const fs::path folder = text_folder(path);
  const TextFileConfig file = read_text_config(folder);
  const TextWeights weights(folder, file.config);
  check_encoder(weights, file.config);
  return take_weights(model, weights, file, config, head, classes, names);
}

/// A parameter as it is saved.
at::Tensor saved_parameter(const std::string& name, const at::Tensor& parameter,
                           const SaveTextOptions& options) {
  const at::Tensor tensor = parameter.detach();
  if (!options.regression || (name != "output.weight" && name != "output.bias")) return tensor;
  const at::Tensor scaled = tensor.to(at::kDouble) * options.scale;
  return (name == "output.bias" ? scaled + options.shift : scaled).to(tensor.scalar_type());
}

/// Writes all files of a model, config.json last.
void write_files(const fs::path& folder, const torch::nn::Module& model, const TextFileConfig& file,
                 int64_t classes, const SaveTextOptions& options) {
  const bool narrow = options.dtype == "bfloat16";
  std::map<std::string, std::string> names;
  for (const TextTensor& tensor : text_tensors(file.config, file.head, classes))
    names[tensor.own] = tensor.file;
  std::vector<io::TensorSource> sources;
  for (const auto& item : model.named_parameters()) {
    const auto name = names.find(item.key());
    const at::Tensor tensor = saved_parameter(item.key(), item.value(), options);
    sources.push_back({name == names.end() ? form_tensor_name(file.config, item.key()) : name->second,
                       narrow ? "BF16" : "F32", tensor.sizes().vec(),
                       [tensor, type = narrow ? at::kBFloat16 : at::kFloat](const ByteSink& sink) {
                         give_bytes(tensor, type, sink);
                       }});
  }
  io::write_safetensors_folder(folder, sources, {{"format", "pt"}}, 5'000'000'000);
  if (options.tokenizer) {
    text::keep_tokenizer(*options.tokenizer, folder);
    text::write_tokenizer_config(*options.tokenizer, folder);
  }
  write_file_atomically(folder / "config.json", format_text_json(file, options.dtype));
}

void save_text(const fs::path& out, const torch::nn::Module& model, const TextFileConfig& file,
               int64_t classes, const SaveTextOptions& options) {
  require(!io::SafetensorsFolder::is_one(out) && !fs::exists(out / "config.json"), ErrorKind::cannot_create,
          "{} already contains a model", out.string());
  require(options.dtype == "bfloat16" || options.dtype == "float32", ErrorKind::usage,
          "models are saved as float32 or bfloat16, not as {}", options.dtype);
  write_folder_atomically(
      out, [&](const fs::path& folder) { write_files(folder, model, file, classes, options); });
}

}  // namespace

fs::path text_folder(const fs::path& path) {
  if (fs::exists(path / "config.json")) return path;
  if (fs::exists(path / "model" / "config.json")) return path / "model";
  fail(ErrorKind::no_input, "{} contains no model: neither config.json nor model/config.json exists",
       path.string());
}

TextFileConfig read_text_config(const fs::path& path) {
  const fs::path json = text_folder(path) / "config.json";
  return parse_text_json(read_file(json), json.string());
}

TextModelConfig started_text_config(const TextModelConfig& wanted) {
  if (wanted.from.empty()) return wanted.resolved();
  TextModelConfig out = read_text_config(wanted.from).config;
  out.from = wanted.from;
  out.dropout = wanted.dropout;
  out.attention_dropout = wanted.attention_dropout;
  out.head_dropout = wanted.head_dropout;
  out.precision = wanted.precision;
  out.attention = wanted.attention;
  out.validate(wanted.from);
  return out.resolved();
}

std::vector<std::string> take_text_weights(TextClassifier& model, const fs::path& path,
                                           const std::vector<std::string>& classes) {
  return take_from(model, model.config(), TextHead::classes, model.classes(), path, classes);
}

std::vector<std::string> take_text_weights(MaskedLanguageModel& model, const fs::path& path) {
  return take_from(model, model.config(), TextHead::masked, 0, path);
}

LoadedText<TextClassifier> load_text_classifier(const fs::path& path) {
  return load_text<TextClassifier>(path, TextHead::classes,
                                   [](const TextModelConfig& config, int64_t classes, nn::Initializer& init) {
                                     return std::make_shared<TextClassifier>(config, classes, init);
                                   });
}

LoadedText<MaskedLanguageModel> load_masked_language_model(const fs::path& path) {
  return load_text<MaskedLanguageModel>(path, TextHead::masked,
                                        [](const TextModelConfig& config, int64_t, nn::Initializer& init) {
                                          return std::make_shared<MaskedLanguageModel>(config, init);
                                        });
}

void save_text_model(const fs::path& folder, const TextClassifier& model, const SaveTextOptions& options) {
  TextFileConfig file{model.config(), TextHead::classes, "", options.labels, options.regression};
  const int64_t classes = model.classes();
  for (auto i = static_cast<int64_t>(file.labels.size()); i < classes; ++i)
    file.labels.push_back(fmt::format("LABEL_{}", i));
  require(static_cast<int64_t>(file.labels.size()) == classes, ErrorKind::internal,
          "{} labels for {} classes", file.labels.size(), classes);
  save_text(folder, model, file, classes, options);
}

void save_text_model(const fs::path& folder, const MaskedLanguageModel& model,
                     const SaveTextOptions& options) {
  save_text(folder, model, {model.config(), TextHead::masked, "", {}, false}, 0, options);
}

}  // namespace modewise::models
