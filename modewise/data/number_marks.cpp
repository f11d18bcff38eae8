#include "modewise/data/number_marks.h"

#include "modewise/core/error.h"

namespace modewise::data {

void add_number_marks(Fields& f, std::string& decimal, std::string& thousands) {
  f.add("decimal", decimal, "decimal mark of a CSV file; auto: decided from its numbers",
        {.one_of = {"auto", ".", ","}});
  f.add("thousands", thousands,
        "mark between groups of three digits in a CSV file; auto: decided from its numbers",
        {.one_of = {"auto", "none", ",", ".", "'", "space"}});
}

void set_number_marks(io::CsvOptions& options, const std::string& decimal, const std::string& thousands) {
  if (decimal != "auto") options.decimal = decimal[0];
  if (thousands != "auto")
    options.thousands = thousands == "none" ? '\0' : thousands == "space" ? ' ' : thousands[0];
  require(!options.thousands || *options.thousands != decimal[0], ErrorKind::config,
          "data.thousands and data.decimal are both '{}'", decimal);
}

}  // namespace modewise::data
