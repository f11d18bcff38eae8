#include "modewise/ops/cuda/cubin_launcher.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <bit>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "modewise/core/file.h"
#include "modewise/core/parse_json.h"
#include "modewise/ops/cuda/cuda_driver.h"
#include "modewise/ops/cuda/self_test.h"
#include "modewise/ops/kernel_list.h"

namespace modewise::ops::cuda {
namespace {

/// CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES.
constexpr int kMajor = 75, kMinor = 76, kMaxShared = 8;

struct Image {
  std::string file, symbol;
  unsigned threads, shared;
};

/// "*bf16:16": a type, and the number of which the value is a multiple.
struct Parameter {
  std::string type;
  uint64_t divisor;
};

struct Variant {
  std::vector<Parameter> parameters;
  std::map<std::string, Image> images;  // sm_90, …; ptx
};

/// A loaded kernel, or the reason why it cannot be loaded.
struct Loaded {
  void* function = nullptr;
  unsigned threads = 0, shared = 0;
  std::string reason;
};

struct Device {
  void* context = nullptr;
  int major = 0, minor = 0;
};

const char* type_name(at::ScalarType type) {
  switch (type) {
    case at::kBFloat16:
      return "bf16";
    case at::kHalf:
      return "fp16";
    case at::kFloat:
      return "fp32";
    case at::kDouble:
      return "fp64";
    case at::kBool:
      return "i1";
    case at::kByte:
      return "u8";
    case at::kInt:
      return "i32";
    case at::kLong:
      return "i64";
    default:
      return "unknown";
  }
}

/// As Variant.key in compile.py.
std::string key_of(c10::string_view kernel, at::TensorList tensors, const c10::List<std::string>& names,
                   at::IntArrayRef constants) {
  std::string key(kernel);
  for (const at::Tensor& x : tensors) key += std::string(" ") + type_name(x.scalar_type());
  for (size_t i = 0; i < constants.size(); ++i)
    key += " " + names.get(i) + "=" + std::to_string(constants[i]);
  return key;
}

class CurrentContext {
 public:
  CurrentContext(const CudaDriver& driver, void* context) : driver_(driver) {
    const int error = driver.cuCtxPushCurrent_v2(context);
    TORCH_CHECK(error == 0, "cuCtxPushCurrent: ", driver.reason(error));
  }
  ~CurrentContext() {
    void* popped = nullptr;
    driver_.cuCtxPopCurrent_v2(&popped);
  }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

 private:
  const CudaDriver& driver_;
};

class CubinLauncher {
 public:
  CubinLauncher(std::filesystem::path folder, const CudaDriver& driver);

  void launch(c10::string_view kernel, at::TensorList tensors, at::IntArrayRef integers,
              at::IntArrayRef sizes, at::ArrayRef<double> numbers, const c10::List<std::string>& names,
              at::IntArrayRef constants, int64_t programs);

 private:
  void check(int error, const char* what) const {
    TORCH_CHECK(error == 0, what, ": ", driver_.reason(error));
  }
  const Device& device(int index);
  /// In the current context, that of `on`.
  Loaded load(const Variant& variant, const Device& on) const;

