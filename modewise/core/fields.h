#pragma once
// Config fields: one list for each config struct. Defaults, TOML files, `--set a.b=c`, help, validation and
// the saved file all come from it.
//
//   struct OptimizerConfig {
//     std::string name = "adamw";
//     double learning_rate = 1e-3;
//     void fields(Fields& f) {
//       f.add("name", name, "adamw or adam", {.one_of = {"adamw", "adam"}});
//       f.add("learning_rate", learning_rate, "peak learning rate", {.min = 0});
//     }
//   };

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace modewise {

/// Constraints on a value; for lists, on each element. An integer without its own maximum has that of
/// core/integer_bounds.h.
struct Rule {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  std::vector<std::string> one_of = {};
  /// Whether a string is a path, for make_paths_absolute(); null: never.
  bool (*is_path)(const std::string&) = nullptr;

  /// "one of a, b", "from 0 to 1", "at least 0"; "" without constraints.
  std::string text() const;
};

/// For Rule::is_path.
inline bool always(const std::string&) {
  return true;
}

struct Field {
  using Value = std::variant<bool*, int64_t*, double*, std::string*, std::vector<int64_t>*,
                             std::vector<double>*, std::vector<std::string>*>;
  std::string path;  // dotted, from the root struct
  Value value;       // points into the config struct
  std::string help;
  Rule rule;
  std::function<void()> after;  // called after the value was set, for fields that set others
};

class Fields {
 public:
  template <class T>
  void add(std::string_view name, T& value, std::string_view help, Rule rule = {}) {
    list_.push_back({prefix_ + std::string(name), &value, std::string(help), std::move(rule), {}});
  }
  /// A field that sets others, such as a preset: `after` runs once it is set. In a file it applies before the
  /// plain fields, so that they override it in any order.
  template <class T>
  void add_preset(std::string_view name, T& value, std::string_view help, Rule rule,
                  std::function<void()> after) {
    list_.push_back(
        {prefix_ + std::string(name), &value, std::string(help), std::move(rule), std::move(after)});
  }
  /// The fields of a nested struct, under `name.`.
  template <class Struct>
  void group(std::string_view name, Struct& nested) {
    const std::string outer = prefix_;
    prefix_ += std::string(name) + ".";
    nested.fields(*this);
    prefix_ = outer;
  }

  const std::vector<Field>& list() const { return list_; }

  /// Reads a TOML file over the current values. An unknown key, a wrong type or a value outside its rule is a
  /// config error with file, line and column, and for unknown keys the nearest name.
  void load_toml_file(const std::string& path);
  void load_toml(std::string_view text, const std::string& source);
  /// Applies one `a.b=value` (`--set`); lists are written `[1, 2]` or `1,2`. Errors are usage errors.
  void set(std::string_view assignment);
  /// Makes all paths absolute, so that a run finds its data from any working directory; "" stays "".
  void make_paths_absolute();
  /// Checks every rule. The loaders call it; call it after setting values from code.
  void validate(const std::string& source) const;
  /// The fields for which `chosen` holds.
  Fields only(const std::function<bool(const Field&)>& chosen) const;
  /// The whole config as TOML, `[group]` by group; `with_help` puts each field's help and range above it.
  std::string to_toml(bool with_help = false) const;
  /// The value of one field as TOML.
  static std::string value_text(const Field& field);

 private:
  Field& find(std::string_view path, const std::string& where, bool usage);

  std::string prefix_;
  std::vector<Field> list_;
};

/// The fields of `config` (anything with `void fields(Fields&)`).
template <class Config>
Fields fields_of(Config& config) {
  Fields fields;
  config.fields(fields);
  return fields;
}

}  // namespace modewise
