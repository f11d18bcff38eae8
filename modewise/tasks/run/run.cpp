#include "modewise/tasks/run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "modewise/core/escaped_text.h"
#include "modewise/core/utf8.h"

namespace modewise::tasks {

void Run::finish(nlohmann::ordered_json& metrics) {
  const bool with_test = settings().train.test;
  metrics["test_read"] = with_test;
  metrics["validation"] = evaluate("validation", true, train::single_process());
  if (with_test)
    metrics["test"] = timed_test([&] { return evaluate("test", true, train::single_process()); });
}

std::string data_name(const std::string& path) {
  if (path.empty()) return "";
  std::filesystem::path whole = std::filesystem::absolute(path).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  return whole.stem().string();
}

std::string run_stem_of(const std::string& data, const std::string& model) {
  const std::string text = data + "-" + model;
  std::string stem;
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = utf8_length(std::string_view(text).substr(at));
    const std::string one = text.substr(at, std::max<size_t>(bytes, 1));
    const bool kept = bytes > 1 ? !is_unsafe(utf8_code_point(one))
                                : std::isalnum(static_cast<unsigned char>(one[0])) != 0 ||
                                      std::string_view("._-").find(one[0]) != std::string_view::npos;
    stem += kept ? one : "-";
    at += one.size();
  }
  return stem;
}

std::string test_count(bool read, size_t count) {
  return read ? fmt::format("{} test", count) : "test unread";
}

}  // namespace modewise::tasks
