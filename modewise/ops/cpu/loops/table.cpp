#include "modewise/ops/cpu/loops/vector.h"

#define MODEWISE_TEXT_OF(name) #name
#define MODEWISE_TEXT(name) MODEWISE_TEXT_OF(name)

namespace modewise::ops::MODEWISE_ISA {

extern const ProductLoops<float> product_f32;
extern const ProductLoops<double> product_f64;
extern const ProductLoops<Half16> product_bf16;
extern const PoolLoops<float> pool_f32;
extern const PoolLoops<double> pool_f64;
extern const PoolLoops<Half16> pool_bf16;
extern const ScoreLoops<float> score_f32;
extern const ScoreLoops<double> score_f64;
extern const ScoreLoops<Half16> score_bf16;
extern const ElementLoops<float> element_f32;
extern const ElementLoops<double> element_f64;
extern const ElementLoops<Half16> element_bf16;
extern const BatchNormLoops<float> batch_norm_f32;
extern const BatchNormLoops<double> batch_norm_f64;
extern const BatchNormLoops<Half16> batch_norm_bf16;
extern const ActivationLoops<float> activation_f32;
extern const ActivationLoops<double> activation_f64;
extern const ActivationLoops<Half16> activation_bf16;
extern const SummaryLoops<float> summary_f32;
extern const SummaryLoops<double> summary_f64;
extern const SummaryLoops<Half16> summary_bf16;
extern const StepLoops<float> step_f32;
extern const StepLoops<double> step_f64;
extern const StepLoops<Half16> step_bf16;
extern const GemmLoops<float> gemm_f32;
extern const GemmLoops<double> gemm_f64;
extern const GemmLoops<Half16> gemm_bf16;

extern constexpr Loops table = {MODEWISE_TEXT(MODEWISE_ISA),
                                {&product_f32, &pool_f32, &score_f32, &element_f32, &batch_norm_f32,
                                 &activation_f32, &summary_f32, &step_f32, &gemm_f32},
                                {&product_f64, &pool_f64, &score_f64, &element_f64, &batch_norm_f64,
                                 &activation_f64, &summary_f64, &step_f64, &gemm_f64},
                                {&product_bf16, &pool_bf16, &score_bf16, &element_bf16, &batch_norm_bf16,
                                 &activation_bf16, &summary_bf16, &step_bf16, &gemm_bf16}};

}  // namespace modewise::ops::MODEWISE_ISA
