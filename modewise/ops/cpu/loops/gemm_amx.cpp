#include "modewise/ops/cpu/loops/gemm_amx.h"

namespace modewise::ops::MODEWISE_ISA {

extern const GemmLoops<Half16> gemm_amx;
extern const GemmLoops<Half16> gemm_amx_vectors;
const GemmLoops<Half16> gemm_amx = AmxGemm<AmxUnit>::loops;
const GemmLoops<Half16> gemm_amx_vectors = AmxGemm<VectorUnit>::loops;

}  // namespace modewise::ops::MODEWISE_ISA
