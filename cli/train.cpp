#include "cli/commands.h"

namespace modewise::cli {

void add_train(Program& program) {
  CLI::App* train = program.app().add_subcommand("train", "Trains a model on a data set");
  train->require_subcommand(1);
  add_train_forecast(program, *train);
  add_train_classify(program, *train);
  add_train_segment(program, *train);
  add_train_language(program, *train);
  add_train_series(program, *train);
}

}  // namespace modewise::cli
