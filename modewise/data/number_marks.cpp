#include "modewise/data/number_marks.h"

#include "modewise/core/error.h"
#include "modewise/core/fields.h"
#include "modewise/io/tables/csv.h"

namespace modewise::data {

void add_number_marks(Fields& f, NumberMarks& marks) {
  f.add("decimal", marks.decimal, "decimal mark of a CSV file; auto: decided from its numbers",
        {.one_of = {"auto", ".", ","}});
  f.add("thousands", marks.thousands,
        "mark between groups of three digits in a CSV file; auto: decided from its numbers",
        {.one_of = {"auto", "none", ",", ".", "'", "space"}});
  f.add("magnitudes", marks.magnitudes,
        "whether K, M and B behind numbers are thousands, millions and billions; false: units, as K for "
        "kelvin");
}

void set_number_marks(io::CsvOptions& options, const NumberMarks& marks) {
  const auto& [decimal, thousands, magnitudes] = marks;
  if (decimal != "auto") options.decimal = decimal[0];
  if (thousands != "auto")
    options.thousands = thousands == "none" ? '\0' : thousands == "space" ? ' ' : thousands[0];
  require(!options.thousands || *options.thousands != decimal[0], ErrorKind::config,
          "data.thousands and data.decimal are both '{}'", decimal);
  options.magnitudes = magnitudes;
}

}  // namespace modewise::data
