#include "modewise/tasks/language_modeling/question_task.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "modewise/core/build_info.h"
#include "modewise/core/data_files.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/nearest_name.h"
#include "modewise/core/parse_json.h"
#include "modewise/metrics/answer_metrics.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Object = nlohmann::json;

struct Question {
  Object object;
  std::string place;  // file:line
};

std::vector<Question> read_objects(const fs::path& path) {
  const std::string text = read_file(path);
  std::vector<Question> out;
  int64_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string place = fmt::format("{}:{}", path.string(), number);
    Question one{parse_json<Object>(line, place), place};
    require(one.object.is_object(), ErrorKind::data, "{}: a line must be a JSON object", one.place);
    out.push_back(std::move(one));
  }
  require(!out.empty(), ErrorKind::data, "{} has no questions", path.string());
  return out;
}

const Object& field_of(const Question& question, const std::string& path) {
  const Object* at = &question.object;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    const std::string key = path.substr(begin, end - begin);
    begin = end + 1;
    const bool number =
        !key.empty() && key.size() < 10 && key.find_first_not_of("0123456789") == std::string::npos;
    if (at->is_array() && number && std::stoul(key) < at->size())
      at = &(*at)[std::stoul(key)];
    else if (at->is_object() && at->contains(key))
      at = &(*at)[key];
    else
      fail(ErrorKind::data, "{}: the object has no field '{}'", question.place, path);
  }
  return *at;
}

std::string scalar_text(const Object& value, const std::string& place) {
  if (value.is_string()) return value.get<std::string>();
  require(value.is_primitive() && !value.is_null(), ErrorKind::data,
          "{}: expected a text or a number, got {}", place, value.dump().substr(0, 40));
  return value.dump();
}

std::string stripped(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

/// Replaces every `from` by `to`, left to right.
std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  for (size_t begin = 0;;) {
    const size_t at = text.find(from, begin);
    out += text.substr(begin, at - begin);
    if (at == std::string_view::npos) return out;
    out += to;
    begin = at + from.size();
  }
}

std::string without_brackets(std::string_view text) {
  std::string out;
  for (size_t begin = 0;;) {
    const size_t open = std::min(text.find('[', begin), text.size()), close = text.find(']', open);
    if (close == std::string_view::npos) return out += text.substr(begin);
    out += text.substr(begin, open - begin);
    begin = close + 1;
  }
}

/// lm-eval's clean-up of HellaSwag's WikiHow texts: " [title]" becomes a full stop, other brackets are
/// removed.
std::string bracketless(const std::string& text) {
  return replaced(without_brackets(replaced(stripped(text), " [title]", ". ")), "  ", " ");
}

