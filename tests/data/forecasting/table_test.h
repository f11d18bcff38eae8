#pragma once
// A fixture for tests that read a table from its text.

#include <gtest/gtest.h>

#include <string>

#include "modewise/data/forecasting/load_series.h"
#include "tests/data/scratch.h"

namespace modewise::data {

class TableTest : public testing::Test {
 protected:
  Series load(const std::string& text, ForecastDataConfig config = {}, const std::string& name = "f.csv") {
    config.path = folder_.write(name, text);
    return load_series(config);
  }
  /// The message of an error of this kind, which names the file f.csv without its folder.
  std::string load_error(ErrorKind kind, const std::string& text, const ForecastDataConfig& config = {}) {
    std::string message = error_of(kind, [&] { load(text, config); });
    const std::string path = folder_.path("f.csv");
    for (size_t at; (at = message.find(path)) != std::string::npos;)
      message.replace(at, path.size(), "f.csv");
    return message;
  }
  ScratchFolder folder_;
};

}  // namespace modewise::data
