// CSV reading throughput in bytes per second on one core. Target: 100 MB/s or more on numeric files.
//   build/bin/csv_bench [--file=weather.csv]

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "modewise/core/file.h"
#include "modewise/core/random.h"
#include "modewise/io/numeric_text.h"
#include "modewise/io/tables/csv.h"
#include "modewise/io/tables/date_time.h"

namespace {

using namespace modewise;

enum Shape { short_numbers, long_numbers, missing_and_text };

// Rows every ten minutes with 20 values: as a weather station writes them (two decimals), as Python writes
// doubles, or with missing values and a wind direction.
std::string table_text(Shape shape) {
  constexpr int kRows = 20000, kColumns = 20;
  static constexpr std::string_view kWinds[] = {"N", "NNE", "SW", "WSW"};
  std::string text = "date";
  for (int c = 0; c < kColumns; ++c) text += fmt::format(",x{}", c);
  text += "\n";
  RandomStream random{1, RandomSite{0}, 0};
  for (int row = 0; row < kRows; ++row) {
    text += io::format_date_time(int64_t{row} * 600, {});
    for (int c = 0; c < kColumns; ++c) {
      const double value =
          100 * random.uniform(static_cast<uint64_t>(row) * kColumns + static_cast<uint64_t>(c));
      if (shape == short_numbers) {
        text += fmt::format(",{:.2f}", value);
      } else if (shape == long_numbers) {
        text += fmt::format(",{}", value);
      } else if (c == 0) {
        text += fmt::format(",\"{}\"", kWinds[row % 4]);
      } else {
        text += value < 10 ? std::string(",NA") : fmt::format(",{:.1f}", value);
      }
    }
    text += "\n";
  }
  return text;
}

void read_table(benchmark::State& state, const std::string& text) {
  for (auto _ : state) {
    io::CsvTable table = io::parse_csv(as_bytes(text), "benchmark");
    benchmark::DoNotOptimize(table.columns.data());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}

void read_matrix(benchmark::State& state) {
  std::string text = table_text(short_numbers);
  text.erase(0, text.find('\n') + 1);
  std::string numbers;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin), comma = text.find(',', begin);
    numbers += text.substr(comma + 1, end - comma);
    begin = end + 1;
  }
  for (auto _ : state) {
    io::NumericText matrix = io::parse_numeric_text(as_bytes(numbers), "benchmark");
    benchmark::DoNotOptimize(matrix.values.data());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * numbers.size()));
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::RegisterBenchmark("csv/short_numbers",
                               [](benchmark::State& s) { read_table(s, table_text(short_numbers)); });
  benchmark::RegisterBenchmark("csv/long_numbers",
                               [](benchmark::State& s) { read_table(s, table_text(long_numbers)); });
  benchmark::RegisterBenchmark("csv/missing_and_text",
                               [](benchmark::State& s) { read_table(s, table_text(missing_and_text)); });
  benchmark::RegisterBenchmark("numeric_text/short_numbers", read_matrix);
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (!argument.starts_with("--file=")) continue;
    const std::string path(argument.substr(7));
    benchmark::RegisterBenchmark("csv/file", [path](benchmark::State& s) { read_table(s, read_file(path)); });
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
