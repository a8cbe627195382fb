// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CSandbox.h"

#include <asm/sockios.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef OWN_ARCHITECTURE
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define REFUSE BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES)
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define ANSWER_UNKNOWN BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS)
#define IF_EQUAL(value, then, otherwise) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (then), (otherwise))
#define IF_ANY_BIT(bits, then, otherwise) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), (then), (otherwise))

// Loads the lower half of an argument, which comes first on these little-endian processors.
#define LOAD_ARGUMENT(index) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[index]))
#define LOAD_UPPER_HALF(index) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[index]) + 4)

// System calls that the headers may not define. From 424 on, the numbers are the same on all
// architectures.
enum {
  CALL_CLONE3 = 435,
  CALL_CLOSE_RANGE = 436,
  CALL_OPENAT2 = 437,
  CALL_FACCESSAT2 = 439,
  CALL_EPOLL_PWAIT2 = 441,
  CALL_LANDLOCK_CREATE_RULESET = 444,
  CALL_LANDLOCK_ADD_RULE = 445,
  CALL_LANDLOCK_RESTRICT_SELF = 446,
  CALL_FUTEX_WAITV = 449,
  CALL_SET_MEMPOLICY_HOME_NODE = 450,
  CALL_CACHESTAT = 451,
  CALL_MAP_SHADOW_STACK = 453,
  CALL_FUTEX_WAKE = 454,
  CALL_FUTEX_WAIT = 455,
  CALL_FUTEX_REQUEUE = 456,
  CALL_MSEAL = 462,
  FIRST_COMMON_CALL = 424,
};

// Calls that are refused regardless of their arguments.
static const uint32_t refused[] = {
    // With socketpair, one end could send to any address.
    SYS_connect, SYS_socketpair,
    // Executing programs and inspecting processes.
    SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp,
    // Other views of the system: mounts, namespaces, roots and names.
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_setns, SYS_unshare, SYS_open_by_handle_at,
    SYS_name_to_handle_at, SYS_sethostname, SYS_setdomainname, SYS_personality,
    // Truncation by name, which landlock does not restrict before version 3.
    SYS_truncate,
    // Modes, owners, times and attributes of files, which landlock does not restrict. Those of open
    // files may be changed.
    SYS_fchmodat, SYS_fchownat, SYS_setxattr, SYS_lsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_mknodat,
    // Watching what other processes do with files.
    SYS_inotify_init1, SYS_inotify_add_watch, SYS_fanotify_init, SYS_fanotify_mark,
    // Signals to other processes, which landlock does not restrict before version 6. Threads of the
    // process signal each other with tgkill, as raise() does.
    SYS_tkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo,
    // I/O priorities and memory placement of other processes.
    SYS_ioprio_set, SYS_migrate_pages, SYS_move_pages,
    // Shared memory, message queues and semaphores that are found by name.
    SYS_shmget, SYS_shmat, SYS_shmctl, SYS_msgget, SYS_msgsnd, SYS_msgrcv, SYS_msgctl, SYS_semget, SYS_semop,
    SYS_semtimedop, SYS_semctl, SYS_mq_open, SYS_mq_unlink,
    // Setting clocks.
    SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime,
    // Kernel interfaces that the program does not need.
    SYS_syslog, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl, SYS_add_key, SYS_request_key,
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_reboot, SYS_swapon, SYS_swapoff,
    SYS_acct, SYS_quotactl, SYS_vhangup,
#ifdef SYS_kexec_file_load
    SYS_kexec_file_load,
#endif
#ifdef SYS_lookup_dcookie
    SYS_lookup_dcookie,
#endif
#ifdef SYS_nfsservctl
    SYS_nfsservctl,
#endif
    // Older forms of these calls, which not all architectures have.
#ifdef SYS_fork
    SYS_fork, SYS_vfork,
#endif
#ifdef SYS_chmod
    SYS_chmod, SYS_mknod,
#endif
#ifdef SYS_chown
    SYS_chown, SYS_lchown,
#endif
#ifdef SYS_utime
    SYS_utime,
#endif
#ifdef SYS_utimes
    SYS_utimes, SYS_futimesat,
#endif
#ifdef SYS_inotify_init
    SYS_inotify_init,
#endif
#ifdef SYS_iopl
    SYS_iopl, SYS_ioperm,
#endif
#ifdef SYS_uselib
    SYS_uselib,
#endif
#ifdef SYS_ustat
    SYS_ustat,
#endif
#ifdef SYS_sysfs
    SYS_sysfs,
#endif
#ifdef SYS__sysctl
    SYS__sysctl,
#endif
#ifdef SYS_create_module
    SYS_create_module, SYS_get_kernel_syms, SYS_query_module,
#endif
    // io_uring, whose operations bypass the filter; and newer calls: signals, files and memory of
    // other processes through descriptors, mounts, quotas, and newer forms of the calls above.
    425 /* io_uring_setup */, 426, 427, 424 /* pidfd_send_signal */, 434 /* pidfd_open */, 438 /* pidfd_getfd */,
    428 /* open_tree */, 429 /* move_mount */, 430 /* fsopen */, 431 /* fsconfig */, 432 /* fsmount */,
    433 /* fspick */, 440 /* process_madvise */, 442 /* mount_setattr */, 443 /* quotactl_fd */,
    448 /* process_mrelease */, 452 /* fchmodat2 */, 463 /* setxattrat */, 466 /* removexattrat */,
    467 /* open_tree_attr */, 469 /* file_setattr */,
};

