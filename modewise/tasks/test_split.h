#pragma once
// Runs that leave the test part of their data unread (train --no-test), so that settings can be chosen
// without it; `evaluate` reads it once, when all is chosen, and writes what training would have written.
//
// metrics.json says "test_read". Where it is false there is no "test", and "validation" is judged in its
// place.

#include <nlohmann/json.hpp>
#include <string>

#include "modewise/train/checkpoint/run_folder.h"

namespace modewise::tasks {

/// Whether the run has finished and nothing has read its test part yet.
bool test_is_unread(const train::RunFolder& run);

/// The part that a finished run is judged by: "test", or "validation" while the test part is unread.
const char* evaluated_part(const nlohmann::ordered_json& metrics);

/// metrics.json of a run that has been judged; throws no_input where it was stopped before that.
nlohmann::ordered_json evaluated_metrics(const train::RunFolder& run);

/// Adds `figures` ({"test": …}) to metrics.json, which then says that the test part was read, and gives
/// data.json the hash of the data with it, by which runs are compared.
void write_test_figures(const train::RunFolder& run, const nlohmann::ordered_json& figures,
                        const std::string& data_hash);

}  // namespace modewise::tasks
