#pragma once
// The processes that train one model together. What they decide they decide alike; what they write the lead
// writes: the lock, metrics, checkpoints and reports of a run.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace modewise::train {

class Workers {
 public:
  virtual ~Workers() = default;

  virtual int64_t rank() const = 0;  // of this process, from 0
  virtual int64_t size() const = 0;  // a power of two
  bool is_rank_zero() const { return rank() == 0; }

  /// Adds `values` of all processes, in place where they are contiguous, along one tree: (0 + 1) + (2 + 3), …
  /// The same bits everywhere. What all call in one order; from any thread, but one after the other.
  virtual void add(at::Tensor& values) = 0;
  /// The largest of all, everywhere.
  virtual int64_t largest(int64_t value) = 0;
  /// Brings a tensor to another of them, who waits for it; what one sends to it arrives in that order.
  virtual void send(const at::Tensor& tensor, int64_t to);
  virtual at::Tensor receive(int64_t from);

  /// What this process has sent to others, and the seconds that this took, their part of it included.
  struct Traffic {
    int64_t bytes = 0;
    double seconds = 0;
  };
  virtual Traffic traffic() const { return {}; }
};

/// One process that trains by itself.
Workers& single_process();

/// Those that this process trains with: itself alone until join().
Workers& workers();
void join(std::unique_ptr<Workers> others);

/// Something that all processes must have alike: "settings", "data".
struct Common {
  const char* what;
  std::string value;
};
/// Data error unless all have the same values as the lead, naming the ranks that differ and in what. What all
/// call alike.
void check_equal_on_all_ranks(Workers& workers, std::span<const Common> values);

/// One part of n samples, in order: from first(n) until last(n).
struct Share {
  int64_t rank = 0, size = 1;
  int64_t first(int64_t n) const { return n * rank / size; }
  int64_t last(int64_t n) const { return n * (rank + 1) / size; }
};

}  // namespace modewise::train
