#include "modewise/core/allocator.h"

#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>

#include <climits>
#endif

namespace modewise {

void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_TOP_PAD, 64 << 20);
#endif
}

}  // namespace modewise
