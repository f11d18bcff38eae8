// A GEMM with many rows packs all of b first, in rounds of bounded memory, then threads take blocks of rows.
// A GEMM with few rows, or a batch of small ones, packs within the tasks: threads take panels, or whole
// products.

#include "modewise/ops/cpu/gemm.h"

#include <c10/core/CPUAllocator.h>

#include <algorithm>

#include "modewise/ops/cpu/dispatch_type.h"
#include "modewise/ops/cpu/row_tasks.h"
#include "modewise/ops/cpu/scratch.h"

namespace modewise::ops {

namespace {

constexpr int64_t kBlockRows = 96;  // with a piece of depth, half of the L2 cache
constexpr int64_t kFewRows = 192;   // up to here packing in every task costs about the same
constexpr int64_t kRoundBytes = int64_t{8} << 20;
constexpr int64_t kTaskElements = int64_t{1}
                                  << 17;  // maximum number of sums that a task keeps between pieces of depth
constexpr int64_t kMultiplyAdds = 16;     // multiply-adds per element of memory-bound work of equal cost

/// Panels [p, p_end) of one product.
struct Unit {
  const GemmPlan* plan;
  int64_t p, p_end;
};
struct Task {
  Unit unit;
  int64_t row, row_end;
  const char* packed;
};
/// One panel and the offset of its packed form.
struct Packing {
  const GemmPlan* plan;
  int64_t p, at;
};

int64_t ceil_of(int64_t value, int64_t by) {
  return (value + by - 1) / by;
}

int64_t multiply_adds(const Task& task, int64_t panel) {
  return (task.row_end - task.row) * (task.unit.p_end - task.unit.p) * panel * task.unit.plan->depth;
}

template <class T>
void run_tasks(const GemmLoops<T>& loops, const std::vector<Task>& tasks) {
  if (tasks.empty()) return;
  int64_t all_work = 0;
  for (const Task& task : tasks) all_work += multiply_adds(task, loops.panel);
  const int64_t task_work = all_work / static_cast<int64_t>(tasks.size()) / kMultiplyAdds;
  for_tasks(static_cast<int64_t>(tasks.size()), task_work, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Task& task = tasks[static_cast<size_t>(i)];
      const GemmPlan& plan = *task.unit.plan;
      const int64_t rows = task.row_end - task.row, panels = task.unit.p_end - task.unit.p;
      loops.multiply(plan, task.row, task.row_end, task.unit.p, task.unit.p_end, task.packed,
                     thread_scratch(loops.scratch(plan, rows, panels)));
    }
  });
}

/// Number of tasks; results do not depend on the partition, so it may depend on the number of threads.
int64_t tasks_wanted() {
  const int64_t threads = at::in_parallel_region() ? 1 : at::get_num_threads();
  return threads == 1 ? 1 : 4 * threads;
}

/// Tasks of one product with few rows, split into ranges of panels.
template <class T>
void add_panel_tasks(const GemmLoops<T>& loops, const GemmPlan& plan, int64_t wanted,
                     std::vector<Task>& tasks) {
  const int64_t panels = ceil_of(plan.columns, loops.panel);
  const int64_t maximum = std::max<int64_t>(kTaskElements / (plan.rows * loops.panel), 1);
  const int64_t each = std::min(ceil_of(panels, std::min(panels, wanted)), maximum);
  for (int64_t p = 0; p < panels; p += each)
    tasks.push_back({{&plan, p, std::min(p + each, panels)}, 0, plan.rows, nullptr});
}

/// Packs the panels of the units, then multiplies them with all rows.
template <class T>
void run_round(const GemmLoops<T>& loops, const std::vector<Unit>& units) {
  std::vector<Packing> packing;
  int64_t bytes = 0;
  for (const Unit& unit : units) {
    for (int64_t p = unit.p; p < unit.p_end; ++p) {
      packing.push_back({unit.plan, p, bytes});
      bytes += loops.panel_bytes(unit.plan->depth);
    }
  }
  const auto memory = c10::GetCPUAllocator()->allocate(static_cast<size_t>(bytes));
  auto* packed = static_cast<char*>(memory.get());
  const int64_t task_work = loops.panel * units.front().plan->depth;
  for_tasks(static_cast<int64_t>(packing.size()), task_work, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Packing& one = packing[static_cast<size_t>(i)];
      loops.pack(*one.plan, one.p, packed + one.at);
    }
  });
  std::vector<Task> tasks;
  int64_t blocks = 0;
  for (const Unit& unit : units) blocks += ceil_of(unit.plan->rows, kBlockRows);
  for (const Unit& unit : units) {
    const int64_t panels = unit.p_end - unit.p, size = loops.panel_bytes(unit.plan->depth);
    const int64_t each = ceil_of(panels, std::min(panels, ceil_of(tasks_wanted(), blocks)));
    for (int64_t row = 0; row < unit.plan->rows; row += kBlockRows)
      for (int64_t p = 0; p < panels; p += each)
        tasks.push_back({{unit.plan, unit.p + p, unit.p + std::min(p + each, panels)},
                         row,
                         std::min(row + kBlockRows, unit.plan->rows),
                         packed + p * size});
    packed += panels * size;
  }
  run_tasks(loops, tasks);
}