  std::filesystem::path folder_;
  CudaDriver driver_;
  std::map<std::string, Variant, std::less<>> variants_;
  std::mutex mutex_;
  std::map<int, Device> devices_;
  std::map<std::pair<const Variant*, const Device*>, Loaded> loaded_;
};

CubinLauncher::CubinLauncher(std::filesystem::path folder, const CudaDriver& driver)
    : folder_(std::move(folder)), driver_(driver) {
  const auto path = folder_ / "index.json";
  const auto index = parse_json<nlohmann::json>(read_file(path), path.string());
  for (const auto& row : index.at("kernels")) {
    Variant& variant = variants_[row.at("key")];
    for (const std::string text : row.at("parameters")) {
      const size_t colon = text.find(':');
      variant.parameters.push_back(
          {text.substr(0, colon), colon == std::string::npos ? 1 : std::stoull(text.substr(colon + 1))});
    }
    for (const auto& [name, image] : row.at("images").items())
      variant.images[name] = {image.at("file"), image.at("symbol"), image.at("threads"), image.at("shared")};
  }
}

const Device& CubinLauncher::device(int index) {
  Device& found = devices_[index];
  if (found.context != nullptr) return found;
  int number = 0;
  check(driver_.cuDeviceGet(&number, index), "cuDeviceGet");
  check(driver_.cuDeviceGetAttribute(&found.major, kMajor, number), "cuDeviceGetAttribute");
  check(driver_.cuDeviceGetAttribute(&found.minor, kMinor, number), "cuDeviceGetAttribute");
  check(driver_.cuDevicePrimaryCtxRetain(&found.context, number), "cuDevicePrimaryCtxRetain");
  return found;
}

Loaded CubinLauncher::load(const Variant& variant, const Device& on) const {
  Loaded out{.reason = "no compiled kernel is for this GPU"};
  // A cubin of sm_80 runs on sm_86 and sm_89; those of sm_90 and sm_100 run on their own GPU only.
  for (const auto& name :
       {fmt::format("sm_{}{}", on.major, on.major == 8 ? 0 : on.minor), std::string("ptx")}) {
    const auto found = variant.images.find(name);
    if (found == variant.images.end()) continue;
    const Image& image = found->second;
    std::string bytes;
    try {
      bytes = read_file(folder_ / image.file);
    } catch (const std::exception& error) {
      out.reason = error.what();
      continue;
    }
    void *module = nullptr, *function = nullptr;
    int error = driver_.cuModuleLoadData(&module, bytes.c_str());
    if (error == 0) error = driver_.cuModuleGetFunction(&function, module, image.symbol.c_str());
    if (error == 0 && image.shared > 48 * 1024)
      error = driver_.cuFuncSetAttribute(function, kMaxShared, static_cast<int>(image.shared));
    if (error == 0) return {function, image.threads, image.shared, ""};
    out.reason = fmt::format("{} cannot be loaded: {}", image.file, driver_.reason(error));
  }
  return out;
}

/// Arguments of a launch, each in 8 bytes, as the kernel's parameters want them.
class Arguments {
 public:
  explicit Arguments(const std::vector<Parameter>& parameters) : parameters_(parameters) {}

  void add(uint64_t bits, std::string_view type) {
    const size_t i = values_.size();
    if (i >= parameters_.size() ||
        (parameters_[i].type != type && !(type == "*" && parameters_[i].type[0] == '*')))
      throw KernelMissing(fmt::format("the compiled kernel has another argument {}", i));
    if (bits % parameters_[i].divisor != 0)
      throw KernelMissing(fmt::format("the compiled kernel takes multiples of {} as argument {}, got {}",
                                      parameters_[i].divisor, i, static_cast<int64_t>(bits)));
    values_.push_back(bits);
  }
  std::vector<void*> pointers() {
    if (values_.size() != parameters_.size())
      throw KernelMissing(
          fmt::format("the compiled kernel has {} arguments, not {}", parameters_.size(), values_.size()));
    values_.insert(values_.end(), {0, 0});  // scratch memory, which no compiled kernel needs
    std::vector<void*> out;
    for (uint64_t& value : values_) out.push_back(&value);
    out.push_back(nullptr);  // the end, for the stand-in of the tests
    return out;
  }

