// SPDX-License-Identifier: Apache-2.0
// Counts the allocations of the whole process: include it once, in a program that is linked with
// nothing else that replaces the functions of the C library.

#ifndef OVT_TEST_ALLOCATIONS_H
#define OVT_TEST_ALLOCATIONS_H

#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

/// All calls that have allocated a block or changed its size.
static atomic_long allocations;

/// The bytes of the blocks that are not freed.
static atomic_long liveBytes;

static void *counted(void *block) {
  atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
  // The size of a null pointer is 0.
  atomic_fetch_add_explicit(&liveBytes, (long)malloc_usable_size(block), memory_order_relaxed);
  return block;
}

void *malloc(size_t size) { return counted(__libc_malloc(size)); }

void *calloc(size_t count, size_t size) { return counted(__libc_calloc(count, size)); }

void *memalign(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }

void *aligned_alloc(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }

void *realloc(void *block, size_t size) {
  long before = (long)malloc_usable_size(block);
  void *moved = __libc_realloc(block, size);
  // With a size of 0, the C library frees the block. If it has no memory, the old block stays.
  if (moved == NULL && size > 0) return NULL;
  atomic_fetch_sub_explicit(&liveBytes, before, memory_order_relaxed);
  return counted(moved);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
  void *made = counted(__libc_memalign(alignment, size));
  if (made == NULL) return 12;  // ENOMEM
  *block = made;
  return 0;
}

void free(void *block) {
  atomic_fetch_sub_explicit(&liveBytes, (long)malloc_usable_size(block), memory_order_relaxed);
  __libc_free(block);
}

#endif
