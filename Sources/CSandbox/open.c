// SPDX-License-Identifier: Apache-2.0
// libdispatch looks at its threads in /proc/THREAD/stat, and ends the process if it cannot. Threads
// that come later have names that no rule of landlock's can allow beforehand, but for all of /proc,
// with what it says of other processes and of the kernel. The same file is in
// /proc/self/task/THREAD, which is the process's own: this `open` takes the place of the C
// library's, in whatever library, and goes there.
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

// Kept for that file, where the process may have no more: what looks at it does not wait for
// another to be closed.
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

/// - Returns: Whether the path is that of a thread's state.
static int is_thread(const char *path, char *own, size_t size) {
  if (strncmp(path, "/proc/", 6) != 0) return 0;
  const char *end = path + 6;
  while (*end >= '0' && *end <= '9') end++;
  if (end == path + 6 || end - path > 20 || strcmp(end, "/stat") != 0) return 0;
  return snprintf(own, size, "/proc/self/task/%s", path + 6) < (int)size;
}

// The sanitizers have an `open` of their own.
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
  // Of another process.
  return descriptor < 0 && errno == ENOENT ? open_at(path, flags, mode) : descriptor;
}
#endif
