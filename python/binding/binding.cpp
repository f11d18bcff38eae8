// Python binding of the tasks, one operator of torch's dispatcher: torch.ops.modewise_tasks.call. The
// dispatcher releases the GIL and needs no Python headers, so one build serves all Python versions.

#include <spdlog/spdlog.h>
#include <torch/library.h>

#include <nlohmann/json.hpp>

#include "modewise/core/log.h"
#include "modewise/tasks/run/failure.h"
#include "python/binding/requests.h"
#include "python/binding/taken_signals.h"

namespace modewise::python {
namespace {

/// A request as JSON -> {"result", "text"}, or {"exit_code", "signal", "sentence"} on failure; and the stop
/// signals that "arrived" during the call.
std::string call(const std::string& request) {
  TakenSignals signals;
  nlohmann::ordered_json reply;
  try {
    const auto parsed = nlohmann::json::parse(request);
    set_up_logging(parsed.value("verbosity", -1));
    tasks::Result result = answer(parsed);
    reply = {{"result", std::move(result.json)}, {"text", std::move(result.text)}};
  } catch (...) {
    const tasks::Failure failure = tasks::current_failure();
    reply = {{"exit_code", failure.exit_code}, {"signal", failure.signal}, {"sentence", failure.sentence}};
  }
  log_to_file("");
  reply["arrived"] = signals.give_back();
  return tasks::json_text(reply);
}

}  // namespace

TORCH_LIBRARY(modewise_tasks, m) {
  m.def("call(str request) -> str", call);
}

}  // namespace modewise::python
