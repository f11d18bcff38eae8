// The tasks for Python, as one operator of torch's dispatcher: torch.ops.modewise_tasks.call. The dispatcher
// lets go of Python's lock while it runs, and needs no headers of a Python, so that one build serves all.

#include <spdlog/spdlog.h>
#include <torch/library.h>

#include <nlohmann/json.hpp>

#include "modewise/core/log.h"
#include "modewise/tasks/failure.h"
#include "python/binding/requests.h"
#include "python/binding/taken_signals.h"

namespace modewise::python {
namespace {

/// A request as JSON -> {"result", "text"}, or {"exit_code", "signal", "sentence"} where it failed; and the
/// stop signals that "arrived" meanwhile.
std::string call(const std::string& request) {
  TakenSignals signals;
  nlohmann::ordered_json reply;
  try {
    const auto asked = nlohmann::json::parse(request);
    set_up_logging(asked.value("verbosity", -1));
    tasks::Result result = answer(asked);
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
