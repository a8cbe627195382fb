// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CSandbox.h"

#include <asm/sockios.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Landlock's interface as linux/landlock.h has it, which older systems lack. The numbers are the same everywhere.
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
  // Version 2, 3 and 5.
  REFER = 1 << 13,
  FILE_TRUNCATE = 1 << 14,
  DEVICE_CONTROL = 1 << 15,
  // For files, as against folders.
  OF_FILES = FILE_EXECUTE | FILE_WRITE | FILE_READ | FILE_TRUNCATE | DEVICE_CONTROL,
  READING = FILE_READ | FOLDER_READ,
  WRITING = READING | FILE_WRITE | FOLDER_REMOVE | FILE_REMOVE | MAKE_FOLDER | MAKE_FILE | REFER | FILE_TRUNCATE,
  DEVICE = READING | FILE_WRITE | DEVICE_CONTROL,
};

static uint64_t rights(enum ovt_access access) {
  switch (access) {
    case OVT_ACCESS_READ_FILES: return FILE_READ;
    case OVT_ACCESS_WRITE: return WRITING;
    case OVT_ACCESS_DEVICE: return DEVICE;
    default: return READING;
  }
}

int ovt_landlock_version(void) {
  long version = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, 1u /* the version */);
  return version > 0 ? (int)version : 0;
}

int ovt_landlock_restrict(const struct ovt_allowed_path *paths, int count) {
  int version = ovt_landlock_version();
  if (version == 0) return ENOSYS;
  uint64_t known = (1 << 13) - 1;
  if (version >= 2) known |= REFER;
  if (version >= 3) known |= FILE_TRUNCATE;
  if (version >= 5) known |= DEVICE_CONTROL;
  // Binding and connecting, from version 4 on; sockets with abstract names and signals of others, from version 6 on.
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
    // What is in no file system, as a pipe without a name, is not landlock's to restrict.
    if (syscall(SYS_landlock_add_rule, ruleset, 1 /* a path */, &rule, 0u) != 0 && errno != EBADFD) failure = errno;
    close(parent);
  }
  if (failure == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) failure = errno;
  if (failure == 0 && syscall(SYS_landlock_restrict_self, ruleset, 0u) != 0) failure = errno;
  close(ruleset);
  return failure;
}

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef OWN_ARCHITECTURE
#define DENY(call)                                  \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES)

// An argument's lower half; the processors above have it first.
#define LOAD_ARGUMENT(index) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[index]))
#define LOAD_UPPER_HALF(index) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[index]) + 4)

// A call whose first argument is a process; `own` is what stands for the calling one.
#define DENY_FOR_OTHERS(call, own)                     \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 4),   \
      LOAD_ARGUMENT(0),                                \
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (own), 0, 1), \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),    \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES)

// A call whose first argument is a kind, where 0 is a process or thread, and whose second says which, where 0 is the own.
#define DENY_UNLESS_OWN_OF_KIND(call)                 \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 6),  \
      LOAD_ARGUMENT(0),                               \
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3),   \
      LOAD_ARGUMENT(1),                               \
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),   \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),   \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES)

// A call whose second argument is a command.
#define DENY_COMMANDS(call, first, second, third, fourth) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 7),      \
      LOAD_ARGUMENT(1),                                   \
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (first), 4, 0), \
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (second), 3, 0), \
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (third), 2, 0), \
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (fourth), 1, 0), \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),       \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES)

// A call whose second argument is a path; without one it is about an open file.
#define DENY_WITH_PATH(call)                          \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 6),  \
      LOAD_ARGUMENT(1),                               \
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2),   \
      LOAD_UPPER_HALF(1),                             \
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),   \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES), \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

