#pragma once
// Registration of the commands, one file each. Task-specific behaviour is in the TaskSpec of each task
// (modewise/tasks/run/task_spec.h).

#include "cli/program.h"

namespace modewise::cli {

void add_train(Program& program);
void add_evaluate(Program& program);
void add_predict(Program& program);
void add_backtest(Program& program);
void add_compare(Program& program);
void add_report(Program& program);
void add_data(Program& program);
void add_config(Program& program);
void add_info(Program& program);
void add_demo(Program& program);
void add_sweep(Program& program);
void add_reproduce(Program& program);
void add_tokenize(Program& program);
void add_generate(Program& program);
void add_convert(Program& program);
void add_decompose(Program& program);
void add_cost(Program& program);
void add_explain(Program& program);
void add_score(Program& program);
void add_caption(Program& program);
void add_completion(Program& program);
void add_manual(Program& program);

}  // namespace modewise::cli
