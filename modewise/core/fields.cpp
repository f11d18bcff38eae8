#include "modewise/core/fields.h"

#include <fmt/ranges.h>

#include <toml++/toml.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <span>
#include <sstream>
#include <type_traits>

#include "modewise/core/aliases.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/integer_bounds.h"
#include "modewise/core/nearest_name.h"

namespace modewise {
namespace {

template <class T>
struct is_list : std::false_type {};
template <class T>
struct is_list<std::vector<T>> : std::true_type {};

template <class T>
std::string type_name() {
  if constexpr (std::is_same_v<T, bool>) return "true or false";
  if constexpr (std::is_same_v<T, int64_t>) return "an integer";
  if constexpr (std::is_same_v<T, double>) return "a number";
  if constexpr (std::is_same_v<T, std::string>) return "a string";
  if constexpr (is_list<T>::value) return "a list, each element " + type_name<typename T::value_type>();
}

/// The shortest decimal that reads back as the same double.
std::string number_text(double value) {
  std::string text = fmt::format("{}", value);
  if (std::isfinite(value) && text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

template <class T>
std::string text_of(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    std::ostringstream out;
    out << toml::value<std::string>(value);
    return out.str();
  } else if constexpr (std::is_same_v<T, double>) {
    return number_text(value);
  } else if constexpr (is_list<T>::value) {
    std::vector<std::string> parts;
    for (const auto& element : value) parts.push_back(text_of(element));
    return fmt::format("[{}]", fmt::join(parts, ", "));
  } else {
    return fmt::format("{}", value);
  }
}

/// Empty when `value` obeys `rule`, else the expected value in words.
template <class T>
std::string broken_rule(const T& value, const Rule& rule) {
  if constexpr (is_list<T>::value) {
    for (const auto& element : value)
      if (std::string wanted = broken_rule(element, rule); !wanted.empty()) return wanted;
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!rule.one_of.empty() && std::find(rule.one_of.begin(), rule.one_of.end(), value) == rule.one_of.end())
      return fmt::format("one of {}{}", fmt::join(rule.one_of, ", "), nearest_name_hint(value, rule.one_of));
  } else if constexpr (!std::is_same_v<T, bool>) {
    const double number = static_cast<double>(value);
    const bool bounded = std::isfinite(rule.max) && rule.max < kAnyInteger;
    if (bounded && !(number >= rule.min && number <= rule.max))
      return fmt::format("a number from {} to {}", rule.min, rule.max);
    if (!(number >= rule.min)) return fmt::format("a number of at least {}", rule.min);
    if (std::is_same_v<T, int64_t> && std::isinf(rule.max) && !(number <= kMaxInteger))
      return fmt::format("a number of at most {}", kMaxInteger);
  }
  return "";
}

/// Reads a TOML node into `out`; false when the type is wrong.
template <class T>
bool read_node(const toml::node& node, T& out) {
  if constexpr (is_list<T>::value) {
    const toml::array* array = node.as_array();
    if (array == nullptr) return false;
    T list;
    for (const toml::node& element : *array) {
      typename T::value_type item;
      if (!read_node(element, item)) return false;
      list.push_back(std::move(item));
    }
    out = std::move(list);
    return true;
  } else if constexpr (std::is_same_v<T, double>) {
    const auto value = node.value<double>();  // integers are numbers too
    if (!value || node.is_boolean()) return false;
    out = *value;
    return true;
  } else {
    const auto value = node.value_exact<T>();
    if (!value) return false;
    out = *value;
    return true;
  }
}

/// true and false as "yes" and "no", for a field that was boolean in earlier versions.
bool read_yes_no(const toml::node& node, std::string& out) {
  const auto value = node.value_exact<bool>();
  if (value) out = *value ? "yes" : "no";
  return value.has_value();
}

bool takes_yes_no(const Rule& rule) {
  return std::find(rule.one_of.begin(), rule.one_of.end(), "yes") != rule.one_of.end();
}

/// Parses the text of one TOML value into `out`; false when it has another type or there are several values.
/// The inline table makes text after the value a parse error instead of ignoring it.
template <class T>
bool read_text(const std::string& text, T& out) {
  try {
    const toml::table root = toml::parse("t = { v = " + text + " }");
    const toml::table* table = root["t"].as_table();
    return root.size() == 1 && table->size() == 1 && read_node(*table->get("v"), out);
  } catch (const toml::parse_error&) {
    return false;
  }
}

/// Numbers as TOML has them: ".01" as "0.01", "5." as "5.0".
std::string with_digits(std::string text) {
  const auto digit = [&](size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
  for (size_t dot = text.find('.'); dot != std::string::npos; dot = text.find('.', dot + 1)) {
    const bool before = dot > 0 && digit(dot - 1), after = digit(dot + 1);
    if (before && !after) text.insert(dot + 1, "0");
    if (after && !before) text.insert(dot++, "0");
  }
  return text;
}

/// User input on one line, for an error message.
std::string in_one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  return text;
}

std::string where(const std::string& source, const toml::source_position& position) {
  return fmt::format("{}:{}:{}", source, position.line, position.column);
}

}  // namespace

std::string Fields::value_text(const Field& field) {
  return std::visit([](const auto* value) { return text_of(*value); }, field.value);
}

Field& Fields::find(std::string_view path, const std::string& place, bool usage) {
  const auto field_at = [&](const std::string& name) {
    return std::find_if(list_.begin(), list_.end(), [&](const Field& field) { return field.path == name; });
  };
  const std::string current =
      current_key(std::string(path), [&](const std::string& name) { return field_at(name) != list_.end(); });
  if (!current.empty()) return *field_at(current);
  std::vector<std::string> names;
  for (const Field& field : list_) names.push_back(field.path);
  fail(usage ? ErrorKind::usage : ErrorKind::config, "{}: unknown key '{}'{}", place, path,
       nearest_name_hint(path, names));
}

void Fields::load_toml_file(const std::string& path) {
  load_toml(read_file(path), path);
}

void Fields::load_toml(std::string_view text, const std::string& source) {
  toml::table root;
  try {
    root = toml::parse(text);
  } catch (const toml::parse_error& error) {
    fail(ErrorKind::config, "{}: {}", where(source, error.source().begin), error.description());
  }
  const auto load = [&](const auto& self, const toml::table& table, const std::string& prefix,
                        const Field* only) -> void {  // only: the one preset to set, or null for plain fields
    for (const auto& [key, node] : table) {
      const std::string path = prefix + std::string(key.str());
      const auto place = where(source, key.source().begin);
      if (const toml::table* nested = node.as_table()) {
        const bool known = std::any_of(list_.begin(), list_.end(),
                                       [&](const Field& f) { return f.path.starts_with(path + "."); });
        if (!known && !is_renamed_group(path)) find(path, place, false);
        self(self, *nested, path + ".", only);
        continue;
      }
      Field& field = find(path, place, false);
      if (only != nullptr ? &field != only : static_cast<bool>(field.after)) continue;
      std::visit(
          [&, &node = node](auto* value) {  // named, since clang 14 captures no structured binding
            using T = std::remove_pointer_t<decltype(value)>;
            bool read = read_node(node, *value);
            if constexpr (std::is_same_v<T, std::string>)
              read = read || (takes_yes_no(field.rule) && read_yes_no(node, *value));
            require(read, ErrorKind::config, "{}: {} must be {}", place, path, type_name<T>());
            if constexpr (std::is_same_v<T, std::string>)
              *value = current_value(field.path, *value, field.rule.one_of);
            const std::string wanted = broken_rule(*value, field.rule);
            require(wanted.empty(), ErrorKind::config, "{}: {} must be {}, got {}", place, path, wanted,
                    text_of(*value));
          },
          field.value);
      if (field.after) field.after();
    }
  };
  for (const Field& field : list_)
    if (field.after) load(load, root, "", &field);
  load(load, root, "", nullptr);
}

void Fields::set(std::string_view assignment) {
  const size_t equals = assignment.find('=');
  require(equals != std::string_view::npos && equals > 0, ErrorKind::usage, "--set {}: expected key=value",
          assignment);
  const std::string path(assignment.substr(0, equals));
  const std::string raw(assignment.substr(equals + 1));
  const std::string place = "--set " + path;
  Field& field = find(path, place, true);
  std::visit(
      [&](auto* value) {
        using T = std::remove_pointer_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::string>) {
          *value = current_value(field.path, raw, field.rule.one_of);
          if (takes_yes_no(field.rule) && (raw == "true" || raw == "false"))
            *value = raw == "true" ? "yes" : "no";
        } else {
          // The value is read as TOML; a bare list may omit brackets, and bare words in it may omit quotes.
          std::string text = raw;  // NOLINT(performance-unnecessary-copy-initialization): lists change it
          if constexpr (is_list<T>::value) {
            if (!text.starts_with("[")) {
              std::vector<std::string> parts;
              std::istringstream in(text);
              for (std::string part; std::getline(in, part, ',');)
                parts.push_back(std::is_same_v<T, std::vector<std::string>> ? text_of(part) : part);
              text = fmt::format("[{}]", fmt::join(parts, ", "));
            }
          }
          if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::vector<double>>)
            text = with_digits(std::move(text));
          require(read_text(text, *value), ErrorKind::usage, "{}: must be {}, got '{}'", place,
                  type_name<T>(), in_one_line(raw));
        }
        const std::string wanted = broken_rule(*value, field.rule);
        require(wanted.empty(), ErrorKind::usage, "{}: must be {}, got '{}'", place, wanted,
                in_one_line(raw));
      },
      field.value);
  if (field.after) field.after();
}

