// SPDX-License-Identifier: Apache-2.0
// libavfilter, loaded when the first filter is made: it brings some sixty libraries along, whose
// loading takes longer than the encoding of a short clip, and most programs never filter anything.
#ifndef CFFMPEG_FILTER_LIBRARY_H
#define CFFMPEG_FILTER_LIBRARY_H

#include <dlfcn.h>
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <stddef.h>
#include <stdio.h>

#define OVT_FILTER_FUNCTIONS(X)       \
  X(avfilter_get_by_name)             \
  X(avfilter_graph_alloc)             \
  X(avfilter_graph_alloc_filter)      \
  X(avfilter_graph_config)            \
  X(avfilter_graph_free)              \
  X(avfilter_graph_parse_ptr)         \
  X(avfilter_init_str)                \
  X(avfilter_inout_alloc)             \
  X(avfilter_inout_free)              \
  X(av_buffersink_get_frame)          \
  X(av_buffersink_get_time_base)      \
  X(av_buffersrc_add_frame_flags)     \
  X(av_buffersrc_parameters_alloc)    \
  X(av_buffersrc_parameters_set)

/// The functions of libavfilter that are used, of the types that its headers declare.
struct ovt_filter_library {
#define OVT_MEMBER(name) __typeof__(&name) name;
  OVT_FILTER_FUNCTIONS(OVT_MEMBER)
#undef OVT_MEMBER
};

/// Loads the version that the headers are of.
/// - Returns: Null, or what is missing: a text of the loader's, good until the thread's next call
///   of it.
static inline const char *ovt_load_filter_library(struct ovt_filter_library *library) {
  char name[32];
  snprintf(name, sizeof name, "libavfilter.so.%d", LIBAVFILTER_VERSION_MAJOR);
  // Never closed: its libraries do not all bear it.
  void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) return dlerror();
#define OVT_LOAD(name)                                        \
  library->name = (__typeof__(&name))dlsym(handle, #name);    \
  if (library->name == NULL) return "libavfilter has no function " #name;
  OVT_FILTER_FUNCTIONS(OVT_LOAD)
#undef OVT_LOAD
  return NULL;
}

#endif
