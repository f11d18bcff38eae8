#pragma once
// AMX tile unit for bfloat16 (AMX-BF16), and a bitwise equal emulation by vectors for CPUs without it.
//
// A tile is 16 rows of 64 bytes. multiply_add: c [16, 16] += a [16, 32] · b [32, 16], a with contiguous rows,
// b packed in pairs: row k holds elements 2k and 2k + 1 of each column. The products of even k are added in
// ascending order from 0, each rounded once, and those of odd k separately; their sum is added to c.
// Denormals are treated as zero throughout (Intel's Software Developer's Manual, TDPBF16PS).

#include "modewise/core/amx.h"
#include "modewise/ops/cpu/loops/vector.h"

namespace modewise::ops::MODEWISE_ISA {

constexpr int kAmxRows = 16, kAmxRowBytes = 64;
constexpr int kAmxTiles = 8;

/// AMX tile registers of this thread, configured for its lifetime; the OS must grant them (core/amx.h).
class AmxUnit {
 public:
  AmxUnit() {
    const AmxShapes shapes;
    asm volatile("ldtilecfg %0" : : "m"(shapes));
  }
  ~AmxUnit() { asm volatile("tilerelease"); }
  AmxUnit(const AmxUnit&) = delete;
  AmxUnit& operator=(const AmxUnit&) = delete;

  template <int Tile>
  void zero() {
    asm volatile("tilezero %%tmm%c0" : : "i"(Tile));
  }
  template <int Tile>
  void load(const void* from, int64_t row_bytes) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(row_bytes), "i"(Tile) : "memory");
  }
  template <int Tile>
  void store(float* to, int64_t row_bytes) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(row_bytes), "i"(Tile) : "memory");
  }
  template <int C, int A, int B>
  void multiply_add() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(C), "i"(A), "i"(B));
  }
};

/// Emulation by vectors.
class VectorUnit {
 public:
  template <int Tile>
  void zero() {
    __builtin_memset(tiles_[Tile], 0, sizeof tiles_[Tile]);
  }
  template <int Tile>
  void load(const void* from, int64_t row_bytes) {
    for (int i = 0; i < kAmxRows; ++i)
      __builtin_memcpy(tiles_[Tile][i], as<char>(from) + i * row_bytes, kAmxRowBytes);
  }
  template <int Tile>
  void store(float* to, int64_t row_bytes) {
    for (int i = 0; i < kAmxRows; ++i)
      __builtin_memcpy(as<char>(static_cast<void*>(to)) + i * row_bytes, tiles_[Tile][i], kAmxRowBytes);
  }
  template <int C, int A, int B>
  void multiply_add() {
    constexpr unsigned kDenormalsAreZero = 0x8040;  // as operands and as results
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | kDenormalsAreZero);
    multiply_add(tiles_[C], tiles_[A], tiles_[B]);
    _mm_setcsr(before);
  }

 private:
  using Row = uint32_t[kAmxRowBytes / 4];

  // Not inlined: no arithmetic may be moved out from between the two settings above.
  [[gnu::noinline]] static void multiply_add(Row* c, const Row* a, const Row* b) {
    constexpr uint32_t kUpper = 0xffff0000U;
    for (int m = 0; m < kAmxRows; ++m) {
      Vector<float> even = {}, odd = {};
      for (int k = 0; k < kAmxRowBytes / 4; ++k) {
        const Vector<uint32_t> pairs = load_bits(b[k]);
        const Vector<float> zero = {};
        even = fused(zero + __builtin_bit_cast(float, a[m][k] << 16), (Vector<float>)(pairs << 16), even);
        odd = fused(zero + __builtin_bit_cast(float, a[m][k] & kUpper), (Vector<float>)(pairs & kUpper), odd);
      }
      const Vector<float> sum = (Vector<float>)load_bits(c[m]) + (even + odd);
      __builtin_memcpy(c[m], &sum, sizeof sum);
    }
  }
  static Vector<uint32_t> load_bits(const Row& row) { return ops::MODEWISE_ISA::load(&row[0]); }

  alignas(64) Row tiles_[kAmxTiles][kAmxRows];
};

}  // namespace modewise::ops::MODEWISE_ISA
