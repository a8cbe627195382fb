// SPDX-License-Identifier: Apache-2.0
// libdispatch reads the state of its threads from /proc/THREAD/stat, and ends the process if it
// cannot. A landlock rule cannot allow the names of future threads without allowing all of /proc,
// which describes other processes and the kernel too. The same file exists as
// /proc/self/task/THREAD, within the process's own folder. This `open` replaces the C library's,
// for all libraries of the process, and redirects the path.
#define _GNU_SOURCE
#include "CSandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

// A descriptor that is reserved for that file, so that reading it succeeds when the process has
// used up its descriptors.
static atomic_int reserve = -1;

static int open_at(const char *path, int flags, mode_t mode) {
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int ovt_keep_reserve(void) {
  if (atomic_load(&reserve) >= 0) return 0;
  int descriptor = open_at("/", O_PATH | O_CLOEXEC, 0);
  if (descriptor < 0) return errno;
  int none = -1;
  if (!atomic_compare_exchange_strong(&reserve, &none, descriptor)) close(descriptor);
  return 0;
}

int ovt_use_reserve(void) {
  int descriptor = atomic_exchange(&reserve, -1);
  return descriptor >= 0 && close(descriptor) == 0;
}

/// - Returns: whether the path is that of a thread's state; `own` receives the redirected path.
static int is_thread(const char *path, char *own, size_t size) {
  if (strncmp(path, "/proc/", 6) != 0) return 0;
  const char *end = path + 6;
  while (*end >= '0' && *end <= '9') end++;
  if (end == path + 6 || end - path > 20 || strcmp(end, "/stat") != 0) return 0;
  return snprintf(own, size, "/proc/self/task/%s", path + 6) < (int)size;
}

// The sanitizers intercept `open` themselves.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OPEN_IS_TAKEN
#endif
#endif

#ifndef OPEN_IS_TAKEN
int open(const char *path, int flags, ...) {
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
  }
  char own[64];
  if (!is_thread(path, own, sizeof own)) return open_at(path, flags, mode);
  int saved = errno;
  ovt_keep_reserve();
  errno = saved;
  int descriptor = open_at(own, flags, mode);
  if (descriptor < 0 && errno == EMFILE && ovt_use_reserve()) descriptor = open_at(own, flags, mode);
  // The thread of another process.
  return descriptor < 0 && errno == ENOENT ? open_at(path, flags, mode) : descriptor;
}
#endif
