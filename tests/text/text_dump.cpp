// For the Python tests: for a line `TOKENIZER<tab>FILE` writes the ids of each text of FILE (records of a
// 4-byte length and bytes) to FILE.ids as 32-bit numbers and the decoded texts to FILE.text, and prints the
// CPU seconds of encoding, or the error. For `TOKENIZER<tab>FILE<tab>MAXIMUM` consecutive texts are pairs (a
// single text if the second is empty), framed with special tokens to at most MAXIMUM tokens: ids go to
// FILE.ids, types to FILE.types, and first byte, last byte and text (0, 1, 255: special token) of each token
// to FILE.places.

#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <vector>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/text/load_tokenizer.h"
#include "modewise/text/text_frame.h"

namespace {

using modewise::text::Tokenizer;

void append_number(std::string& out, uint32_t number) {
  char bytes[4];
  std::memcpy(bytes, &number, 4);
  out.append(bytes, 4);
}

// Encodes every record; returns the CPU seconds.
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

std::vector<std::string> records_of(const std::string& path) {
  const std::string content = modewise::read_file(path);
  std::vector<std::string> out;
  for (size_t at = 0; at < content.size(); at += 4 + out.back().size()) {
    uint32_t length;
    std::memcpy(&length, content.data() + at, 4);
    out.push_back(content.substr(at + 4, length));
  }
  return out;
}

void answer_framed(const Tokenizer& tokenizer, const std::string& path, int64_t maximum) {
  const modewise::text::TextFrame frame = modewise::text::text_frame(tokenizer);
  const std::vector<std::string> texts = records_of(path);
  std::string ids, types, places;
  for (size_t i = 0; i + 1 < texts.size(); i += 2) {
    std::optional<std::string_view> second;
    if (!texts[i + 1].empty()) second = texts[i + 1];
    const auto framed = modewise::text::frame_text(tokenizer, frame, texts[i], second, maximum);
    for (std::string* file : {&ids, &types, &places})
      append_number(*file, static_cast<uint32_t>(framed.ids.size() * (file == &places ? 3 : 1)));
    for (size_t j = 0; j < framed.ids.size(); ++j) {
      append_number(ids, static_cast<uint32_t>(framed.ids[j]));
      append_number(types, static_cast<uint32_t>(framed.types[j]));
      append_number(places, framed.pieces[j].begin);
      append_number(places, framed.pieces[j].end);
      append_number(places, static_cast<uint8_t>(framed.texts[j]));
    }
  }
  modewise::write_file_atomically(path + ".ids", ids);
  modewise::write_file_atomically(path + ".types", types);
  modewise::write_file_atomically(path + ".places", places);
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const size_t tab = line.find('\t'), second = line.find('\t', tab + 1);
    try {
      const auto tokenizer = modewise::text::load_tokenizer(line.substr(0, tab));
      const std::string file = line.substr(tab + 1, second == std::string::npos ? second : second - tab - 1);
      if (second != std::string::npos) {
        answer_framed(*tokenizer, file, std::stoll(line.substr(second + 1)));
        std::printf("0\n");
      } else {
        std::printf("%f\n", answer(*tokenizer, file));
      }
    } catch (const modewise::Error& error) {
      std::printf("error %d %s\n", error.exit_code(), error.what());
    }
    std::fflush(stdout);
  }
}