// The calls from number 424 on that stay available. All others from there on, including those of
// future kernels, are answered with ENOSYS.
static const uint32_t kept[] = {
    CALL_CLOSE_RANGE,
    CALL_OPENAT2,
    CALL_FACCESSAT2,
    CALL_EPOLL_PWAIT2,
    CALL_LANDLOCK_CREATE_RULESET,
    CALL_LANDLOCK_ADD_RULE,
    CALL_LANDLOCK_RESTRICT_SELF,
    CALL_FUTEX_WAITV,
    CALL_SET_MEMPOLICY_HOME_NODE,
    CALL_CACHESTAT,
    CALL_MAP_SHADOW_STACK,
    CALL_FUTEX_WAKE,
    CALL_FUTEX_WAIT,
    CALL_FUTEX_REQUEUE,
    CALL_MSEAL,
};

// A call whose first argument is a process; `own` is the value that means the calling process.
#define REFUSE_FOR_OTHERS(call, own) \
  IF_EQUAL(call, 0, 4), LOAD_ARGUMENT(0), IF_EQUAL(own, 0, 1), ALLOW, REFUSE

// A call whose first argument is a kind, where 0 means a process or thread, and whose second
// argument is an identifier, where 0 means the caller.
#define REFUSE_UNLESS_OWN_OF_KIND(call) \
  IF_EQUAL(call, 0, 6), LOAD_ARGUMENT(0), IF_EQUAL(0, 0, 3), LOAD_ARGUMENT(1), IF_EQUAL(0, 0, 1), ALLOW, REFUSE

// A call whose second argument is a command; four commands are refused.
#define REFUSE_COMMANDS(call, first, second, third, fourth)                                                       \
  IF_EQUAL(call, 0, 7), LOAD_ARGUMENT(1), IF_EQUAL(first, 4, 0), IF_EQUAL(second, 3, 0), IF_EQUAL(third, 2, 0), \
      IF_EQUAL(fourth, 1, 0), ALLOW, REFUSE

// A call whose second argument is a path; with a null pointer it applies to an open file.
#define REFUSE_WITH_PATH(call)                                                                                \
  IF_EQUAL(call, 0, 6), LOAD_ARGUMENT(1), IF_EQUAL(0, 0, 2), LOAD_UPPER_HALF(1), IF_EQUAL(0, 1, 0), REFUSE, ALLOW

// A call with a flag that is refused.
#define REFUSE_FLAG(call, index, flag) \
  IF_EQUAL(call, 0, 4), LOAD_ARGUMENT(index), IF_ANY_BIT(flag, 1, 0), ALLOW, REFUSE

// The namespace flags of clone. The lowest byte of its flags is the exit signal. Only threads may
// be started, and none in another namespace.
#define NAMESPACES                                                                                              \
  (CLONE_NEWNS | 0x02000000 /* of control groups */ | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | \
   CLONE_NEWNET)

enum { MOST = 1024 };

struct program {
  struct sock_filter code[MOST];
  size_t count;
};

static void append(struct program *program, const struct sock_filter *code, size_t count) {
  if (program->count + count > MOST) count = MOST - program->count;
  memcpy(program->code + program->count, code, count * sizeof code[0]);
  program->count += count;
}

#define APPEND(program, ...)                          \
  do {                                                \
    const struct sock_filter code[] = {__VA_ARGS__};  \
    append(program, code, LENGTH(code));              \
  } while (0)

