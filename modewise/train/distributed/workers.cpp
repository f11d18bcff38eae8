#include "modewise/train/distributed/workers.h"

#include <ATen/ops/zeros.h>
#include <fmt/ranges.h>

#include <functional>
#include <vector>

#include "modewise/core/error.h"

namespace modewise::train {
namespace {

class SingleProcess final : public Workers {
 public:
  int64_t rank() const override { return 0; }
  int64_t size() const override { return 1; }
  void all_reduce_sum(at::Tensor& /*values*/) override {}
  int64_t all_reduce_max(int64_t value) override { return value; }
};

std::unique_ptr<Workers>& joined() {
  static std::unique_ptr<Workers> group;
  return group;
}

}  // namespace

Workers& single_process() {
  static SingleProcess workers;
  return workers;
}

Workers& workers() {
  return joined() ? *joined() : single_process();
}

void Workers::send(const at::Tensor& /*tensor*/, int64_t to) {
  fail(ErrorKind::internal, "cannot send to process {}: there is only one process", to);
}

at::Tensor Workers::receive(int64_t from) {
  fail(ErrorKind::internal, "cannot receive from process {}: there is only one process", from);
}

void join(std::unique_ptr<Workers> others) {
  joined() = std::move(others);
}

void check_equal_on_all_ranks(Workers& workers, std::span<const Common> values) {
  if (workers.size() == 1) return;
  at::Tensor all = at::zeros({std::ssize(values), workers.size()}, at::kLong);
  int64_t* own = all.mutable_data_ptr<int64_t>() + workers.rank();
  for (size_t i = 0; i < values.size(); ++i)
    own[static_cast<int64_t>(i) * workers.size()] =
        static_cast<int64_t>(std::hash<std::string>()(values[i].value));
  workers.all_reduce_sum(all);  // one cell per worker: the others add 0
  const int64_t* row = all.const_data_ptr<int64_t>();
  for (const Common& one : values) {
    std::vector<int64_t> others;
    for (int64_t rank = 1; rank < workers.size(); ++rank)
      if (row[rank] != row[0]) others.push_back(rank);
    require(others.empty(), ErrorKind::data, "the processes disagree: rank {} has different {} than rank 0",
            fmt::join(others, ", "), one.what);
    row += workers.size();
  }
}

}  // namespace modewise::train
