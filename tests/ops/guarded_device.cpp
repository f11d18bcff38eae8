// Test device (libtorch's PrivateUse1): its memory is CPU memory that is access-protected except while
// libtorch copies from or to it. Operators of libtorch run on CPU copies, and refuse CPU tensors. Code that
// accesses this memory as if it were the CPU's ends the process (SIGSEGV). GUARDED_DEVICE_BYTES is the size
// of its memory, GUARDED_DEVICE_COPIES and GUARDED_DEVICE_OPERATORS the number of copies and of operators
// after which it is lost; none: no limit.

#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <sys/mman.h>
#include <torch/library.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <map>
#include <mutex>
#include <string>

namespace modewise {
namespace {

constexpr c10::DeviceType kGuarded = c10::DeviceType::PrivateUse1;
const c10::Device device(kGuarded, 0);

struct OneDevice : c10::impl::NoOpDeviceGuardImpl<kGuarded> {
  c10::Device getDevice() const override { return device; }
  c10::Device exchangeDevice(c10::Device) const override { return device; }
  c10::Stream getStream(c10::Device) const noexcept override {
    return c10::Stream(c10::Stream::DEFAULT, device);
  }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, OneDevice);

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
};
const bool registered = [] {
  c10::register_privateuse1_backend("guarded");
  at::RegisterPrivateUse1HooksInterface(new Hooks);
  return true;
}();

int64_t limit_of(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? std::numeric_limits<int64_t>::max() : std::stoll(text);
}

/// All memory blocks, their sizes, and the number of active copies on each.
class Blocks {
 public:
  static Blocks& all() {
    static auto* blocks = new Blocks;  // Python tensors may outlive every static object
    return *blocks;
  }

  void* add(size_t bytes) {
    static const int64_t size = limit_of("GUARDED_DEVICE_BYTES");
    TORCH_CHECK_WITH(OutOfMemoryError, (bytes_ += static_cast<int64_t>(bytes)) <= size,
                     "the guarded device has ", size, " bytes");
    void* block = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    TORCH_CHECK(block != MAP_FAILED, "no memory for ", bytes, " bytes of the guarded device");
    const std::lock_guard lock(mutex_);
    blocks_[block] = {bytes, 0};
    return block;
  }
  static void remove(void* block) {
    const std::lock_guard lock(all().mutex_);
    munmap(block, all().blocks_.at(block).bytes);
    all().bytes_ -= static_cast<int64_t>(all().blocks_.at(block).bytes);
    all().blocks_.erase(block);
  }
  void open(const at::Tensor& tensor) { change(tensor, 1, PROT_READ | PROT_WRITE); }
  void close(const at::Tensor& tensor) { change(tensor, -1, PROT_NONE); }

 private:
  struct Block {
    size_t bytes;
    int copies;
  };

  /// The first copy unprotects a block, the last one protects it.
  void change(const at::Tensor& tensor, int by, int protection) {
    if (tensor.storage().nbytes() == 0) return;
    const std::lock_guard lock(mutex_);
    void* block = tensor.storage().mutable_data();
    const int before = blocks_.at(block).copies;
    blocks_.at(block).copies += by;
    if (std::min(before, before + by) == 0) mprotect(block, blocks_.at(block).bytes, protection);
  }

  std::mutex mutex_;
  std::map<void*, Block> blocks_;
  std::atomic<int64_t> bytes_ = 0;
};

struct GuardedAllocator final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return {nullptr, device};
    void* block = Blocks::all().add(bytes);
    return {block, block, &Blocks::remove, device};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &Blocks::remove; }
  void copy_data(void*, const void*, std::size_t) const override {
    TORCH_CHECK(false, "the guarded device copies by _copy_from alone");
  }
};

GuardedAllocator allocator;
REGISTER_ALLOCATOR(kGuarded, &allocator);

/// A CPU tensor that shares the device tensor's memory during its lifetime.
class OnCpu {
 public:
  explicit OnCpu(const at::Tensor& tensor) : tensor_(tensor), view_(tensor) {
    if (tensor.device().type() != kGuarded) return;
    Blocks::all().open(tensor);
    view_ = at::from_blob(tensor.mutable_data_ptr(), tensor.sizes(), tensor.strides(),
                          at::TensorOptions(tensor.scalar_type()));
  }
  ~OnCpu() {
    if (tensor_.device().type() == kGuarded) Blocks::all().close(tensor_);
  }
  OnCpu(const OnCpu&) = delete;
  OnCpu& operator=(const OnCpu&) = delete;

  const at::Tensor& view() const { return view_; }

 private:
  at::Tensor tensor_, view_;
};

