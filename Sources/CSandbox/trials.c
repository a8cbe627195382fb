// SPDX-License-Identifier: Apache-2.0
// The operations that `vtencode sandbox-check` tries. An operation that is not refused changes
// nothing: it sets the present value, or fails for another reason.
#define _GNU_SOURCE
#include "CSandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/reboot.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Converts the result of a call to an error number.
static int result(long value) { return value < 0 ? errno : 0; }

// The same for a call that returns a descriptor, which is closed.
static int opened(long descriptor) {
  if (descriptor < 0) return errno;
  close((int)descriptor);
  return 0;
}

// Whether a call passed the filter and reached the kernel, which then rejected its arguments.
static int reached(long value) {
  return value >= 0 || errno == EINVAL || errno == EFAULT || errno == EBADF || errno == ENOENT || errno == ESRCH ||
                 errno == ENODEV
             ? 0
             : errno;
}

static int limit_core_files(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_CORE, &limit) != 0) return errno;
  return result(prlimit(getppid(), RLIMIT_CORE, &limit, NULL));
}

static int own_signals(void) {
  int ends[2];
  if (pipe(ends) != 0) return errno;
  int failure = result(fcntl(ends[0], F_SETOWN, getppid()));
  close(ends[0]);
  close(ends[1]);
  return failure;
}

// Injects no input: a call that passes the filter fails for the null pointer or for lack of a
// terminal.
static int type_nothing(void) { return ioctl(STDIN_FILENO, TIOCSTI, NULL) != 0 && errno == EACCES ? EACCES : 0; }

static int set_priority(void) {
  errno = 0;
  int priority = getpriority(PRIO_PROCESS, (id_t)getppid());
  return result(setpriority(PRIO_PROCESS, (id_t)getppid(), priority));
}

static int share_memory(void) {
  // A private segment, without a name.
  long memory = syscall(SYS_shmget, 0, 4096, 0600);
  if (memory < 0) return errno;
  syscall(SYS_shmctl, memory, 0 /* to remove it */, NULL);
  return 0;
}

static int make_pair(void) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) return errno;
  close(ends[0]);
  close(ends[1]);
  return 0;
}

static int set_clock(void) {
  // An invalid number of nanoseconds. The kernel checks it before the caller's rights and returns
  // EINVAL, so this shows whether the call reaches the kernel.
  struct timespec wrong = {0, -1};
  return reached(syscall(SYS_clock_settime, CLOCK_REALTIME, &wrong));
}

static int set_time_of_day(void) {
  struct timeval wrong = {0, -1};
  return reached(syscall(SYS_settimeofday, &wrong, NULL));
}

static int adjust_clock(void) {
  struct timex nothing;
  memset(&nothing, 0, sizeof nothing);
  // Without a mode, the call only reads the values.
  return result(syscall(SYS_adjtimex, &nothing));
}

static int set_host_name(void) {
  struct utsname names;
  if (uname(&names) != 0) return errno;
  return result(sethostname(names.nodename, strlen(names.nodename)));
}

static int set_domain_name(void) {
  struct utsname names;
  if (uname(&names) != 0) return errno;
  return result(setdomainname(names.domainname, strlen(names.domainname)));
}

static int read_log(void) { return result(syscall(SYS_syslog, 10 /* its size */, NULL, 0)); }

static int watch_all_files(void) { return opened(syscall(SYS_fanotify_init, 0, O_RDONLY)); }

static int watch_files(void) {
  long watch = syscall(SYS_inotify_init1, O_CLOEXEC);
  return opened(watch);
}

static int wait_for(long process) {
  if (process < 0) return errno;
  if (process == 0) _exit(0);
  int status;
  while (waitpid((pid_t)process, &status, __WALL) < 0 && errno == EINTR) {
  }
  return 0;
}

static int start_process(void) { return wait_for(syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL)); }

static int start_in_namespaces(void) {
  return wait_for(syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWNET | SIGCHLD, NULL, NULL, NULL, NULL));
}

static int start_in_new_form(void) {
  struct {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
  } arguments = {CLONE_NEWUSER | CLONE_NEWNET, 0, 0, 0, SIGCHLD, 0, 0, 0};
  return wait_for(syscall(435 /* clone3 */, &arguments, sizeof arguments));
}

static int join_namespace(void) { return reached(syscall(SYS_setns, -1, 0)); }
static int leave_namespace(void) { return reached(syscall(SYS_unshare, 1 /* no flag */)); }
static int list_keys(void) { return result(syscall(SYS_keyctl, 0 /* its id */, -3 /* of the session */, 0)); }
static int request_key(void) { return reached(syscall(SYS_request_key, NULL, NULL, NULL, 0)); }
static int add_key(void) { return reached(syscall(SYS_add_key, NULL, NULL, NULL, 0, 0)); }
static int load_program(void) { return reached(syscall(SYS_bpf, -1, NULL, 0)); }
static int count_events(void) { return reached(syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0)); }
static int handle_faults(void) { return opened(syscall(SYS_userfaultfd, 0)); }
static int make_ring(void) { return reached(syscall(425 /* io_uring_setup */, 1, NULL)); }
static int trace(void) { return reached(syscall(SYS_ptrace, 16 /* to attach */, -1, NULL, NULL)); }

static int read_process(void) {
  char byte;
  struct iovec mine = {&byte, 1}, theirs = {&byte, 1};
  // The address is in this process's stack and need not exist in the other one; the kernel checks
  // the rights first.
  return reached(syscall(SYS_process_vm_readv, getppid(), &mine, 1, &theirs, 1, 0));
}

