// Python binding of ops::AttentionCache, the KV cache of one layer during generation:
// torch.classes.modewise.AttentionCache.

#include "modewise/ops/attention/attention_cache.h"

#include <torch/custom_class.h>
#include <torch/library.h>

#include <optional>
#include <string>
#include <vector>

namespace modewise::python {
namespace {

class AttentionCache : public torch::CustomClassHolder {
 public:
  AttentionCache(const std::string& type, const std::vector<int64_t>& fold, int64_t window, int64_t sinks,
                 double density, const std::optional<at::Tensor>& latents,
                 const std::optional<at::Tensor>& frequencies, const std::vector<double>& gains)
      : cache_({.type = type, .fold = fold, .window = window, .sinks = sinks, .density = density},
               latents.value_or(at::Tensor()), {frequencies.value_or(at::Tensor()), gains, {}}) {}

  at::Tensor step(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
    return cache_.step(q, k, v);
  }
  int64_t length() const { return cache_.length(); }
  int64_t bytes() const { return cache_.bytes(); }

 private:
  ops::AttentionCache cache_;
};

}  // namespace

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.class_<AttentionCache>("AttentionCache")
      .def(torch::init<const std::string&, const std::vector<int64_t>&, int64_t, int64_t, double,
                       const std::optional<at::Tensor>&, const std::optional<at::Tensor>&,
                       const std::vector<double>&>())
      .def("step", &AttentionCache::step)
      .def("length", &AttentionCache::length)
      .def("bytes", &AttentionCache::bytes);
}

}  // namespace modewise::python