/// The device is lost when one of its counts is over, for all that follows.
void count_down(std::atomic<int64_t>& left) {
  static std::atomic<bool> lost = false;
  if (--left < 0) lost = true;
  if (lost) throw c10::AcceleratorError({__func__, __FILE__, __LINE__}, 719, "the guarded device is lost");
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool) {
  static std::atomic<int64_t> left = limit_of("GUARDED_DEVICE_COPIES");
  count_down(left);
  const OnCpu source(from), target(to);
  target.view().copy_(source.view());
  return to;
}

constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

at::Tensor empty(at::IntArrayRef sizes, std::optional<at::ScalarType> type, std::optional<at::Layout>,
                 std::optional<at::Device>, std::optional<bool>, std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(sizes, &allocator, kKeys, c10::dtype_or_default(type), format);
}

at::Tensor empty_strided(at::IntArrayRef sizes, at::IntArrayRef strides, std::optional<at::ScalarType> type,
                         std::optional<at::Layout>, std::optional<at::Device>, std::optional<bool>) {
  return at::detail::empty_strided_generic(sizes, strides, &allocator, kKeys, c10::dtype_or_default(type));
}

/// Out tensors of another size get new memory.
const at::Tensor& resize(const at::Tensor& tensor, at::IntArrayRef sizes,
                         std::optional<at::MemoryFormat> format) {
  if (tensor.sizes() == sizes) return tensor;
  const at::Tensor fresh = empty(sizes, tensor.scalar_type(), {}, {}, {}, format);
  tensor.unsafeGetTensorImpl()->set_storage_keep_dtype(fresh.storage());
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, fresh.strides(), 0);
  return tensor;
}

at::Tensor copy_back(const at::Tensor& from, const at::Tensor& to) {
  return copy_from(from, resize(to, from.sizes(), {}), false);
}

/// As on CUDA, operators take no tensors of the CPU together with the device's, but single numbers and, for
/// indexing, positions.
void refuse_cpu_tensors(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  const std::string& name = op.schema().name();
  if (name.starts_with("aten::index") || name == "aten::_index_put_impl_") return;
  const auto refuse = [&](const at::Tensor& tensor) {
    TORCH_CHECK(!tensor.defined() || !tensor.is_cpu() || tensor.dim() == 0, name, " takes a tensor ",
                tensor.sizes(), " of the CPU with those of the guarded device");
  };
  for (const c10::IValue& value : torch::jit::last(stack, op.schema().arguments().size())) {
    if (value.isTensor()) refuse(value.toTensor());
    if (!value.isTensorList()) continue;
    for (const at::Tensor& tensor : value.toTensorVector()) refuse(tensor);
  }
}

void on_copies(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  refuse_cpu_tensors(op, *stack);
  static std::atomic<int64_t> left = limit_of("GUARDED_DEVICE_OPERATORS");
  count_down(left);
  at::native::cpu_fallback(op, stack, /*error_on_views=*/true);
}

/// A copy on the CPU in float32: oneDNN's bfloat16 convolutions are wrong for some sizes.
at::Tensor exact(const at::Tensor& x) {
  return x.scalar_type() == at::kBFloat16 ? x.cpu().to(at::kFloat) : x.cpu();
}

/// Operators that libtorch requires of every device.
at::Tensor convolution(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias,
                       at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
                       bool transposed, at::IntArrayRef output_padding, int64_t groups) {
  const bool added = bias && bias->defined();
  return at::convolution(exact(x), exact(weight), added ? std::optional(exact(*bias)) : std::nullopt, stride,
                         padding, dilation, transposed, output_padding, groups)
      .to(x.scalar_type())
      .to(device);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> convolution_backward(
    const at::Tensor& grad, const at::Tensor& x, const at::Tensor& weight, at::IntArrayRef stride,
    at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed, at::IntArrayRef output_padding,
    int64_t groups, std::array<bool, 3> wanted) {
  const auto [of_x, of_weight, of_bias] =
      at::convolution_backward(exact(grad), exact(x), exact(weight), at::IntArrayRef{weight.size(0)}, stride,
                               padding, dilation, transposed, output_padding, groups, wanted);
  const auto moved = [&](const at::Tensor& tensor) {
    return tensor.defined() ? tensor.to(x.scalar_type()).to(device) : tensor;
  };
  return {moved(of_x), moved(of_weight), moved(of_bias)};
}

}  // namespace

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&on_copies>());
}

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", empty);
  m.impl("empty_strided", empty_strided);
  m.impl("_copy_from", copy_from);
  m.impl("_copy_from_and_resize", copy_back);
  m.impl("resize_", resize);
  m.impl("as_strided", at::native::as_strided_tensorimpl);
  m.impl("view", at::native::view);
  m.impl("_reshape_alias", at::native::_reshape_alias);
  m.impl("convolution_overrideable", convolution);
  m.impl("convolution_backward_overrideable", convolution_backward);
  m.impl("unfold", at::native::unfold);
}

}  // namespace modewise
