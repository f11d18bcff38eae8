#include "modewise/tasks/run/failure.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/escaped_text.h"
#include "modewise/core/stop_signal.h"
#include "modewise/nn/layers/batch_norm.h"
#include "modewise/train/loop/task.h"

namespace modewise::tasks {
namespace {

constexpr int kNotUtf8 = 316;  // nlohmann's error id for text that is not UTF-8

/// Whether torch's message reports a failed allocation.
bool is_allocation_failure(const std::string& message) {
  return message.find("not enough memory") != std::string::npos ||
         message.find("can't allocate memory") != std::string::npos;
}

std::string first_line(const c10::Error& error) {
  const std::string text = error.what_without_backtrace();
  return text.substr(0, text.find('\n'));
}

Failure failure_of(int exit_code, std::string_view text, LineBreaks breaks = LineBreaks::escaped) {
  return {exit_code, 0, escape_text(text, breaks)};
}

Failure stopped_by(int signal) {
  return {128 + signal, signal, ""};
}

}  // namespace

Failure current_failure(bool with_backtrace) {
  try {
    throw;
  } catch (const Error& error) {
    return failure_of(error.exit_code(), error.what());
  } catch (const Stopped& stopped) {
    return stopped_by(stopped.signal);
  } catch (const train::EvaluationInterrupted&) {
    return stopped_by(stop_signal());
  } catch (const c10::OutOfMemoryError& error) {
    return failure_of(1,
                      fmt::format("out of memory on the device ({}); reduce the batch size or the model, or "
                                  "take --device cpu",
                                  first_line(error)));
  } catch (const c10::AcceleratorError& error) {
    return failure_of(74,
                      fmt::format("the device failed ({}); a training resumes from its last checkpoint with "
                                  "--resume, also with --device cpu",
                                  first_line(error)));
  } catch (const nn::BatchTooSmall& error) {
    return failure_of(78, fmt::format("{}; choose larger batches (train.batch_size, or --batch of modewise "
                                      "cost) or fewer train.shards, or drop a last batch of one sample with "
                                      "train.drop_last = true",
                                      error.what_without_backtrace()));
  } catch (const c10::Error& error) {
    if (is_allocation_failure(error.what_without_backtrace()))
      return failure_of(1, fmt::format("out of memory ({}); reduce train.batch_size or the model",
                                       error.what_without_backtrace()));
    if (with_backtrace) return failure_of(70, error.what(), LineBreaks::kept);
    return failure_of(70, error.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    return failure_of(1, "out of memory; reduce train.batch_size, the model or the file");
  } catch (const nlohmann::json::exception& error) {
    const char* sentence = error.id == kNotUtf8
                               ? "a name or text must be UTF-8 to be written as JSON ({}): rename the file, "
                                 "folder or class"
                               : "a JSON document has unexpected contents: {}";
    return failure_of(65, fmt::format(fmt::runtime(sentence), error.what()));
  } catch (const std::filesystem::filesystem_error& error) {
    const bool unreadable = error.code() == std::errc::permission_denied;
    return failure_of(unreadable ? 66 : 74,
                      fmt::format("cannot access {}: {}", error.path1().string(), error.code().message()));
  } catch (const std::exception& error) {
    return failure_of(70, error.what());
  }
}

}  // namespace modewise::tasks
