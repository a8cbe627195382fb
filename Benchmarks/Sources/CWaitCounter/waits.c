// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "WaitCounter.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_ulong nanoseconds;

// If a thread calls sched_yield again within this number of nanoseconds, it is in a waiting loop,
// and the time between the calls also counts as waiting.
enum { LOOP = 3000 };

static unsigned long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (unsigned long)t.tv_sec * 1000000000ul + (unsigned long)t.tv_nsec;
}

double waited_seconds(void) { return (double)atomic_load(&nanoseconds) * 1e-9; }

// Waits with a timeout that is never reached, because the pthread_cond_wait of the C library cannot
// be called while this function replaces it.
int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
  const struct timespec never = {.tv_sec = 4000000000};
  unsigned long start = now();
  int result = pthread_cond_timedwait(condition, mutex, &never);
  atomic_fetch_add_explicit(&nanoseconds, now() - start, memory_order_relaxed);
  return result;
}

int sched_yield(void) {
  static _Thread_local unsigned long last;
  unsigned long start = now();
  if (start - last < LOOP) start = last;
  syscall(SYS_sched_yield);
  last = now();
  atomic_fetch_add_explicit(&nanoseconds, last - start, memory_order_relaxed);
  return 0;
}