void Fields::make_paths_absolute() {
  for (const Field& field : list_) {
    if (field.rule.is_path == nullptr) continue;
    std::span<std::string> texts;
    if (auto* const* one = std::get_if<std::string*>(&field.value)) texts = std::span(*one, 1);
    if (auto* const* list = std::get_if<std::vector<std::string>*>(&field.value)) texts = **list;
    for (std::string& text : texts)
      if (field.rule.is_path(text)) text = absolute_path(text);
  }
}

void Fields::validate(const std::string& source) const {
  for (const Field& field : list_)
    std::visit(
        [&](const auto* value) {
          const std::string wanted = broken_rule(*value, field.rule);
          require(wanted.empty(), ErrorKind::config, "{}: {} must be {}, got {}", source, field.path, wanted,
                  text_of(*value));
        },
        field.value);
}

std::string Rule::text() const {
  if (!one_of.empty()) return fmt::format("one of {}", fmt::join(one_of, ", "));
  if (std::isfinite(min) && std::isfinite(max)) return fmt::format("from {} to {}", min, max);
  if (std::isfinite(min)) return fmt::format("at least {}", min);
  if (std::isfinite(max)) return fmt::format("at most {}", max);
  return "";
}

Fields Fields::only(const std::function<bool(const Field&)>& chosen) const {
  Fields fields;
  std::copy_if(list_.begin(), list_.end(), std::back_inserter(fields.list_), chosen);
  return fields;
}

