#pragma once
// Which kernels the operators have, in order of preference, which instruction set they use here, and which
// one ran.

#include <string>
#include <string_view>
#include <vector>

namespace modewise::ops {

struct KernelSummary {
  std::string op;
  std::vector<std::string> kernels;  // fastest first, reference last
};

/// One entry an operator, sorted by name.
std::vector<KernelSummary> kernel_summary();

/// Instruction sets the loops were built for and this machine has, slowest first: "scalar", "avx2", "avx512",
/// "avx512bf16" (AVX-512 whose products of bfloat16 take pairs), "amx" (tiles), "amx_vectors" (the bits of
/// tiles by AVX-512, to check what a CPU with AMX gave).
std::vector<std::string> available_isas();
/// The one in use: the fastest available, which stands last, or the one the environment variable MODEWISE_ISA
/// names.
std::string active_isa();
/// For tests: uses `isa` from now on. Raises ValueError when this machine or build lacks it.
void use_isa(const std::string& isa);

/// Sets of one name give a training the same bits; products of bfloat16 have names of their own.
std::string bits_of(const std::string& isa, bool bf16);
/// One sentence: on which CPUs results have the bits that this process gives them. libtorch's kernels for
/// AVX2 are part of it; loading this library chooses them where none ran before.
std::string bits_promise();

/// The kernel that `op` ran last in this process ("" when none), for tests that prove that a fast path was
/// taken.
std::string last_kernel(std::string_view op);
/// For tests and comparisons: makes every operator run its reference (plain ATen) while true.
void use_reference(bool on);

}  // namespace modewise::ops