static int compare(void) { return result(syscall(SYS_kcmp, getpid(), getppid(), 1 /* address spaces */, 0, 0)); }
static int open_process(void) { return opened(syscall(434 /* pidfd_open */, getppid(), 0)); }
static int mount_nothing(void) { return reached(syscall(SYS_mount, NULL, NULL, NULL, 0, NULL)); }
static int mount_new(void) { return reached(syscall(430 /* fsopen */, NULL, 0)); }
static int change_root(void) { return reached(syscall(SYS_chroot, NULL)); }
static int turn_root(void) { return reached(syscall(SYS_pivot_root, NULL, NULL)); }
static int load_module(void) { return reached(syscall(SYS_finit_module, -1, NULL, 0)); }
static int swap(void) { return reached(syscall(SYS_swapoff, NULL)); }
static int set_quota(void) { return reached(syscall(SYS_quotactl, -1, NULL, 0, NULL)); }
static int account(void) { return reached(syscall(SYS_acct, 1 /* no path */)); }
static int restart(void) { return reached(syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, 0, 0, NULL)); }
static int open_handle(void) { return reached(syscall(SYS_open_by_handle_at, -1, NULL, 0)); }
static int name_handle(void) { return reached(syscall(SYS_name_to_handle_at, -1, NULL, NULL, NULL, 0)); }
static int change_personality(void) { return result(syscall(SYS_personality, 0xffffffff /* asks */)); }
// A call number that no kernel uses.
static int call_unknown(void) { return result(syscall(1023)); }

static int truncate_by_name(void) {
  return truncate("/none-of-this-name", 0) == 0 || errno == ENOENT ? 0 : errno;
}

static int use_ports(void) {
#ifdef SYS_ioperm
  return result(syscall(SYS_ioperm, 0x80, 1, 0));
#else
  return EACCES;
#endif
}

static int signal_other(void) { return result(kill(getppid(), 0)); }

static int make_socket(int family, int kind, int protocol) { return opened(socket(family, kind, protocol)); }
static int socket_datagram(void) { return make_socket(AF_INET, SOCK_DGRAM, 0); }
static int socket_stream(void) { return make_socket(AF_INET, SOCK_STREAM, 0); }
static int socket_raw(void) { return make_socket(AF_INET, SOCK_RAW, IPPROTO_ICMP); }
static int socket_local(void) { return make_socket(AF_UNIX, SOCK_STREAM, 0); }
static int socket_of_kernel(void) { return make_socket(AF_NETLINK, SOCK_RAW, 0); }
static int connect_anywhere(void) { return reached(syscall(SYS_connect, -1, NULL, 0)); }
static int listen_anywhere(void) { return reached(syscall(SYS_listen, -1, 1)); }

static int listen_at(unsigned port) {
  int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  if (descriptor < 0) return errno;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int failure = result(bind(descriptor, (struct sockaddr *)&address, sizeof address));
  close(descriptor);
  return failure;
}

// A port that was not permitted, and that is not reserved for privileged processes, which would be
// refused anyway.
static int listen_elsewhere(void) { return listen_at(47809); }

static int gain_capabilities(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2] = {{1u << CAP_SYS_PTRACE, 1u << CAP_SYS_PTRACE, 0}, {0, 0, 0}};
  return result(syscall(SYS_capset, &header, data));
}

static const struct ovt_trial trials[] = {
    {"datagram socket", socket_datagram},
    {"stream socket", socket_stream},
    {"raw socket", socket_raw},
    {"local socket", socket_local},
    {"socket of the kernel", socket_of_kernel},
    {"pair of sockets", make_pair},
    {"connect", connect_anywhere},
    {"listen", listen_anywhere},
    {"bind another TCP port", listen_elsewhere},
    {"signal", signal_other},
    {"limits of others", limit_core_files},
    {"priority of others", set_priority},
    {"shared memory", share_memory},
    {"signals of files to others", own_signals},
    {"type into the terminal", type_nothing},
    {"truncate by name", truncate_by_name},
    {"start a process", start_process},
    {"start a process in namespaces", start_in_namespaces},
    {"start a process with clone3", start_in_new_form},
    {"enter a namespace", join_namespace},
    {"leave a namespace", leave_namespace},
    {"set the clock", set_clock},
    {"set the time of day", set_time_of_day},
    {"adjust the clock", adjust_clock},
    {"set the host name", set_host_name},
    {"set the domain name", set_domain_name},
    {"read the kernel's log", read_log},
    {"watch files", watch_files},
    {"watch all files", watch_all_files},
    {"keyrings", list_keys},
    {"add a key", add_key},
    {"request a key", request_key},
    {"bpf", load_program},
    {"performance events", count_events},
    {"userfaultfd", handle_faults},
    {"io_uring", make_ring},
    {"trace", trace},
    {"read another process", read_process},
    {"compare processes", compare},
    {"open another process", open_process},
    {"mount", mount_nothing},
    {"mount in the new way", mount_new},
    {"chroot", change_root},
    {"pivot_root", turn_root},
    {"load a module", load_module},
    {"swap", swap},
    {"quotas", set_quota},
    {"accounting", account},
    {"reboot", restart},
    {"open by handle", open_handle},
    {"handle of a file", name_handle},
    {"personality", change_personality},
    {"ports of the processor", use_ports},
    {"calls that are not known", call_unknown},
    // This must be last: if it is not refused, the process has no other capabilities afterwards.
    {"gain capabilities", gain_capabilities},
};

const struct ovt_trial *ovt_trials(int *count) {
  *count = (int)(sizeof trials / sizeof trials[0]);
  return trials;
}