std::string filtered(std::string text, const std::string& filter, const std::string& source) {
  const auto part = [&](size_t prefix, bool before) {
    const std::string mark = filter.substr(prefix);
    const size_t at = text.find(mark);
    if (at == std::string::npos) return before ? text : std::string();
    return before ? text.substr(0, at) : text.substr(at + mark.size());
  };
  if (filter == "strip") return stripped(text);
  if (filter == "bracketless") return bracketless(text);
  if (filter.starts_with("before:")) return part(7, true);
  if (filter.starts_with("after:")) return part(6, false);
  if (filter == "spaces") {
    std::ranges::replace(text, '_', ' ');
    return text;
  }
  require(filter == "lower" || filter == "capitalize", ErrorKind::config,
          "{}: there is no filter '{}' (there are strip, lower, capitalize, spaces, before:TEXT, after:TEXT, "
          "bracketless)",
          source, filter);
  for (size_t i = 0; i < text.size(); ++i) {
    char& c = text[i];
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    if (i == 0 && filter == "capitalize" && c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  }
  return text;
}

/// Template with one text per element of its lists; one text without lists.
class Template {
 public:
  Template(std::string text, std::string source) : text_(std::move(text)), source_(std::move(source)) {}

  std::vector<std::string> texts(const Question& question) const {
    std::vector<std::string> out = {""};
    for (size_t i = 0; i < text_.size();) {
      const char c = text_[i];
      if ((c == '{' || c == '}') && i + 1 < text_.size() && text_[i + 1] == c) {
        append(out, {std::string(1, c)}, question);
        i += 2;
        continue;
      }
      if (c != '{') {
        append(out, {std::string(1, c)}, question);
        ++i;
        continue;
      }
      const size_t close = text_.find('}', i);
      require(close != std::string::npos, ErrorKind::config, "{}: a brace is not closed in \"{}\"", source_,
              text_);
      append(out, values(question, text_.substr(i + 1, close - i - 1)), question);
      i = close + 1;
    }
    return out;
  }

  std::string text(const Question& question) const {
    std::vector<std::string> all = texts(question);
    require(all.size() == 1, ErrorKind::data, "{}: \"{}\" must give one text, got {}", question.place, text_,
            all.size());
    return all.front();
  }

 private:
  std::vector<std::string> values(const Question& question, const std::string& inner) const {
    std::vector<std::string> parts;
    for (size_t begin = 0; begin <= inner.size();) {
      const size_t end = std::min(inner.find('|', begin), inner.size());
      parts.push_back(inner.substr(begin, end - begin));
      begin = end + 1;
    }
    const Object& field = field_of(question, parts.front());
    std::vector<std::string> out;
    if (field.is_array())
      for (const Object& one : field) out.push_back(scalar_text(one, question.place));
    else
      out.push_back(scalar_text(field, question.place));
    for (size_t i = 1; i < parts.size(); ++i)
      for (std::string& one : out) one = filtered(one, parts[i], source_);
    return out;
  }

  static void append(std::vector<std::string>& out, const std::vector<std::string>& more,
                     const Question& question) {
    if (more.size() == 1) {
      for (std::string& one : out) one += more.front();
      return;
    }
    require(out.size() == 1 || out.size() == more.size(), ErrorKind::data,
            "{}: two lists of different lengths, {} and {}, in one template", question.place, out.size(),
            more.size());
    if (out.size() == 1) out.assign(more.size(), out.front());
    for (size_t i = 0; i < more.size(); ++i) out[i] += more[i];
  }

  std::string text_, source_;
};

/// The context of the options, or the prompt, after the task's filters.
std::string context_text(const QuestionTask& task, const Question& question, const std::string& source) {
  std::string text = Template(task.context, source).text(question);
  for (const std::string& filter : task.context_filters) text = filtered(std::move(text), filter, source);
  return text;
}

std::vector<std::string> all_texts(const std::vector<std::string>& templates, const Question& question,
                                   const std::string& source) {
  std::vector<std::string> out;
  for (const std::string& one : templates)
    for (std::string& text : Template(one, source).texts(question)) out.push_back(std::move(text));
  return out;
}

int64_t right_option(const QuestionTask& task, const Question& question,
                     const std::vector<std::string>& options, const std::string& source) {
  const std::string answer = stripped(Template(task.answer, source).text(question));
  int64_t index = -1;
  if (task.answer_kind == "text") {
    const auto found = std::find(options.begin(), options.end(), answer);
    if (found != options.end()) index = found - options.begin();
  } else if (task.answer_kind == "letter") {
    if (answer.size() == 1) index = (answer.front() | 32) - 'a';
  } else if (!answer.empty() && answer.size() < 10 &&
             answer.find_first_not_of("0123456789") == std::string::npos) {
    index = std::stol(answer) - (task.answer_kind == "one" ? 1 : 0);
  }
  require(index >= 0 && index < std::ssize(options), ErrorKind::data,
          "{}: the answer '{}' (answer_kind = \"{}\") is not one of {} options", question.place,
          answer.substr(0, 60), task.answer_kind, options.size());
  return index;
}

ChoiceItem choice_item(const QuestionTask& task, const Question& question, const std::string& source) {
  ChoiceItem item;
  item.options = all_texts(task.choices, question, source);
  if (task.contexts.empty()) {
    item.contexts.assign(item.options.size(), context_text(task, question, source));
  } else {
    item.contexts = all_texts(task.contexts, question, source);
    if (item.options.size() == 1) item.options.assign(item.contexts.size(), item.options.front());
    require(item.contexts.size() == item.options.size(), ErrorKind::data, "{}: {} contexts but {} options",
            question.place, item.contexts.size(), item.options.size());
  }
  require(item.options.size() >= 2, ErrorKind::data, "{}: a choice needs at least two options, got {}",
          question.place, item.options.size());
  const bool by_context = !task.contexts.empty();
  item.right = right_option(task, question, by_context ? item.contexts : item.options, source);
  for (std::string& option : item.options) {
    item.lengths.push_back(std::ssize(metrics::code_points(option)));
    option = task.separator + option;
  }
  return item;
}

GenerateItem generate_item(const QuestionTask& task, const Question& question, const std::string& source) {
  GenerateItem item;
  item.prompt = context_text(task, question, source);
  item.answers = task.answers.empty() ? std::vector<std::string>{Template(task.answer, source).text(question)}
                                      : all_texts(task.answers, question, source);
  require(!item.answers.empty(), ErrorKind::data, "{}: the question has no answer: its list is empty",
          question.place);
  item.classes = all_texts(task.classes, question, source);
  return item;
}

/// Text of an example with its answer.
std::string shot_text(const QuestionTask& task, const Question& example, const std::string& source) {
  if (task.kind == "choice") {
    const ChoiceItem item = choice_item(task, example, source);
    const auto right = static_cast<size_t>(item.right);
    return item.contexts[right] + item.options[right] + task.shot_separator;
  }
  const GenerateItem item = generate_item(task, example, source);
  return item.prompt + task.separator + item.answers.front() + task.shot_separator;
}

/// The first `shots` few-shot examples of each group (one value of `shot_field`).
class Shots {
 public:
  Shots(const QuestionTask& task, const fs::path& file, std::string source)
      : task_(task), file_(file.string()), source_(std::move(source)) {}

  /// Adds an example if its group needs one.
  bool takes(const Question& example) {
    Group& group = groups_[group_of(example)];
    if (group.count == task_.shots) return false;
    group.text += shot_text(task_, example, source_);
    ++group.count;
    return true;
  }

  /// Few-shot text before a question.
  std::string before(const Question& question) const {
    const std::string header = Template(task_.header, source_).text(question);
    if (task_.shots == 0) return header;
    const std::string value = group_of(question);
    const auto found = groups_.find(value);
    const int64_t count = found == groups_.end() ? 0 : found->second.count;
    if (task_.shot_field.empty())
      require(count == task_.shots, ErrorKind::data, "{} examples are needed, but {} has {} (shots in {})",
              task_.shots, file_, count, source_);
    require(count == task_.shots, ErrorKind::data,
            "{}: {} examples with {} = \"{}\" are needed, but {} has {} (shots in {})", question.place,
            task_.shots, task_.shot_field, value, file_, count, source_);
    return header + found->second.text;
  }

 private:
  struct Group {
    std::string text;
    int64_t count = 0;
  };

  std::string group_of(const Question& question) const {
    return task_.shot_field.empty() ? "" : scalar_text(field_of(question, task_.shot_field), question.place);
  }

  const QuestionTask& task_;
  std::string file_, source_;
  std::map<std::string, Group> groups_;
};

}  // namespace

