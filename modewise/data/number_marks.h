#pragma once
// Settings of decimal and thousands separators in tables: data.decimal and data.thousands.

#include <string>

#include "modewise/core/fields.h"
#include "modewise/io/tables/csv.h"

namespace modewise::data {

void add_number_marks(Fields& f, std::string& decimal, std::string& thousands);
/// Config errors for marks that contradict each other.
void set_number_marks(io::CsvOptions& options, const std::string& decimal, const std::string& thousands);

}  // namespace modewise::data
