#include "modewise/tasks/run/same_work.h"

#include "modewise/core/file.h"
#include "modewise/train/checkpoint/run_weights.h"
#include "modewise/train/distributed/workers.h"

namespace modewise::tasks {

void require_same_work(const train::RunFolder& run, const std::string& request,
                       const std::string& data_hash) {
  if (train::workers().size() == 1) return;
  const auto checkpoint = train::newest_checkpoint(run);
  const std::string settings = read_file(run.file("config.toml")) + "\n" + request;
  const train::Common common[] = {
      {"settings", settings},
      {"weights", checkpoint ? read_file(checkpoint->folder / "manifest.json") : ""},
      {"data", data_hash}};
  train::check_equal_on_all_ranks(train::workers(), common);
}

}  // namespace modewise::tasks
