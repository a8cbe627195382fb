// SPDX-License-Identifier: Apache-2.0
// Shows ThreadSanitizer the memory ordering of Swift's libraries, which were not built with the
// sanitizer. It has to be loaded with LD_PRELOAD into a program that was.
//
// - The Mutex of the standard library: the sanitizer sees the code for an uncontended lock, which
//   the compiler inlines into the program. Waiting for a lock and waking other threads happen in
//   the library and are shown here.
// - Reference counts: a thread that releases an array has finished reading it before another thread
//   finds that it is the only owner and modifies the array.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define SLOW_LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define SLOW_UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SLOW_TRY "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

SWIFT void ovt_lock(uint32_t thread, SELF) __asm__(SLOW_LOCK);
SWIFT void ovt_lock(uint32_t thread, SELF) {
  static SWIFT void (*lock)(uint32_t, SELF);
  if (!lock) lock = (__typeof__(lock))real(SLOW_LOCK);
  lock(thread, self);
  if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT _Bool ovt_try(SELF) __asm__(SLOW_TRY);
SWIFT _Bool ovt_try(SELF) {
  static SWIFT _Bool (*attempt)(SELF);
  if (!attempt) attempt = (__typeof__(attempt))real(SLOW_TRY);
  _Bool taken = attempt(self);
  if (taken && __tsan_acquire) __tsan_acquire(self);
  return taken;
}

SWIFT void ovt_unlock(SELF) __asm__(SLOW_UNLOCK);
SWIFT void ovt_unlock(SELF) {
  static SWIFT void (*unlock)(SELF);
  if (!unlock) unlock = (__typeof__(unlock))real(SLOW_UNLOCK);
  if (__tsan_release) __tsan_release(self);
  unlock(self);
}

void swift_release(void *object) {
  static void (*release)(void *);
  if (!release) release = (__typeof__(release))real("swift_release");
  if (__tsan_release && object) __tsan_release(object);
  release(object);
}

void swift_release_n(void *object, uint32_t count) {
  static void (*release)(void *, uint32_t);
  if (!release) release = (__typeof__(release))real("swift_release_n");
  if (__tsan_release && object) __tsan_release(object);
  release(object, count);
}

#define UNIQUE(name)                                                \
  _Bool name(void *object) {                                        \
    static _Bool (*look)(void *);                                   \
    if (!look) look = (__typeof__(look))real(#name);                \
    _Bool isUnique = look(object);                                  \
    if (isUnique && __tsan_acquire && object) __tsan_acquire(object); \
    return isUnique;                                                \
  }

UNIQUE(swift_isUniquelyReferenced_native)
UNIQUE(swift_isUniquelyReferenced_nonNull_native)
