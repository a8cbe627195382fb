// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CSandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct sets {
  uint64_t effective, permitted, inheritable;
};

static int read_sets(struct sets *sets) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2] = {{0, 0, 0}, {0, 0, 0}};
  if (syscall(SYS_capget, &header, data) != 0) return errno;
  sets->effective = data[0].effective | (uint64_t)data[1].effective << 32;
  sets->permitted = data[0].permitted | (uint64_t)data[1].permitted << 32;
  sets->inheritable = data[0].inheritable | (uint64_t)data[1].inheritable << 32;
  return 0;
}

static int write_sets(const struct sets *sets) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2];
  for (int i = 0; i < 2; i++) {
    data[i].effective = (uint32_t)(sets->effective >> (32 * i));
    data[i].permitted = (uint32_t)(sets->permitted >> (32 * i));
    data[i].inheritable = (uint32_t)(sets->inheritable >> (32 * i));
  }
  return syscall(SYS_capset, &header, data) == 0 ? 0 : errno;
}

static int denies(const char *path, int mode) {
  // access(2) checks the real user's rights, with all permitted capabilities for root and none for
  // other users. AT_EACCESS checks those of the process.
  return syscall(439 /* faccessat2 */, AT_FDCWD, path, mode, AT_EACCESS) != 0 && errno == EACCES;
}

int ovt_is_denied_without_capabilities(const char *path, int mode) {
  struct sets before;
  if (read_sets(&before) != 0 || before.effective == 0) return 0;
  // If access is denied even with capabilities, dropping them makes no difference.
  if (denies(path, mode)) return 0;
  struct sets none = before;
  none.effective = 0;
  if (write_sets(&none) != 0) return 0;
  int answer = denies(path, mode);
  if (write_sets(&before) != 0) return answer;
  return answer;
}

int ovt_drop_capabilities(enum ovt_file_privilege privilege) {
  struct sets sets;
  int failure = read_sets(&sets);
  if (failure != 0) return failure;
  uint64_t kept = privilege == OVT_FILES_OF_OTHERS_WRITTEN ? UINT64_C(1) << CAP_DAC_OVERRIDE
                  : privilege == OVT_FILES_OF_OTHERS_READ  ? UINT64_C(1) << CAP_DAC_READ_SEARCH
                                                           : 0;
  // The kernel checks the effective set. A permitted capability may be made effective.
  const uint64_t set = UINT64_C(1) << CAP_SETPCAP;
  if ((sets.permitted & set) != 0 && (sets.effective & set) == 0) {
    sets.effective |= set;
    failure = write_sets(&sets);
    if (failure != 0) return failure;
  }
  // Without CAP_SETPCAP the bounding set cannot be reduced, which is harmless for a process that
  // executes no program.
  if ((sets.effective & set) != 0) {
    // From here on, neither being root nor executing a program with file capabilities gives any
    // capability.
    unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |
                         SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
    int current = prctl(PR_GET_SECUREBITS, 0, 0, 0, 0);
    if (current < 0) return errno;
    if (prctl(PR_SET_SECUREBITS, (unsigned long)current | bits, 0, 0, 0) != 0) return errno;
    for (unsigned long capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
      if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) return errno;
  }
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 && errno != EINVAL) return errno;
  struct sets left = {sets.effective & kept, sets.permitted & kept, 0};
  failure = write_sets(&left);
  if (failure != 0) return failure;
  failure = read_sets(&sets);
  if (failure != 0) return failure;
  return (sets.permitted & ~kept) == 0 && sets.inheritable == 0 ? 0 : EPERM;
}

uint64_t ovt_capabilities(void) {
  struct sets sets;
  return read_sets(&sets) == 0 ? sets.effective | sets.permitted | sets.inheritable : ~UINT64_C(0);
}
