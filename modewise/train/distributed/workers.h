#pragma once
// Workers: the processes of a distributed training and their collectives. All ranks take the same decisions;
// only rank 0 writes: lock, metrics, checkpoints and reports of a run.

#include <ATen/core/Tensor.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace modewise::train {

class Workers {
 public:
  virtual ~Workers() = default;

  virtual int64_t rank() const = 0;  // from 0
  virtual int64_t size() const = 0;  // a power of two
  bool is_rank_zero() const { return rank() == 0; }

  /// All-reduce sum, in place if contiguous, along one tree, (0 + 1) + (2 + 3), …: equal bits on all ranks.
  /// Collective: all ranks call in the same order; from any thread, one at a time.
  virtual void all_reduce_sum(at::Tensor& values) = 0;
  /// All-reduce maximum.
  virtual int64_t all_reduce_max(int64_t value) = 0;
  /// Point-to-point: sends a tensor to rank `to`, which must receive it; messages keep their order.
  virtual void send(const at::Tensor& tensor, int64_t to);
  virtual at::Tensor receive(int64_t from);

  /// Bytes that this process has sent, and the seconds spent in communication, waiting included.
  struct Traffic {
    int64_t bytes = 0;
    double seconds = 0;
  };
  virtual Traffic traffic() const { return {}; }

  /// The longest wait for another process, after which a collective call fails.
  virtual void set_timeout(std::chrono::milliseconds /*timeout*/) {}
};

/// A single process without peers.
Workers& single_process();

/// The workers of this process: a single process until join().
Workers& workers();
void join(std::unique_ptr<Workers> others);

/// A value that must be equal on all ranks: "settings", "data".
struct Common {
  std::string what;
  std::string value;
};
/// Data error unless all ranks have rank 0's values; it names the value and the ranks that differ.
/// Collective.
void check_equal_on_all_ranks(Workers& workers, std::span<const Common> values);

/// A contiguous share of n samples: [first(n), last(n)).
struct Share {
  int64_t rank = 0, size = 1;
  int64_t first(int64_t n) const { return n * rank / size; }
  int64_t last(int64_t n) const { return n * (rank + 1) / size; }
};

}  // namespace modewise::train
