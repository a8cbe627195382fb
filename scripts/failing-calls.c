// SPDX-License-Identifier: Apache-2.0
// Makes calls of the C library fail when it is loaded with LD_PRELOAD.
//
// - FAIL_CALL is the function: write, pwrite, fsync, rename, linkat, close, ftruncate, open or
//   malloc.
// - FAIL_AT=n makes the n-th call fail (1 by default). With 0, no call fails.
// - FAIL_ON=1 makes all following calls fail too.
// - FAIL_ERRNO is the error code (EIO by default).
// - FAIL_REPORT is the path of a file that is created when a call fails.
// - FAIL_COUNT is the path of a file to which the number of calls is written when the process
//   exits.
//
// Calls are not counted if their file is not a regular file or is a standard stream.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_long seen;

static int fails(const char *call) {
  const char *wanted = getenv("FAIL_CALL");
  if (!wanted || strcmp(wanted, call) != 0) return 0;
  const char *at = getenv("FAIL_AT");
  long number = atomic_fetch_add(&seen, 1) + 1;
  long first = at ? atol(at) : 1;
  if (number < first || (number > first && !getenv("FAIL_ON"))) return 0;
  const char *report = getenv("FAIL_REPORT");
  if (report) {
    long descriptor = syscall(SYS_openat, AT_FDCWD, report, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor >= 0) syscall(SYS_close, descriptor);
  }
  const char *code = getenv("FAIL_ERRNO");
  errno = code ? atoi(code) : EIO;
  return 1;
}

__attribute__((destructor)) static void count(void) {
  const char *path = getenv("FAIL_COUNT");
  if (!path) return;
  char text[24];
  int length = snprintf(text, sizeof text, "%ld\n", atomic_load(&seen));
  long descriptor = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor < 0) return;
  syscall(SYS_write, descriptor, text, (size_t)length);
  syscall(SYS_close, descriptor);
}

static int is_file(int descriptor) {
  struct stat status;
  return descriptor > 2 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int descriptor, const void *bytes, size_t count) {
  if (is_file(descriptor) && fails("write")) return -1;
  return syscall(SYS_write, descriptor, bytes, count);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
  if (fails("pwrite")) return -1;
  return syscall(SYS_pwrite64, descriptor, bytes, count, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off_t offset) {
  return pwrite(descriptor, bytes, count, offset);
}

int fsync(int descriptor) { return fails("fsync") ? -1 : (int)syscall(SYS_fsync, descriptor); }

int ftruncate(int descriptor, off_t length) {
  return fails("ftruncate") ? -1 : (int)syscall(SYS_ftruncate, descriptor, length);
}

int rename(const char *from, const char *to) {
  return fails("rename") ? -1 : (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

int linkat(int from, const char *path, int to, const char *name, int flags) {
  return fails("linkat") ? -1 : (int)syscall(SYS_linkat, from, path, to, name, flags);
}

int close(int descriptor) {
  int wanted = is_file(descriptor) && fails("close");
  int code = errno;
  int result = (int)syscall(SYS_close, descriptor);
  if (!wanted) return result;
  errno = code;
  return -1;
}

static int open_or_fail(const char *path, int flags, mode_t mode) {
  if ((flags & O_ACCMODE) != O_RDONLY && fails("open")) return -1;
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
  va_end(list);
  return open_or_fail(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
  va_end(list);
  return open_or_fail(path, flags, mode);
}

void *malloc(size_t size) {
  static __typeof__(&malloc) real;
  if (!real) real = REAL(malloc);
  // Small blocks are not affected, because the Swift runtime requires them.
  return size >= 4096 && fails("malloc") ? NULL : real(size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  static __typeof__(&posix_memalign) real;
  if (!real) real = REAL(posix_memalign);
  return size >= 4096 && fails("malloc") ? ENOMEM : real(memory, alignment, size);
}
