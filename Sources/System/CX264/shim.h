// SPDX-License-Identifier: Apache-2.0
// libx264's public header, and what Swift cannot import from it, as functions.
#ifndef CX264_SHIM_H
#define CX264_SHIM_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <x264.h>

// The name of x264_encoder_open carries the build number through a macro.
static inline x264_t *ovt_x264_encoder_open(x264_param_t *param) { return x264_encoder_open(param); }

// The last error that the library has logged.
typedef struct ovt_x264_log {
  char text[256];
} ovt_x264_log;

static inline void ovt_x264_log_callback(void *log, int level, const char *format, va_list arguments) {
  if (level > X264_LOG_ERROR || log == 0) return;
  vsnprintf(((ovt_x264_log *)log)->text, sizeof(((ovt_x264_log *)log)->text), format, arguments);
}

static inline void ovt_x264_keep_errors(x264_param_t *param, ovt_x264_log *log) {
  param->pf_log = ovt_x264_log_callback;
  param->p_log_private = log;
  param->i_log_level = X264_LOG_ERROR;
}

#endif
