#include <optional>

#include "modewise/core/parse_json.h"
#include "modewise/tasks/forecasting/data.h"
#include "tests/fuzz/fuzz.h"

using namespace modewise;
using namespace modewise::io;

namespace {

/// Nothing for a missing key or a value of another type: open_run says which.
std::optional<tasks::DataSummary> summary_of(std::string_view text) {
  try {
    return tasks::data_summary(parse_json<nlohmann::json>(text, "data.json"), "data.json");
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

// data.json of a forecasting run: what is written must be read to the same.
FUZZ_TARGET(run_summary) {
  return survive([&] {
    const std::optional<tasks::DataSummary> summary = summary_of(input_text(data, size));
    if (!summary) return;
    const std::string written = to_json(*summary).dump();
    const auto again = parse_json<nlohmann::json>(written, "written");
    expect(to_json(tasks::data_summary(again, "written")).dump() == written);
    tasks::shape_of(*summary);
  });
}
