// SPDX-License-Identifier: Apache-2.0
// A rename that replaces nothing, which the C library declares for GNU sources only.
#ifndef OVT_RENAME_H
#define OVT_RENAME_H

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if !defined(__USE_MISC) && !defined(_DEFAULT_SOURCE)
long syscall(long number, ...);
#endif

/// - Returns: 0, or an error number: EEXIST if there is something of the new name, EINVAL or ENOSYS
///   where the system does not know of such a rename.
static inline int ovt_rename_without_replacing(const char *from, const char *to) {
#ifdef SYS_renameat2
  return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 1u /* RENAME_NOREPLACE */) == 0 ? 0 : errno;
#else
  return ENOSYS;
#endif
}

#endif
