#include "modewise/tasks/kind.h"

#include "modewise/core/error.h"

namespace modewise::tasks {

bool wants_npz(const std::string& out) {
  const std::string ending = std::filesystem::path(out).extension().string();
  require(out.empty() || ending == ".npz" || ending == ".csv", ErrorKind::usage,
          "--out must end in .csv or .npz, got '{}'", out);
  return ending == ".npz";
}

void refuse_steps(const PredictRequest& request, const std::string& what) {
  require(request.steps == 0, ErrorKind::usage, "--steps is for forecasts; {} is {}", request.run, what);
}

}  // namespace modewise::tasks
