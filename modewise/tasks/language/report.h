#pragma once
// report.html of a language model's run.

#include <filesystem>

#include "modewise/tasks/language/run.h"

namespace modewise::tasks {

/// Needs a finished run: what it was trained on, how well it predicts, how it learnt.
void write_language_report(const LanguageRun& run, const std::filesystem::path& out);

}  // namespace modewise::tasks
