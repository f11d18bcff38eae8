#pragma once
// The functions of libtorch's OpenMP runtime that are called here. Clang has no <omp.h> without a runtime of
// its own, of which a program must not have two.

extern "C" {
int omp_get_max_threads() noexcept;
void omp_set_num_threads(int threads) noexcept;
}
