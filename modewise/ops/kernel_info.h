#pragma once
// Kernel registry of the operators: kernels in order of preference, the active instruction set, the last
// kernel run.

#include <string>
#include <string_view>
#include <vector>

namespace modewise::ops {

struct KernelSummary {
  std::string op;
  std::vector<std::string> kernels;  // fastest first, reference last
};

/// One entry per operator, sorted by name.
std::vector<KernelSummary> kernel_summary();

/// Instruction sets that this build and CPU support, slowest first: "scalar", "avx2", "avx512", "avx512bf16"
/// (AVX-512 with bfloat16 dot products), "amx" (tiles), "amx_vectors" (bitwise emulation of AMX tiles by
/// AVX-512, to verify results of a CPU with AMX).
std::vector<std::string> available_isas();
/// The active one: the fastest available, which is last in the list, or the value of the environment variable
/// MODEWISE_ISA.
std::string active_isa();
/// For tests: switches to `isa`. Raises ValueError when this machine or build lacks it.
void use_isa(const std::string& isa);

/// Numerics class: sets of one class give bitwise equal results; bfloat16 products have their own.
std::string bits_of(const std::string& isa, bool bf16);
/// One sentence on which CPUs reproduce the results of this process bit by bit. It includes libtorch's AVX2
/// kernels, which loading this library selects unless a libtorch kernel ran before.
std::string bits_promise();

/// Last kernel that `op` ran in this process ("" when none), so that tests can assert that a fast path was
/// taken.
std::string last_kernel(std::string_view op);
/// For tests and comparisons: forces every operator to its reference kernel (plain ATen) while true.
void use_reference(bool on);

}  // namespace modewise::ops
