#include "modewise/core/claims.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input_folder.h"

using namespace modewise;
using namespace modewise::io;

// A claim file of another process: its owner, and a claim that takes it over after its timeout.
FUZZ_TARGET(claim_file) {
  static const InputFolder folder;
  folder.write("run.json", input_text(data, size));
  Claims claims(folder.path(), std::chrono::milliseconds(0));
  expect(claims.owner("run").find(", process ") != std::string::npos);
  const std::unique_ptr<Claim> claim = claims.take("run");
  expect(claim != nullptr && claim->taken_over() && claim->heartbeat());
  require_claim(local_system(), claim->ticket());
  folder.write("run.json", input_text(data, size));
  expect(!claim->heartbeat());
  return 0;
}
