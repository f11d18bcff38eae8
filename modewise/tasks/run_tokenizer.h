#pragma once
// The tokenizer of a run: a copy of its file in the run's folder, so that the run needs nothing else.

#include "modewise/text/tokenizer.h"
#include "modewise/train/checkpoint/run_folder.h"

namespace modewise::tasks {

/// Copies its file into RUN/tokenizer unless one lies there.
void keep_run_tokenizer(const train::RunFolder& run, const text::Tokenizer& tokenizer);
std::shared_ptr<text::Tokenizer> run_tokenizer(const train::RunFolder& run);

}  // namespace modewise::tasks
