#include <string_view>

#include "modewise/io/arrays/safetensors_shards.h"
#include "tests/fuzz/fuzz.h"

using namespace modewise::io;

FUZZ_TARGET(shard_index) {
  return survive([&] {
    const ShardMap map = parse_shard_index({reinterpret_cast<const char*>(data), size}, "file");
    expect(!map.empty());
    for (const auto& [tensor, file] : map) expect(!file.empty() && file.find('/') == std::string::npos);
  });
}
