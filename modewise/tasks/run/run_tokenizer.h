#pragma once
// Tokenizer of a run: copied into the run folder, so that the run is self-contained.

#include "modewise/text/tokenizer.h"
#include "modewise/train/checkpoint/run_folder.h"

namespace modewise::tasks {

/// Copies the tokenizer's file to RUN/tokenizer unless it exists.
void keep_run_tokenizer(const train::RunFolder& run, const text::Tokenizer& tokenizer);
std::shared_ptr<text::Tokenizer> run_tokenizer(const train::RunFolder& run);

}  // namespace modewise::tasks