void QuestionTask::fields(Fields& f) {
  f.add("name", name, "name of the task");
  f.add("kind", kind, "choice (options are compared) or generate (answers are generated)",
        {.one_of = {"choice", "generate"}});
  f.add("data", data, "JSONL file, one object per question");
  f.add("context", context, "template of the context of the options, or of the prompt");
  f.add("context_filters", context_filters, "filters of the whole context");
  f.add("contexts", contexts, "templates of contexts, one per option");
  f.add("choices", choices, "templates of the options");
  f.add("separator", separator, "separator between context and option");
  f.add("answer", answer, "template of the correct option or answer");
  f.add("answer_kind", answer_kind, "format of the correct option",
        {.one_of = {"number", "one", "letter", "text"}});
  f.add("answers", answers, "generate: templates of all correct answers");
  f.add("classes", classes, "generate: templates of the classes of the metric classification");
  f.add("metric", metric, "generate: metric of answers", {.one_of = metrics::answer_metric_names()});
  f.add("new_tokens", new_tokens, "generate: maximum new tokens", {.min = 1, .max = 1 << 20});
  f.add("first_line", first_line, "generate: only the first line of the answer counts");
  f.add("stop", stop, "generate: texts before which an answer ends");
  f.add("header", header, "template of the text before the examples (or the question)");
  f.add("shots", shots, "few-shot examples before each question", {.min = 0, .max = 10000});
  f.add("shot_data", shot_data, "JSONL file of the examples");
  f.add("shot_field", shot_field, "field whose value examples share with the question");
  f.add("shot_separator", shot_separator, "separator after each example");
}

