#pragma once
// Typed access to a model folder's config.json.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace modewise::models {

/// Parses the document. Its text size is limited, since the parsed form takes many times the memory.
nlohmann::json parse_config_json(std::string_view json, const std::string& source);

/// A JSON object of the document. Data errors name `source`, the key, the expected type and the value.
class JsonObject {
 public:
  /// `object` and `source` must outlive this.
  JsonObject(const nlohmann::json& object, std::string path, const std::string& source);

  /// Null counts as absent, as in transformers.
  bool has(const char* key) const { return object_.contains(key) && !object_[key].is_null(); }
  /// Whether the key exists, null or not.
  bool names(const char* key) const { return object_.contains(key); }

  int64_t integer(const char* key, std::optional<int64_t> otherwise = {}) const;
  double number(const char* key, std::optional<double> otherwise = {}) const;
  bool boolean(const char* key, bool otherwise) const;
  std::string text(const char* key, const std::string& otherwise) const;
  template <class T>  // int64_t or std::string
  std::vector<T> list(const char* key) const;
  JsonObject object(const char* key) const { return {object_[key], name(key), source_}; }
  const nlohmann::json& value(const char* key) const { return object_[key]; }

  const std::string& source() const { return source_; }

 private:
  std::string name(const char* key) const { return path_.empty() ? key : path_ + "." + key; }
  bool absent(const char* key, bool has_default) const;

  const nlohmann::json& object_;
  std::string path_;
  const std::string& source_;
};

extern template std::vector<int64_t> JsonObject::list(const char* key) const;
extern template std::vector<std::string> JsonObject::list(const char* key) const;

}  // namespace modewise::models
