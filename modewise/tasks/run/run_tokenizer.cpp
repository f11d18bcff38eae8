#include "modewise/tasks/run/run_tokenizer.h"

#include <filesystem>

#include "modewise/core/file.h"
#include "modewise/core/folder.h"
#include "modewise/text/load_tokenizer.h"
#include "modewise/train/distributed/workers.h"

namespace modewise::tasks {

namespace fs = std::filesystem;

void keep_run_tokenizer(const train::RunFolder& run, const text::Tokenizer& tokenizer) {
  const fs::path folder = run.file("tokenizer");
  if (fs::exists(folder) || !train::workers().is_rank_zero()) return;
  // Renamed atomically: an interrupted run has the folder with its file, or none.
  const fs::path unfinished = temporary_beside(folder);
  fs::create_directory(unfinished);
  text::keep_tokenizer(tokenizer, unfinished);
  fs::rename(unfinished, folder);
  sync_directory(run.path());
}

std::shared_ptr<text::Tokenizer> run_tokenizer(const train::RunFolder& run) {
  return text::load_tokenizer(run.file("tokenizer").string());
}

}  // namespace modewise::tasks