// Permits only internet sockets of the given kinds.
static void append_network(struct program *program, unsigned network) {
  if (network == 0) {
    APPEND(program, IF_EQUAL(SYS_socket, 0, 1), REFUSE, IF_EQUAL(SYS_bind, 0, 1), REFUSE);
  } else {
    uint32_t stream = network & OVT_NETWORK_SERVER ? SOCK_STREAM : SOCK_DGRAM;
    uint32_t datagram = network & OVT_NETWORK_DATAGRAMS ? SOCK_DGRAM : SOCK_STREAM;
    APPEND(program, IF_EQUAL(SYS_socket, 0, 13), LOAD_ARGUMENT(0), IF_EQUAL(AF_INET, 1, 0), IF_EQUAL(AF_INET6, 0, 8),
           LOAD_ARGUMENT(1), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf), IF_EQUAL(stream, 1, 0),
           IF_EQUAL(datagram, 0, 4), LOAD_ARGUMENT(2), IF_EQUAL(0, 3, 0), IF_EQUAL(IPPROTO_UDP, 2, 0),
           IF_EQUAL(IPPROTO_TCP, 1, 0), REFUSE, ALLOW);
  }
  if ((network & OVT_NETWORK_SERVER) == 0)
    APPEND(program, IF_EQUAL(SYS_listen, 0, 1), REFUSE, IF_EQUAL(SYS_accept, 0, 1), REFUSE,
           IF_EQUAL(SYS_accept4, 0, 1), REFUSE);
}

int ovt_seccomp_restrict(unsigned network) {
  uint32_t own = (uint32_t)getpid();
  struct program program = {.count = 0};
  APPEND(&program, BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
         IF_EQUAL(OWN_ARCHITECTURE, 1, 0), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
         BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
#if defined(__x86_64__)
  // Calls of the x32 ABI have this bit.
  APPEND(&program, BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1), REFUSE);
#endif
  append_network(&program, network);
  for (size_t i = 0; i < LENGTH(refused); i++) APPEND(&program, IF_EQUAL(refused[i], 0, 1), REFUSE);
  APPEND(&program, REFUSE_WITH_PATH(SYS_utimensat));
  // F_SETOWN and F_SETSIG make the kernel send signals to another process, and TIOCSTI injects
  // input that the terminal's shell executes.
  APPEND(&program, REFUSE_COMMANDS(SYS_fcntl, F_SETOWN, F_SETOWN_EX, F_SETSIG, F_NOTIFY));
  APPEND(&program, REFUSE_COMMANDS(SYS_ioctl, TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP));
  APPEND(&program, REFUSE_FOR_OTHERS(SYS_kill, own), REFUSE_FOR_OTHERS(SYS_tgkill, own));
  // Limits, priorities and CPU affinity of other processes: a CPU time limit, for example, ends the
  // process it is set for. libdispatch sets the priorities of its own threads.
  APPEND(&program, REFUSE_FOR_OTHERS(SYS_prlimit64, 0), REFUSE_UNLESS_OWN_OF_KIND(SYS_setpriority));
  APPEND(&program, REFUSE_FOR_OTHERS(SYS_sched_setaffinity, 0), REFUSE_FOR_OTHERS(SYS_sched_setscheduler, 0));
  APPEND(&program, REFUSE_FOR_OTHERS(SYS_sched_setparam, 0), REFUSE_FOR_OTHERS(SYS_sched_setattr, 0));
  // TCP fast open connects without the call connect, and landlock does not restrict it.
  APPEND(&program, REFUSE_FLAG(SYS_sendto, 3, MSG_FASTOPEN), REFUSE_FLAG(SYS_sendmsg, 2, MSG_FASTOPEN),
         REFUSE_FLAG(SYS_sendmmsg, 3, MSG_FASTOPEN));
  APPEND(&program, IF_EQUAL(SYS_clone, 0, 5), LOAD_ARGUMENT(0), IF_ANY_BIT(NAMESPACES, 1, 0),
         IF_ANY_BIT(CLONE_THREAD, 1, 0), REFUSE, ALLOW);
  // The flags of clone3 are in memory, which a filter cannot read. The C library falls back to
  // clone if clone3 is missing.
  APPEND(&program, IF_EQUAL(CALL_CLONE3, 0, 1), ANSWER_UNKNOWN);
  APPEND(&program, BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FIRST_COMMON_CALL, 1, 0), ALLOW);
  for (size_t i = 0; i < LENGTH(kept); i++) APPEND(&program, IF_EQUAL(kept[i], 0, 1), ALLOW);
  APPEND(&program, ANSWER_UNKNOWN);
  // A program that was cut off would lack its last instruction.
  if (program.count >= MOST) return E2BIG;
  struct sock_fprog filter = {(unsigned short)program.count, program.code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  // Applies to all threads at once; the call returns the number of a thread that cannot follow.
  long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
  return result == 0 ? 0 : result > 0 ? ESRCH : errno;
}
#else
int ovt_seccomp_restrict(unsigned network) { return ENOSYS; }
#endif
