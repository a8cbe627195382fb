// SPDX-License-Identifier: Apache-2.0
// What the system lets a process do and have: giving up what a program does not need for the rest
// of the process (files by landlock, system calls by seccomp, capabilities), and limits on
// descriptors, threads and memory.
#ifndef OVT_CSANDBOX_H
#define OVT_CSANDBOX_H

#include <stddef.h>
#include <stdint.h>

/// What may be done with a file, or a folder with all that is in it.
enum ovt_access {
  OVT_ACCESS_READ,
  /// Also create, write, rename and remove.
  OVT_ACCESS_WRITE,
  /// Read, write and control (ioctl) what is there, and nothing new: of devices.
  OVT_ACCESS_DEVICE,
};

/// What landlock leaves.
struct ovt_allowed_path {
  const char *path;
  enum ovt_access access;
};

/// The version of landlock's interface that the kernel has; 0 if it has none, or does not let us use it.
int ovt_landlock_version(void);

/// From here on the calling thread, and those that it starts, reach no other files, no TCP ports,
/// and, from version 6 on, no sockets with abstract names and no other processes with signals.
/// Paths that do not exist are passed over.
/// - Parameter ports: TCP ports that it may listen at.
/// - Returns: 0, or an error number.
int ovt_landlock_restrict(const struct ovt_allowed_path *paths, int count, const uint16_t *ports, int port_count);

/// The sockets that are left: of the internet's two families, which never connect.
enum {
  /// UDP.
  OVT_NETWORK_DATAGRAMS = 1,
  /// TCP, to listen and accept.
  OVT_NETWORK_SERVER = 2,
};

/// From here on no thread of the process makes other sockets, starts processes, enters namespaces,
/// looks into other processes, sends them signals, sets their limits and priorities, shares memory
/// by name, sets clocks and names of the machine, watches files, types into the terminal, truncates
/// files by name, or changes modes, owners, times and attributes of files that are not open: the
/// calls fail with EACCES, and those that nobody knew when this was written with ENOSYS.
/// - Parameter network: what is left of it.
/// - Returns: 0, or an error number; ENOSYS on processors that the filter does not know.
int ovt_seccomp_restrict(unsigned network);

/// Which capability is kept for files that belong to somebody else.
enum ovt_file_privilege {
  OVT_FILES_OF_OTHERS_NOT,
  /// CAP_DAC_READ_SEARCH.
  OVT_FILES_OF_OTHERS_READ,
  /// CAP_DAC_OVERRIDE.
  OVT_FILES_OF_OTHERS_WRITTEN,
};

/// Whether a path can be used with the capabilities that the process has, and not without.
/// - Parameter mode: as of access(2).
int ovt_is_denied_without_capabilities(const char *path, int mode);

/// From here on the calling thread, and those that it starts, have no capability, in no set, but
/// what is kept for files of others if they had that.
/// - Returns: 0, or an error number.
int ovt_drop_capabilities(enum ovt_file_privilege privilege);

/// The capabilities of the calling thread, in any of its sets, as bits.
uint64_t ovt_capabilities(void);

/// Something that a sandbox takes away, with a way to see whether it has.
struct ovt_trial {
  const char *name;
  /// - Returns: 0 if it was not refused, or an error number.
  int (*run)(void);
};

const struct ovt_trial *ovt_trials(int *count);

/// Holds a descriptor for what cannot wait for one: libdispatch's look at its threads, and removing
/// what is unfinished.
/// - Returns: 0, or an error number.
int ovt_keep_reserve(void);

/// Lets go of it.
/// - Returns: Whether there was one.
int ovt_use_reserve(void);

/// How many descriptors are free, up to a number; raises the soft limit for that, as far as the hard
/// one lets it. Takes none of them: other threads may want theirs meanwhile.
int ovt_free_descriptors(int count);

/// Closes descriptors that the process was started with, and that are above its limit: no other
/// process can be started with them, nor told to do without (posix_spawn).
void ovt_close_above_limit(void);

/// How many processes and threads a user may have; UINT64_MAX where there is no limit.
uint64_t ovt_limit_of_processes(void);

/// How many threads with the usual stack can be had at once, up to a number.
/// - Parameter failure: why it is not more.
int ovt_try_threads(int count, int *failure);

/// Whether so many bytes of addresses can be had at once.
int ovt_try_memory(size_t bytes);

/// From here on memory is taken with fewer addresses beside it, for processes that are limited in
/// them; threads wait for each other more often. To be called while there is one thread.
void ovt_save_address_space(void);

/// A file, or a folder with all that is in it, that is removed if the process has to end without
/// memory or descriptors.
void ovt_add_leftover(const char *path, int is_folder);
void ovt_remove_leftover(const char *path);

/// Removes a folder with all that is in it, as far as four folders deep; takes no memory.
/// - Parameter folder: A descriptor of it; less than 0 opens one.
void ovt_remove_folder(int folder, const char *path);

/// Libraries end the process with a signal where they get no memory or no descriptor. From here on
/// it ends with status 1 and a sentence then, and removes what is unfinished. What has another reason
/// ends as before: the thread that gets the signal was not refused memory or a descriptor last
/// (errno), or there are enough by now.
void ovt_end_well_without(const char *memory, const char *files);

#endif