int ovt_seccomp_restrict(void) {
  uint32_t own = (uint32_t)getpid();
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#if defined(__x86_64__)
      // The calls of the x32 interface have this bit.
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
#endif
      // The network, also by way of rings that no filter sees.
      DENY(SYS_socket), DENY(SYS_connect), DENY(SYS_bind), DENY(SYS_listen), DENY(SYS_accept), DENY(SYS_accept4),
      // One end of a pair sends to any address.
      DENY(SYS_socketpair),
      DENY(425 /* io_uring_setup */), DENY(426), DENY(427),
      // Other programs and processes.
      DENY(SYS_execve), DENY(SYS_execveat), DENY(SYS_ptrace), DENY(SYS_process_vm_readv),
      DENY(SYS_process_vm_writev), DENY(438 /* pidfd_getfd */),
      // Other views of the file system.
      DENY(SYS_mount), DENY(SYS_umount2), DENY(SYS_pivot_root), DENY(SYS_chroot), DENY(SYS_setns), DENY(SYS_unshare),
      DENY(SYS_open_by_handle_at), DENY(428 /* open_tree */), DENY(429 /* move_mount */), DENY(430 /* fsopen */),
      // By name, which landlock leaves before version 3.
      DENY(SYS_truncate),
      // Modes, owners, times and attributes of files, which landlock leaves. Those of open files stay.
      DENY(SYS_fchmodat), DENY(452 /* fchmodat2 */), DENY(SYS_fchownat), DENY(SYS_setxattr), DENY(SYS_lsetxattr),
      DENY(463 /* setxattrat */), DENY(SYS_removexattr), DENY(SYS_lremovexattr), DENY(466 /* removexattrat */),
      DENY(469 /* file_setattr */), DENY_WITH_PATH(SYS_utimensat),
#ifdef SYS_chmod
      DENY(SYS_chmod),
#endif
#ifdef SYS_chown
      DENY(SYS_chown), DENY(SYS_lchown),
#endif
#ifdef SYS_utime
      DENY(SYS_utime),
#endif
#ifdef SYS_utimes
      DENY(SYS_utimes), DENY(SYS_futimesat),
#endif
      // Signals to others, which landlock leaves before version 6. Threads send each other theirs with tgkill, and so
      // does raise().
      DENY(SYS_tkill), DENY(SYS_rt_sigqueueinfo), DENY(SYS_rt_tgsigqueueinfo), DENY(424 /* pidfd_send_signal */),
      // The kernel sends the owner of a file signals, of any kind; and what is typed into a terminal, its shell runs.
      DENY_COMMANDS(SYS_fcntl, F_SETOWN, F_SETOWN_EX, F_SETSIG, F_SETOWN),
      DENY_COMMANDS(SYS_ioctl, TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP),
      DENY_FOR_OTHERS(SYS_kill, own), DENY_FOR_OTHERS(SYS_tgkill, own),
      // Limits, priorities, processors and memory of others: a limit of the processor's time ends whom it is set for.
      // libdispatch sets the priority of its own threads.
      DENY_FOR_OTHERS(SYS_prlimit64, 0), DENY_UNLESS_OWN_OF_KIND(SYS_setpriority), DENY(SYS_ioprio_set),
      DENY_FOR_OTHERS(SYS_sched_setaffinity, 0), DENY_FOR_OTHERS(SYS_sched_setscheduler, 0),
      DENY_FOR_OTHERS(SYS_sched_setparam, 0), DENY_FOR_OTHERS(SYS_sched_setattr, 0),
      DENY(SYS_migrate_pages), DENY(SYS_move_pages), DENY(440 /* process_madvise */), DENY(448 /* process_mrelease */),
      // Memory, messages and semaphores that are shared by name.
      DENY(SYS_shmget), DENY(SYS_shmat), DENY(SYS_shmctl), DENY(SYS_msgget), DENY(SYS_msgsnd), DENY(SYS_msgrcv),
      DENY(SYS_msgctl), DENY(SYS_semget), DENY(SYS_semop), DENY(SYS_semtimedop), DENY(SYS_semctl), DENY(SYS_mq_open),
      DENY(SYS_mq_unlink),
      // Parts of the kernel that a program like this never needs.
      DENY(SYS_bpf), DENY(SYS_perf_event_open), DENY(SYS_userfaultfd), DENY(SYS_keyctl), DENY(SYS_add_key),
      DENY(SYS_request_key), DENY(SYS_init_module), DENY(SYS_finit_module), DENY(SYS_delete_module),
      DENY(SYS_kexec_load), DENY(SYS_reboot), DENY(SYS_swapon), DENY(SYS_swapoff), DENY(SYS_acct),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  // For all threads at once; a thread that cannot follow is told by its number.
  long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
  return result == 0 ? 0 : result > 0 ? ESRCH : errno;
}
#else
int ovt_seccomp_restrict(void) { return ENOSYS; }
#endif

int ovt_limit_core_files(int process) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_CORE, &limit) != 0) return errno;
  return prlimit(process, RLIMIT_CORE, &limit, NULL) == 0 ? 0 : errno;
}

int ovt_own_signals(int process) {
  int ends[2];
  if (pipe(ends) != 0) return errno;
  int failure = fcntl(ends[0], F_SETOWN, process) == 0 ? 0 : errno;
  close(ends[0]);
  close(ends[1]);
  return failure;
}

int ovt_type_nothing(void) { return ioctl(STDIN_FILENO, TIOCSTI, NULL) != 0 && errno == EACCES ? EACCES : 0; }
