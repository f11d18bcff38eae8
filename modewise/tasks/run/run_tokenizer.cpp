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
  write_folder_atomically(folder,
                          [&](const fs::path& unfinished) { text::keep_tokenizer(tokenizer, unfinished); });
}

std::shared_ptr<text::Tokenizer> run_tokenizer(const train::RunFolder& run) {
  return text::load_tokenizer(run.file("tokenizer").string());
}

}  // namespace modewise::tasks
