// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CSandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// The definitions of linux/landlock.h, which older systems lack. The numbers are the same on all
// architectures.
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

struct ruleset {
  uint64_t handled_files;
  uint64_t handled_network;
  uint64_t scoped;
};

struct port_rule {
  uint64_t allowed;
  uint64_t port;
};

struct path_rule {
  uint64_t allowed;
  int32_t parent;
} __attribute__((packed));

enum {
  FILE_EXECUTE = 1 << 0,
  FILE_WRITE = 1 << 1,
  FILE_READ = 1 << 2,
  FOLDER_READ = 1 << 3,
  FOLDER_REMOVE = 1 << 4,
  FILE_REMOVE = 1 << 5,
  MAKE_DEVICE = 1 << 6,
  MAKE_FOLDER = 1 << 7,
  MAKE_FILE = 1 << 8,
  MAKE_SOCKET = 1 << 9,
  MAKE_PIPE = 1 << 10,
  MAKE_BLOCK_DEVICE = 1 << 11,
  MAKE_LINK = 1 << 12,
  // Since versions 2, 3 and 5.
  REFER = 1 << 13,
  FILE_TRUNCATE = 1 << 14,
  DEVICE_CONTROL = 1 << 15,
  // The rights that apply to files and not only to folders.
  OF_FILES = FILE_EXECUTE | FILE_WRITE | FILE_READ | FILE_TRUNCATE | DEVICE_CONTROL,
  READING = FILE_READ | FOLDER_READ,
  WRITING = READING | FILE_WRITE | FOLDER_REMOVE | FILE_REMOVE | MAKE_FOLDER | MAKE_FILE | REFER | FILE_TRUNCATE,
  DEVICE = READING | FILE_WRITE | DEVICE_CONTROL,
};

static uint64_t rights(enum ovt_access access) {
  switch (access) {
    case OVT_ACCESS_WRITE: return WRITING;
    case OVT_ACCESS_DEVICE: return DEVICE;
    default: return READING;
  }
}

int ovt_landlock_version(void) {
  long version = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, 1u /* the version */);
  return version > 0 ? (int)version : 0;
}

int ovt_landlock_restrict(const struct ovt_allowed_path *paths, int count, const uint16_t *ports, int port_count) {
  int version = ovt_landlock_version();
  if (version == 0) return ENOSYS;
  uint64_t known = (1 << 13) - 1;
  if (version >= 2) known |= REFER;
  if (version >= 3) known |= FILE_TRUNCATE;
  if (version >= 5) known |= DEVICE_CONTROL;
  // TCP bind and connect since version 4; abstract UNIX sockets and signals since version 6.
  struct ruleset rules = {known, version >= 4 ? 3 : 0, version >= 6 ? 3 : 0};
  size_t size = version >= 6 ? sizeof rules : offsetof(struct ruleset, scoped);
  if (version < 4) size = sizeof rules.handled_files;
  int ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, size, 0u);
  if (ruleset < 0) return errno;
  int failure = 0;
  for (int i = 0; i < count && failure == 0; i++) {
    int parent = open(paths[i].path, O_PATH | O_CLOEXEC);
    struct stat status;
    if (parent < 0) continue;
    uint64_t allowed = rights(paths[i].access) & known;
    if (fstat(parent, &status) == 0 && !S_ISDIR(status.st_mode)) allowed &= OF_FILES;
    struct path_rule rule = {allowed, parent};
    // EBADFD: landlock does not restrict what is in no file system, such as an anonymous pipe.
    if (syscall(SYS_landlock_add_rule, ruleset, 1 /* a path */, &rule, 0u) != 0 && errno != EBADFD) failure = errno;
    close(parent);
  }
  for (int i = 0; i < port_count && version >= 4 && failure == 0; i++) {
    struct port_rule rule = {1 /* to bind to it */, ports[i]};
    if (syscall(SYS_landlock_add_rule, ruleset, 2 /* a TCP port */, &rule, 0u) != 0) failure = errno;
  }
  if (failure == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) failure = errno;
  if (failure == 0 && syscall(SYS_landlock_restrict_self, ruleset, 0u) != 0) failure = errno;
  close(ruleset);
  return failure;
}
