#include "modewise/models/language_modeling/config_json.h"
#include "tests/fuzz/fuzz.h"

using namespace modewise;
using namespace modewise::io;

// config.json of a language model: what is written must be read to the same.
FUZZ_TARGET(language_config) {
  const std::string_view text = input_text(data, size);
  survive([&] { models::parse_special_ids(text, "config.json"); });
  survive([&] { models::parse_sampling(text, "generation_config.json"); });
  return survive([&] {
    const models::LanguageModelConfig config = models::parse_language_json(text, "config.json");
    const std::string written = models::format_language_json(config, "float32");
    const models::LanguageModelConfig again = models::parse_language_json(written, "written");
    expect(models::format_language_json(again, "float32") == written);
  });
}
