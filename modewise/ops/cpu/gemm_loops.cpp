#include "modewise/ops/cpu/gemm_loops.h"

namespace modewise::ops::MODEWISE_ISA {

extern const GemmLoops<float> gemm_f32;
extern const GemmLoops<double> gemm_f64;
extern const GemmLoops<Half16> gemm_bf16;
const GemmLoops<float> gemm_f32 = Gemm<Elements<float>>::loops;
const GemmLoops<double> gemm_f64 = Gemm<Elements<double>>::loops;
const GemmLoops<Half16> gemm_bf16 = Gemm<Elements<Half16>>::loops;

}  // namespace modewise::ops::MODEWISE_ISA
