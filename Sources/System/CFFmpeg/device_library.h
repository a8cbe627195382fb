// SPDX-License-Identifier: Apache-2.0
// libavdevice, loaded for the first screen or camera: it brings X, sound and window libraries along, which nothing else
// here needs. Of its own it has one function that is used; what it brings is found through libavformat.
#ifndef CFFMPEG_DEVICE_LIBRARY_H
#define CFFMPEG_DEVICE_LIBRARY_H

#include <dlfcn.h>
#include <libavformat/avformat.h>
#include <stddef.h>
#include <stdio.h>

/// Loads the version that belongs to libavformat's (both count alike), and makes its devices known.
/// - Returns: Null, or what is missing: a text of the loader's, good until the thread's next call of it.
static inline const char *ovt_load_device_library(void) {
  char name[32];
  snprintf(name, sizeof name, "libavdevice.so.%d", LIBAVFORMAT_VERSION_MAJOR);
  // Never closed: libavformat keeps its devices.
  void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) return dlerror();
  void (*register_all)(void) = (void (*)(void))dlsym(handle, "avdevice_register_all");
  if (register_all == NULL) return "libavdevice has no function avdevice_register_all";
  register_all();
  return NULL;
}

#endif
