#include "modewise/train/checkpoint/checkpoint.h"

#include "modewise/core/parse_json.h"
#include "modewise/train/checkpoint/train_state.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input_folder.h"

using namespace modewise;
using namespace modewise::io;

// A checkpoint: state.json, NUL, a file. What is saved must be read to the same; then the file takes the
// place of the manifest.
FUZZ_TARGET(checkpoint) {
  static const InputFolder folder;
  const TwoTexts input(input_text(data, size));
  const train::CheckpointStore store(folder.path() / "checkpoints");
  return survive([&] {
    const auto state = parse_json<nlohmann::ordered_json>(input.first, "state.json");
    std::filesystem::remove_all(folder.path() / "checkpoints");
    store.save(3, state, {train::text_file("text", std::string(input.second))}, 1);
    const auto saved = store.newest();
    expect(saved && saved->step == 3 && saved->has("text") && saved->state == state);
    try {
      const auto train_state = train::TrainState::from_json(saved->state);
      expect(train::TrainState::from_json(train_state.to_json()).step == train_state.step);
    } catch (const nlohmann::json::exception&) {  // load_training says which key is missing
    }
    folder.write("checkpoints/step_3/manifest.json", input.second);
    store.newest();
  });
}