void QuestionTask::validate(const std::string& source) const {
  require(!data.empty(), ErrorKind::config, "{}: data must be a JSONL file", source);
  require(shots > 0 || shot_field.empty(), ErrorKind::config, "{}: shot_field has no effect with shots = 0",
          source);
  if (kind == "choice") {
    require(stop.empty(), ErrorKind::config, "{}: stop has no effect with kind = \"choice\"", source);
    require(!choices.empty(), ErrorKind::config, "{}: kind = \"choice\" needs choices", source);
    require(context.empty() != contexts.empty(), ErrorKind::config,
            "{}: kind = \"choice\" needs either context or contexts", source);
    return;
  }
  require(!context.empty(), ErrorKind::config, "{}: kind = \"generate\" needs context, the prompt", source);
  require(choices.empty() && contexts.empty(), ErrorKind::config,
          "{}: choices and contexts have no effect with kind = \"generate\"", source);
  require(metric != "classification" || !classes.empty(), ErrorKind::config,
          "{}: metric = \"classification\" needs classes", source);
}

std::vector<fs::path> question_task_files(const std::vector<std::string>& names,
                                          const std::string& data_folder) {
  std::vector<fs::path> files;
  for (const std::string& name : names) {
    std::error_code unreadable;  // then it is not a file
    if (fs::is_regular_file(name, unreadable)) {
      files.emplace_back(name);
      continue;
    }
    std::vector<std::string> known;
    const size_t before = files.size();
    for (const fs::path& folder : data_entries(installed_folder("questions"))) {
      const std::string group = folder.filename().string();
      known.push_back(group);
      for (const fs::path& file : data_entries(folder)) {
        known.push_back(group + "/" + file.stem().string());
        if (name == group || name == known.back()) files.push_back(file);
      }
    }
    require(files.size() > before, ErrorKind::no_input,
            "--tasks {}: there is no such file, and no installed task of this name{}; installed are {}", name,
            nearest_name_hint(name, known), listed_names(known));
    require(!data_folder.empty(), ErrorKind::usage,
            "--task-data FOLDER is missing: the folder of the JSONL files of {}", name);
  }
  return files;
}

QuestionSet load_questions(const fs::path& file, const fs::path& data_folder, int64_t limit) {
  const std::string source = file.string();
  QuestionSet set;
  Fields fields = fields_of(set.task);
  fields.load_toml_file(source);
  QuestionTask& task = set.task;
  task.validate(source);
  if (task.name.empty()) task.name = file.stem().string();
  const fs::path folder = data_folder.empty() ? file.parent_path() : data_folder;
  std::vector<Question> questions = read_objects(folder / task.data);
  const fs::path shot_file = folder / (task.shot_data.empty() ? task.data : task.shot_data);
  Shots shots(task, shot_file, source);
  if (task.shots > 0 && task.shot_data.empty()) {
    std::erase_if(questions, [&](const Question& one) { return shots.takes(one); });
    require(!questions.empty(), ErrorKind::data,
            "{}: every question is an example (shots = {}), no question is left", shot_file.string(),
            task.shots);
  } else if (task.shots > 0) {
    for (const Question& one : read_objects(shot_file)) shots.takes(one);
  }
  if (limit > 0 && std::ssize(questions) > limit) questions.resize(static_cast<size_t>(limit));
  for (const Question& question : questions) {
    const std::string before = shots.before(question);
    if (task.kind == "choice") {
      set.choices.push_back(choice_item(task, question, source));
      for (std::string& context : set.choices.back().contexts) context = before + context;
    } else {
      set.generated.push_back(generate_item(task, question, source));
      set.generated.back().prompt = before + set.generated.back().prompt;
    }
  }
  return set;
}

}  // namespace modewise::tasks
