// SPDX-License-Identifier: Apache-2.0
// libavdevice, loaded for the first screen, camera or microphone: it brings X, audio and window
// libraries along, which nothing else here needs. What it brings is found through libavformat; of
// its own functions those are used that make its devices known and list them.
#ifndef CFFMPEG_DEVICE_LIBRARY_H
#define CFFMPEG_DEVICE_LIBRARY_H

#include <dlfcn.h>
#include <libavformat/avformat.h>
#include <stddef.h>
#include <stdio.h>

/// Ignores what libasound would write to standard error: it fails with an error code too.
static inline void ovt_ignore_alsa_message(
    const char *file, int line, const char *function, int error, const char *format, ...) {
  (void)file, (void)line, (void)function, (void)error, (void)format;
}

/// Opens the version of libavdevice that belongs to libavformat's (both count alike).
/// - Returns: Null if it is missing; the loader's text says then what is.
static inline void *ovt_open_device_library(void) {
  char name[32];
  snprintf(name, sizeof name, "libavdevice.so.%d", LIBAVFORMAT_VERSION_MAJOR);
  // Never closed: libavformat keeps its devices.
  return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

/// Loads libavdevice, and makes its devices known.
/// - Returns: Null, or what is missing: a text of the loader's, good until the thread's next call
///   of it.
static inline const char *ovt_load_device_library(void) {
  void *handle = ovt_open_device_library();
  if (handle == NULL) return dlerror();
  void (*register_all)(void) = (void (*)(void))dlsym(handle, "avdevice_register_all");
  if (register_all == NULL) return "libavdevice has no function avdevice_register_all";
  register_all();
  void *alsa = dlopen("libasound.so.2", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (alsa != NULL) {
    int (*set_handler)(void (*)(const char *, int, const char *, int, const char *, ...)) =
        (int (*)(void (*)(const char *, int, const char *, int, const char *, ...)))dlsym(
            alsa, "snd_lib_error_set_handler");
    if (set_handler != NULL) set_handler(ovt_ignore_alsa_message);
  }
  return NULL;
}

/// The members of libavdevice's AVDeviceInfo and AVDeviceInfoList that all versions begin with.
typedef struct OVTDeviceInfo {
  char *name;
  char *description;
} OVTDeviceInfo;

typedef struct OVTDeviceInfoList {
  OVTDeviceInfo **devices;
  int count;
} OVTDeviceInfoList;

/// Lists the devices of a format; `ovt_free_devices` frees the list.
/// - Returns: Null if they cannot be listed.
static inline OVTDeviceInfoList *ovt_list_devices(const AVInputFormat *format) {
  void *handle = ovt_open_device_library();
  if (handle == NULL) return NULL;
  int (*list_sources)(const AVInputFormat *, const char *, AVDictionary *, OVTDeviceInfoList **) =
      (int (*)(const AVInputFormat *, const char *, AVDictionary *, OVTDeviceInfoList **))dlsym(
          handle, "avdevice_list_input_sources");
  OVTDeviceInfoList *list = NULL;
  if (list_sources == NULL || list_sources(format, NULL, NULL, &list) < 0) return NULL;
  return list;
}

/// Frees a list of devices.
static inline void ovt_free_devices(OVTDeviceInfoList *list) {
  void *handle = list == NULL ? NULL : ovt_open_device_library();
  if (handle == NULL) return;
  void (*release)(OVTDeviceInfoList **) =
      (void (*)(OVTDeviceInfoList **))dlsym(handle, "avdevice_free_list_devices");
  if (release != NULL) release(&list);
}

#endif
