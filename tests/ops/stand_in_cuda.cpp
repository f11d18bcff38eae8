// Stand-in for the CUDA driver's library: it loads cubins and runs nothing. It compares each launch with the
// cubin's own records, and appends one line for each launch to the file STAND_IN_CUDA_LOG: kernel, programs
// and arguments, each "bytes:hexadecimal". After the last argument it wants a null pointer. STAND_IN_CUDA_GPU
// is the GPU's compute capability, such as 90.

#include <elf.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

namespace {

// Errors of the CUDA driver.
constexpr int kInvalidValue = 1, kInvalidImage = 200, kNoBinary = 209, kInvalidContext = 201, kNotFound = 500;
// Records of a cubin: parameters, number of threads.
constexpr uint8_t kSized = 4, kParameter = 0x17, kThreads = 0x10;
constexpr int kSharedLimit = 232448, kGpu = 90;

struct Parameter {
  unsigned offset, bytes;
};

struct Function {
  std::string name;
  std::map<int, Parameter> parameters;
  uint32_t threads = 0;
  unsigned shared = 48 * 1024;
};

int contexts = 0;

template <class T>
T read(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

int fail(const char* why, long got, long wanted) {
  std::fprintf(stderr, "stand-in for CUDA: %s: got %ld, the kernel wants %ld\n", why, got, wanted);
  return kInvalidValue;
}

void read_records(const char* at, const char* end, Function& function) {
  while (at + 4 <= end) {
    const auto format = read<uint8_t>(at), attribute = read<uint8_t>(at + 1);
    const auto size = read<uint16_t>(at + 2);
    const char* data = at + 4;
    if (format == kSized && attribute == kParameter)
      function.parameters[read<uint16_t>(data + 4)] = {read<uint16_t>(data + 6),
                                                       read<uint32_t>(data + 8) >> 18};
    if (format == kSized && attribute == kThreads) function.threads = read<uint32_t>(data);
    at = data + (format == kSized ? size : 0);
  }
}

int gpu() {
  const char* text = std::getenv("STAND_IN_CUDA_GPU");
  return text == nullptr ? kGpu : std::atoi(text);
}

}  // namespace

extern "C" {

int cuInit(unsigned) {
  return 0;
}
int cuGetErrorString(int, const char** text) {
  *text = "refused by the stand-in";
  return 0;
}
int cuDeviceGet(int* device, int number) {
  *device = number;
  return number == 0 ? 0 : kInvalidValue;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 75 ? gpu() / 10 : gpu() % 10;
  return attribute == 75 || attribute == 76 ? 0 : kInvalidValue;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &contexts;
  return 0;
}
int cuCtxPushCurrent_v2(void*) {
  ++contexts;
  return 0;
}
int cuCtxPopCurrent_v2(void**) {
  return contexts-- > 0 ? 0 : kInvalidContext;
}

/// The image must stay where it is until its function is known.
int cuModuleLoadData(void** module, const void* data) {
  if (contexts == 0) return kInvalidContext;
  if (std::memcmp(data, ELFMAG, SELFMAG) != 0) return kInvalidImage;
  *module = const_cast<void*>(data);
  return 0;
}

int cuModuleGetFunction(void** out, void* module, const char* name) {
  const char* base = static_cast<const char*>(module);
  const auto header = read<Elf64_Ehdr>(base);
  const auto section = [&](int i) {
    return read<Elf64_Shdr>(base + header.e_shoff + i * sizeof(Elf64_Shdr));
  };
  const char* names = base + section(header.e_shstrndx).sh_offset;
  auto* function = new Function;
  function->name = name;
  bool found = false;
  for (int i = 0; i < header.e_shnum; ++i) {
    const auto part = section(i);
    const std::string title = names + part.sh_name;
    found = found || title == ".text." + function->name;
    if (title == ".nv.info." + function->name)
      read_records(base + part.sh_offset, base + part.sh_offset + part.sh_size, *function);
  }
  *out = function;
  return found ? 0 : kNotFound;
}

int cuFuncSetAttribute(void* function, int attribute, int value) {
  if (attribute != 8 || value > kSharedLimit) return kInvalidValue;
  static_cast<Function*>(function)->shared = static_cast<unsigned>(value);
  return 0;
}

int cuLaunchKernel(void* kernel, unsigned x, unsigned y, unsigned z, unsigned wide, unsigned high,
                   unsigned deep, unsigned shared, void*, void** arguments, void**) {
  const auto& function = *static_cast<Function*>(kernel);
  if (contexts == 0) return kInvalidContext;
  if (wide * high * deep != function.threads) return fail("threads", wide * high * deep, function.threads);
  if (shared > function.shared) return fail("bytes of shared memory", shared, function.shared);
  if (x == 0 || y != 1 || z != 1) return fail("programs", x, 1);
  std::ofstream log(std::getenv("STAND_IN_CUDA_LOG"), std::ios::app);
  log << function.name << " " << x << std::hex;
  for (const auto& [number, parameter] : function.parameters) {
    if (arguments[number] == nullptr) return fail("arguments", number, std::ssize(function.parameters));
    uint64_t value = 0;
    std::memcpy(&value, arguments[number], parameter.bytes);
    log << " " << parameter.bytes << ":" << value;
  }
  if (arguments[function.parameters.size()] != nullptr)
    return fail("arguments", std::ssize(function.parameters) + 1, std::ssize(function.parameters));
  log << "\n";
  return 0;
}

}  // extern "C"
