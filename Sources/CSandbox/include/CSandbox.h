// SPDX-License-Identifier: Apache-2.0
// Giving up what a program does not need, for the rest of the process: files (landlock) and system calls (seccomp).
#ifndef OVT_CSANDBOX_H
#define OVT_CSANDBOX_H

/// What may be done with a file, or a folder with all that is in it.
enum ovt_access {
  OVT_ACCESS_READ,
  /// Read files, and list no folders.
  OVT_ACCESS_READ_FILES,
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

/// From here on the calling thread, and those that it starts, reach no other files, no TCP ports, and, from version 6
/// on, no sockets with abstract names and no other processes with signals. Paths that do not exist are passed over.
/// - Returns: 0, or an error number.
int ovt_landlock_restrict(const struct ovt_allowed_path *paths, int count);

/// From here on no thread of the process makes sockets, runs programs, looks into other processes, sends them signals,
/// sets their limits and priorities, shares memory by name, types into the terminal, truncates files by name, or changes
/// modes, owners, times and attributes of files that are not open: the calls fail with EACCES.
/// - Returns: 0, or an error number; ENOSYS on processors that the filter does not know.
int ovt_seccomp_restrict(void);

/// Gives another process the limit of core files that the calling one has, to see whether it can.
/// - Returns: 0, or an error number.
int ovt_limit_core_files(int process);

/// Asks for signals of a file to go to another process, to see whether it can.
/// - Returns: 0, or an error number.
int ovt_own_signals(int process);

/// Tries to type into the terminal of standard input, without anything to type, to see whether it can.
/// - Returns: EACCES if it cannot.
int ovt_type_nothing(void);

#endif
