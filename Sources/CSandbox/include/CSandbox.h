// SPDX-License-Identifier: Apache-2.0
// Functions for `vtencode`: giving up rights for the rest of the process (files by landlock, system
// calls by seccomp, capabilities), and working within limits on descriptors, threads and memory.
#ifndef OVT_CSANDBOX_H
#define OVT_CSANDBOX_H

#include <stddef.h>
#include <stdint.h>

/// The permitted access to a file, or to a folder with all its contents.
enum ovt_access {
  OVT_ACCESS_READ,
  /// Read, create, write, rename and remove.
  OVT_ACCESS_WRITE,
  /// Read, write and control (ioctl) existing device files; nothing can be created.
  OVT_ACCESS_DEVICE,
};

/// A path that stays accessible under landlock.
struct ovt_allowed_path {
  const char *path;
  enum ovt_access access;
};

/// The version of the kernel's landlock interface; 0 if landlock is missing or cannot be used.
int ovt_landlock_version(void);

/// Restricts the calling thread, and threads that it starts, to these paths and to these TCP ports.
/// From landlock version 6 on, abstract UNIX sockets and signals to other processes are refused
/// too. Paths that do not exist are ignored.
/// - Parameter ports: the TCP ports that may be listened on.
/// - Returns: 0, or an error number.
int ovt_landlock_restrict(const struct ovt_allowed_path *paths, int count, const uint16_t *ports, int port_count);

/// The kinds of internet sockets that stay available. None of them may connect.
enum {
  /// UDP.
  OVT_NETWORK_DATAGRAMS = 1,
  /// TCP, for listening and accepting.
  OVT_NETWORK_SERVER = 2,
};

/// Installs a seccomp filter for all threads of the process. It refuses other sockets, starting
/// processes, entering namespaces, inspecting other processes, sending them signals or changing
/// their limits and priorities, shared memory by name, setting clocks and the machine's names,
/// watching files, injecting terminal input, truncating files by name, and changing modes, owners,
/// times and attributes of files that are not open. Refused calls fail with EACCES; calls that the
/// filter does not know fail with ENOSYS.
/// - Parameter network: the permitted sockets, of `OVT_NETWORK_...`.
/// - Returns: 0, or an error number; ENOSYS on processors that the filter does not support.
int ovt_seccomp_restrict(unsigned network);

/// The capability that is kept for files of other users.
enum ovt_file_privilege {
  OVT_FILES_OF_OTHERS_NOT,
  /// CAP_DAC_READ_SEARCH is kept.
  OVT_FILES_OF_OTHERS_READ,
  /// CAP_DAC_OVERRIDE is kept.
  OVT_FILES_OF_OTHERS_WRITTEN,
};

/// Whether a path can be accessed with the process's capabilities, but not without them.
/// - Parameter mode: the access, as for access(2).
int ovt_is_denied_without_capabilities(const char *path, int mode);

/// Drops the capabilities of the calling thread, and of threads that it starts, from all sets,
/// except the one that is kept if the thread has it.
/// - Returns: 0, or an error number.
int ovt_drop_capabilities(enum ovt_file_privilege privilege);

/// The capabilities of the calling thread in any of its sets, as a bit mask.
uint64_t ovt_capabilities(void);

/// An operation that the sandbox refuses, with a function that tries it.
struct ovt_trial {
  const char *name;
  /// - Returns: 0 if the operation was not refused, or an error number.
  int (*run)(void);
};

const struct ovt_trial *ovt_trials(int *count);

/// Reserves a descriptor for operations that cannot wait for one: libdispatch's check of its
/// threads, and the removal of unfinished files.
/// - Returns: 0, or an error number.
int ovt_keep_reserve(void);

/// Releases the reserved descriptor.
/// - Returns: whether there was one.
int ovt_use_reserve(void);

/// Counts the free descriptors up to `count`. It raises the soft limit for that, as far as the hard
/// limit permits. It opens no descriptor, because other threads may need the last one.
int ovt_free_descriptors(int count);

/// Closes the inherited descriptors above the process's limit, because posix_spawn can neither pass
/// them on nor close them.
void ovt_close_above_limit(void);

/// The largest number of processes and threads of the user; UINT64_MAX without a limit.
uint64_t ovt_limit_of_processes(void);

/// How many threads with the default stack size can exist at the same time, up to `count`.
/// - Parameter failure: receives the error number if there are fewer, and 0 otherwise.
int ovt_try_threads(int count, int *failure);

/// Whether so many bytes of address space can be allocated at the same time.
int ovt_try_memory(size_t bytes);

/// Reduces the address space that the allocator takes, for processes with a limit; threads then
/// contend more for its locks. To be called while there is one thread.
void ovt_save_address_space(void);

/// Registers a file, or a folder with all its contents, that is removed if the process ends for
/// lack of memory or descriptors.
void ovt_add_leftover(const char *path, int is_folder);
/// Removes a path from that list.
void ovt_remove_leftover(const char *path);

/// Removes a folder with all its contents, up to four levels deep, without allocating memory.
/// - Parameter folder: a descriptor of the folder; if it is negative, the function opens one.
void ovt_remove_folder(int folder, const char *path);

/// Handles the signals with which libraries end the process if they get no memory or descriptor:
/// the process then prints a message, removes the registered files and exits with status 1. A
/// signal with another cause has its usual effect. The cause is taken for a lack of resources if it
/// was the thread's last error (errno) and the resource is still scarce.
void ovt_end_well_without(const char *memory, const char *files);

#endif
