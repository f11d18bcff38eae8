#pragma once
// Settings of numbers in tables: data.decimal, data.thousands and data.magnitudes.

#include <string>

namespace modewise {
class Fields;
}
namespace modewise::io {
struct CsvOptions;
}

namespace modewise::data {

struct NumberMarks {
  std::string decimal = "auto";    // auto, or the decimal point: . ,
  std::string thousands = "auto";  // auto, none, or the separator: , . ' space
  bool magnitudes = true;          // as io::CsvOptions::magnitudes
};

void add_number_marks(Fields& f, NumberMarks& marks);
/// Config errors for marks that contradict each other.
void set_number_marks(io::CsvOptions& options, const NumberMarks& marks);

}  // namespace modewise::data