 private:
  const std::vector<Parameter>& parameters_;
  std::vector<uint64_t> values_;
};

void CubinLauncher::launch(c10::string_view kernel, at::TensorList tensors, at::IntArrayRef integers,
                           at::IntArrayRef sizes, at::ArrayRef<double> numbers,
                           const c10::List<std::string>& names, at::IntArrayRef constants, int64_t programs) {
  const std::string key = key_of(kernel, tensors, names, constants);
  const auto variant = variants_.find(key);
  if (variant == variants_.end()) throw KernelMissing("no kernel was compiled for " + key);
  Arguments arguments(variant->second.parameters);
  for (const at::Tensor& x : tensors) arguments.add(reinterpret_cast<uint64_t>(x.data_ptr()), "*");
  for (const int64_t value : integers) arguments.add(static_cast<uint64_t>(value), "i64");
  for (const int64_t value : sizes) {
    if (value > std::numeric_limits<int32_t>::max())
      throw KernelMissing(fmt::format("the compiled kernel takes 32-bit sizes, got {}", value));
    arguments.add(static_cast<uint64_t>(value), "i32");
  }
  for (const double value : numbers)
    arguments.add(std::bit_cast<uint32_t>(static_cast<float>(value)), "fp32");
  std::vector<void*> pointers = arguments.pointers();

  const at::Device place = tensors[0].device();
  void* stream = nullptr;
  if (place.is_cuda()) stream = c10::impl::VirtualGuardImpl(place.type()).getStream(place).native_handle();
  const std::lock_guard lock(mutex_);
  const Device& on = device(std::max<int>(place.index(), 0));
  const CurrentContext current(driver_, on.context);
  auto [found, added] = loaded_.try_emplace({&variant->second, &on});
  if (added) found->second = load(variant->second, on);
  const Loaded& loaded = found->second;
  if (loaded.function == nullptr) throw KernelMissing(loaded.reason);
  check(driver_.cuLaunchKernel(loaded.function, static_cast<unsigned>(programs), 1, 1, loaded.threads, 1, 1,
                               loaded.shared, stream, pointers.data(), nullptr),
        key.c_str());
}

/// Never freed: kernels may run while static objects are destroyed.
CubinLauncher* launcher = nullptr;

void launch_compiled(c10::string_view kernel, at::TensorList tensors, at::IntArrayRef integers,
                     at::IntArrayRef sizes, at::ArrayRef<double> numbers, const c10::List<std::string>& names,
                     at::IntArrayRef constants, int64_t programs) {
  launcher->launch(kernel, tensors, integers, sizes, numbers, names, constants, programs);
}

bool check_compiled(c10::string_view op, const at::Tensor& like) {
  const std::string fault = kernels_fault(std::string(op), like.device());
  if (!fault.empty())
    TORCH_WARN("modewise: the compiled kernels of ", op, " are not used on ", like.device(), ": ", fault);
  return fault.empty();
}

}  // namespace

std::filesystem::path compiled_kernels_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&compiled_kernels_folder), &info) == 0) return "modewise_kernels";
  return std::filesystem::path(info.dli_fname).parent_path() / "modewise_kernels";
}

std::string use_compiled_kernels(const std::filesystem::path& folder, const std::string& driver,
                                 c10::DispatchKey key) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("modewise::launch", "");
  if (op.hasKernelForDispatchKey(key)) return "";
  const char* wanted = std::getenv("MODEWISE_TRITON");
  if (wanted != nullptr && std::string_view(wanted) == "0") return "MODEWISE_TRITON is 0";
  if (!std::filesystem::exists(folder / "index.json")) return "there are no kernels in " + folder.string();
  CudaDriver functions{};
  if (std::string reason = open_driver(driver, functions); !reason.empty()) return reason;
  try {
    launcher = new CubinLauncher(folder, functions);
  } catch (const std::exception& error) {
    return error.what();
  }
  static torch::Library library(torch::Library::IMPL, "modewise", key, __FILE__, __LINE__);
  library.impl("launch", launch_compiled);
  library.impl("check_kernels", check_compiled);
  return "";
}

// For tests, on tensors of the CPU.
TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def("use_compiled_kernels(str folder, str driver, str key) -> str",
        [](const std::string& folder, const std::string& driver, const std::string& key) {
          return use_compiled_kernels(folder, driver, c10::parseDispatchKey(key));
        });
}

}  // namespace modewise::ops::cuda
