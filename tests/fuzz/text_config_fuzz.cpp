#include "modewise/models/text/config_json.h"
#include "tests/fuzz/fuzz.h"

using namespace modewise;
using namespace modewise::io;

// config.json of a BERT or RoBERTa model: what is written must be read to the same.
FUZZ_TARGET(text_config) {
  return survive([&] {
    const models::TextFileConfig config = models::parse_text_json(input_text(data, size), "config.json");
    const std::string written = models::format_text_json(config, "float32");
    expect(models::format_text_json(models::parse_text_json(written, "written"), "float32") == written);
  });
}
