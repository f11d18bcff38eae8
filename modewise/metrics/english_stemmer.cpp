#include "modewise/metrics/english_stemmer.h"

#include <libstemmer.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "modewise/core/error.h"

namespace modewise::metrics {

std::string english_stem(std::string_view word) {
  // A stemmer has its own buffer, so each thread has one.
  thread_local const std::unique_ptr<sb_stemmer, decltype(&sb_stemmer_delete)> stemmer(
      sb_stemmer_new("english", "UTF_8"), sb_stemmer_delete);
  require(stemmer != nullptr, ErrorKind::internal, "libstemmer has no English stemmer");
  if (word.size() > std::numeric_limits<int>::max() ||
      !std::ranges::all_of(word, [](unsigned char c) { return c < 128; }))
    return std::string(word);
  const auto* stem = sb_stemmer_stem(stemmer.get(), reinterpret_cast<const sb_symbol*>(word.data()),
                                     static_cast<int>(word.size()));
  require(stem != nullptr, ErrorKind::internal, "libstemmer is out of memory");
  return {reinterpret_cast<const char*>(stem), static_cast<size_t>(sb_stemmer_length(stemmer.get()))};
}

}  // namespace modewise::metrics
