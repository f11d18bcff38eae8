#include "modewise/core/parse_json.h"
#include "modewise/tasks/forecasting/data.h"
#include "tests/fuzz/fuzz.h"

using namespace modewise;
using namespace modewise::io;

// data.json of a forecasting run: what is written must be read to the same.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return survive([&] {
    const auto json = parse_json<nlohmann::json>(input_text(data, size), "data.json");
    const tasks::DataSummary summary = tasks::data_summary(json, "data.json");
    const std::string written = to_json(summary).dump();
    const auto again = parse_json<nlohmann::json>(written, "written");
    expect(to_json(tasks::data_summary(again, "written")).dump() == written);
    tasks::shape_of(summary);
  });
}
