#include "modewise/models/json_object.h"

#include <cmath>

#include "modewise/core/error.h"
#include "modewise/core/parse_json.h"

namespace modewise::models {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxJsonBytes = size_t{1} << 20;

std::string shown(const Json& value) {
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() > 60 ? text.substr(0, 57) + "…" : text;
}

}  // namespace

Json parse_config_json(std::string_view json, const std::string& source) {
  require(json.size() <= kMaxJsonBytes, ErrorKind::data, "{}: {} bytes exceed the limit of {} for a config",
          source, json.size(), kMaxJsonBytes);
  return parse_json<Json>(json, source);
}

JsonObject::JsonObject(const Json& object, std::string path, const std::string& source)
    : object_(object), path_(std::move(path)), source_(source) {
  require(object.is_object(), ErrorKind::data, "{}: {} must be an object", source,
          path_.empty() ? "the config" : path_);
}

int64_t JsonObject::integer(const char* key, std::optional<int64_t> otherwise) const {
  if (absent(key, otherwise.has_value())) return *otherwise;
  const Json& value = object_[key];
  // Beyond 2^53 a JSON number is not an exact integer.
  const bool fits = value.is_number() && std::abs(value.get<double>()) <= 0x1p53 &&
                    value.get<double>() == std::floor(value.get<double>());
  require(fits, ErrorKind::data, "{}: {} must be an integer, got {}", source_, name(key), shown(value));
  return static_cast<int64_t>(value.get<double>());
}

double JsonObject::number(const char* key, std::optional<double> otherwise) const {
  if (absent(key, otherwise.has_value())) return *otherwise;
  const Json& value = object_[key];
  require(value.is_number() && std::isfinite(value.get<double>()), ErrorKind::data,
          "{}: {} must be a number, got {}", source_, name(key), shown(value));
  return value.get<double>();
}

bool JsonObject::boolean(const char* key, bool otherwise) const {
  if (absent(key, true)) return otherwise;
  require(object_[key].is_boolean(), ErrorKind::data, "{}: {} must be true or false, got {}", source_,
          name(key), shown(object_[key]));
  return object_[key].get<bool>();
}

std::string JsonObject::text(const char* key, const std::string& otherwise) const {
  if (absent(key, true)) return otherwise;
  require(object_[key].is_string(), ErrorKind::data, "{}: {} must be a string, got {}", source_, name(key),
          shown(object_[key]));
  return object_[key].get<std::string>();
}

template <class T>
std::vector<T> JsonObject::list(const char* key) const {
  if (absent(key, true)) return {};
  std::vector<T> out;
  require(object_[key].is_array(), ErrorKind::data, "{}: {} must be a list, got {}", source_, name(key),
          shown(object_[key]));
  for (const Json& value : object_[key]) {
    const bool fits = std::is_same_v<T, std::string> ? value.is_string() : value.is_number_integer();
    require(fits, ErrorKind::data, "{}: {} must be a list of {}, got {}", source_, name(key),
            std::is_same_v<T, std::string> ? "strings" : "integers", shown(value));
    out.push_back(value.get<T>());
  }
  return out;
}

bool JsonObject::absent(const char* key, bool has_default) const {
  if (has(key)) return false;
  require(has_default, ErrorKind::data, "{} has no {}", source_, name(key));
  return true;
}

template std::vector<int64_t> JsonObject::list(const char* key) const;
template std::vector<std::string> JsonObject::list(const char* key) const;

}  // namespace modewise::models