template <class T>
void run_large(const GemmLoops<T>& loops, const std::vector<const GemmPlan*>& plans) {
  std::vector<Unit> units;
  int64_t bytes = 0;
  for (const GemmPlan* plan : plans) {
    const int64_t panels = ceil_of(plan->columns, loops.panel), size = loops.panel_bytes(plan->depth);
    for (int64_t p = 0; p < panels;) {
      const int64_t fit = std::max<int64_t>((kRoundBytes - bytes) / size, units.empty() ? 1 : 0);
      const int64_t count = std::min(panels - p, fit);
      if (count > 0) units.push_back({plan, p, p + count});
      p += count;
      bytes += count * size;
      if (p == panels) break;
      run_round(loops, units);
      units.clear();
      bytes = 0;
    }
  }
  if (!units.empty()) run_round(loops, units);
}

template <class T>
void run_plans(const GemmLoops<T>& loops, const std::vector<GemmPlan>& plans) {
  std::vector<const GemmPlan*> small, large;
  for (const GemmPlan& plan : plans)
    if (plan.rows > 0 && plan.columns > 0)
      (plan.rows > kFewRows && plan.depth > 0 ? large : small).push_back(&plan);
  std::vector<Task> tasks;
  const int64_t wanted = small.empty() ? 1 : ceil_of(tasks_wanted(), static_cast<int64_t>(small.size()));
  for (const GemmPlan* plan : small) add_panel_tasks(loops, *plan, wanted, tasks);
  run_tasks(loops, tasks);
  run_large(loops, large);
}

/// Byte offsets of the matrices of t [..., R, C], last batch dimension fastest.
std::vector<int64_t> matrix_bytes(const at::Tensor& t) {
  std::vector<int64_t> places = {0};
  for (int64_t i = 0; i < t.dim() - 2; ++i) {
    std::vector<int64_t> next;
    next.reserve(places.size() * static_cast<size_t>(t.size(i)));
    for (const int64_t place : places)
      for (int64_t j = 0; j < t.size(i); ++j) next.push_back(place + j * t.stride(i) * t.element_size());
    places = std::move(next);
  }
  return places;
}

}  // namespace

GemmPlan gemm_plan(const at::Tensor& a, const at::Tensor& b, const at::Tensor& bias, const at::Tensor& out) {
  return {.rows = a.size(-2),
          .columns = b.size(-1),
          .depth = a.size(-1),
          .a = a.const_data_ptr(),
          .a_row = a.stride(-2),
          .a_col = a.stride(-1),
          .b = b.const_data_ptr(),
          .b_row = b.stride(-2),
          .b_col = b.stride(-1),
          .bias = bias.defined() ? bias.const_data_ptr() : nullptr,
          .out = out.mutable_data_ptr(),
          .out_row = out.stride(-2),
          .wide = out.scalar_type() != a.scalar_type()};
}

GemmPlan gemm_plan(const at::Tensor& a, const LinedMatrix& b, int64_t b_first, const at::Tensor& out) {
  GemmPlan plan = gemm_plan(a, out, {}, out);
  plan.b = b.at;
  plan.b_lines = &b;
  plan.b_first = b_first;
  return plan;
}

GemmPlan gemm_plan(const LinedMatrix& a, const at::Tensor& b, const at::Tensor& bias, const at::Tensor& out) {
  GemmPlan plan = gemm_plan(out, b, bias, out);
  plan.depth = b.size(-2);
  plan.a = a.at;
  plan.a_lines = &a;
  return plan;
}

std::vector<GemmPlan> gemm_plans(const at::Tensor& a, const at::Tensor& b, const at::Tensor& out) {
  const auto a_at = matrix_bytes(a), b_at = matrix_bytes(b), out_at = matrix_bytes(out);
  std::vector<GemmPlan> plans(out_at.size(), gemm_plan(a, b, {}, out));
  for (size_t i = 0; i < plans.size(); ++i) {
    plans[i].a = static_cast<const char*>(plans[i].a) + a_at.at(i);
    plans[i].b = static_cast<const char*>(plans[i].b) + b_at.at(i);
    plans[i].out = static_cast<char*>(plans[i].out) + out_at[i];
  }
  return plans;
}

at::Tensor as_rows(const at::Tensor& x) {
  if (x.dim() == 1) return x.unsqueeze(0);
  return x.dim() == 2 ? x : x.flatten(0, -2);
}

void gemm(at::ScalarType type, const std::vector<GemmPlan>& plans) {
  dispatch_floating(type, "gemm", [&]<class T>() { run_plans(*loops().of<T>().gemm, plans); });
}

}  // namespace modewise::ops
