// Answers the Python oracles: for a line `TOKENIZER<tab>FILE` the ids of each text of FILE (records of a
// 4-byte length and bytes) go to FILE.ids as 32-bit numbers, what they decode to goes to FILE.text; a line
// with the processor seconds that encoding took, or the error, comes back.

#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/text/load_tokenizer.h"

namespace {

using modewise::text::Tokenizer;

void append_number(std::string& out, uint32_t number) {
  char bytes[4];
  std::memcpy(bytes, &number, 4);
  out.append(bytes, 4);
}

// Encodes every record; returns the processor seconds that took.
double answer(const Tokenizer& tokenizer, const std::string& path) {
  const std::string content = modewise::read_file(path);
  std::string ids_file, text_file;
  double seconds = 0;
  for (size_t at = 0; at < content.size();) {
    uint32_t length;
    std::memcpy(&length, content.data() + at, 4);
    const std::string_view text = std::string_view(content).substr(at + 4, length);
    at += 4 + length;
    const std::clock_t begin = std::clock();
    const std::vector<Tokenizer::Id> ids = tokenizer.encode(text);
    seconds += static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    append_number(ids_file, static_cast<uint32_t>(ids.size()));
    for (const Tokenizer::Id id : ids) append_number(ids_file, static_cast<uint32_t>(id));
    const std::string decoded = tokenizer.decode(ids);
    append_number(text_file, static_cast<uint32_t>(decoded.size()));
    text_file += decoded;
  }
  modewise::write_file_atomically(path + ".ids", ids_file);
  modewise::write_file_atomically(path + ".text", text_file);
  return seconds;
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const size_t tab = line.find('\t');
    try {
      const auto tokenizer = modewise::text::load_tokenizer(line.substr(0, tab));
      std::printf("%f\n", answer(*tokenizer, line.substr(tab + 1)));
    } catch (const modewise::Error& error) {
      std::printf("error %d %s\n", error.exit_code(), error.what());
    }
    std::fflush(stdout);
  }
}
