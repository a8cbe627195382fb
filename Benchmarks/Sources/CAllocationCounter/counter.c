// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "AllocationCounter.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

// The functions of the GNU C library, under the names that it provides for programs that replace
// the allocator.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static atomic_ulong count;
static atomic_int trapping;

unsigned long allocation_count(void) { return atomic_load(&count); }

void allocation_trap(int on) { atomic_store(&trapping, on); }

static void counted(void) {
  atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
  if (atomic_load_explicit(&trapping, memory_order_relaxed)) __builtin_trap();
}

void *malloc(size_t size) {
  counted();
  return __libc_malloc(size);
}

void *calloc(size_t n, size_t size) {
  counted();
  return __libc_calloc(n, size);
}

void *realloc(void *old, size_t size) {
  counted();
  return __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size) {
  counted();
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  counted();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
  counted();
  void *memory = __libc_memalign(alignment, size);
  if (memory == NULL) return ENOMEM;
  *result = memory;
  return 0;
}