std::string Fields::to_toml(bool with_help) const {
  // TOML wants the keys of a table together: fields are printed group by group, in order of first appearance.
  std::vector<std::string> groups;
  const auto group_of = [](const Field& field) {
    const size_t dot = field.path.rfind('.');
    return dot == std::string::npos ? std::string() : field.path.substr(0, dot);
  };
  for (const Field& field : list_)
    if (std::find(groups.begin(), groups.end(), group_of(field)) == groups.end())
      groups.push_back(group_of(field));
  std::stable_partition(groups.begin(), groups.end(), [](const std::string& group) { return group.empty(); });
  std::string out;
  for (const std::string& group : groups) {
    if (!group.empty()) out += fmt::format("{}[{}]\n", out.empty() ? "" : "\n", group);
    for (const Field& field : list_) {
      if (group_of(field) != group) continue;
      if (with_help) {
        const auto named = [&](const std::string& word) {
          return field.help.find(word) != std::string::npos;
        };
        const auto& words = field.rule.one_of;
        const bool helped = !words.empty() && std::all_of(words.begin(), words.end(), named);
        const std::string range = helped ? "" : field.rule.text();
        out +=
            range.empty() ? fmt::format("# {}\n", field.help) : fmt::format("# {} ({})\n", field.help, range);
      }
      out += fmt::format("{} = {}\n", field.path.substr(group.empty() ? 0 : group.size() + 1),
                         value_text(field));
    }
  }
  return out;
}

}  // namespace modewise
