#include "modewise/tasks/run/run.h"

#include <fmt/format.h>

#include <cctype>
#include <nlohmann/json.hpp>

namespace modewise::tasks {

void Run::finish(nlohmann::ordered_json& metrics) {
  const bool with_test = settings().train.test;
  metrics["test_read"] = with_test;
  metrics["validation"] = evaluate("validation", true, train::single_process());
  if (with_test)
    metrics["test"] = timed_test([&] { return evaluate("test", true, train::single_process()); });
}

std::string run_stem_of(const std::string& data, const std::string& model) {
  std::string stem = data + "-" + model;
  for (char& c : stem)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_' && c != '-') c = '-';
  return stem;
}

std::string test_count(bool read, size_t count) {
  return read ? fmt::format("{} test", count) : "test unread";
}

}  // namespace modewise::tasks
