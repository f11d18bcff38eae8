#include "modewise/ops/cpu/loops/gemm_loops.h"

#if defined(__AVX512BF16__)
#include "modewise/ops/cpu/loops/gemm_pairs.h"
#endif

namespace modewise::ops::MODEWISE_ISA {

#if defined(__AVX512BF16__)
using Bfloat16 = Pairs;
#else
using Bfloat16 = Elements<Half16>;
#endif

extern const GemmLoops<float> gemm_f32;
extern const GemmLoops<double> gemm_f64;
extern const GemmLoops<Half16> gemm_bf16;
const GemmLoops<float> gemm_f32 = Gemm<Elements<float>>::loops;
const GemmLoops<double> gemm_f64 = Gemm<Elements<double>>::loops;
const GemmLoops<Half16> gemm_bf16 = Gemm<Bfloat16>::loops;

}  // namespace modewise::ops::MODEWISE_ISA
