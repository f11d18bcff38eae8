#include "modewise/sweep/search.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input_folder.h"

using namespace modewise::io;
using namespace modewise::sweep;

// The request of a search must be the same when it is written and read again.
FUZZ_TARGET(search_request) {
  static const InputFolder folder;
  folder.write("auto/request.json", input_text(data, size));
  return survive([&] {
    expect(holds_search(folder.path()));
    const nlohmann::ordered_json json = read_search(folder.path()).to_json();
    expect(SearchRequest::from_json(json, "file").to_json() == json);
  });
}
