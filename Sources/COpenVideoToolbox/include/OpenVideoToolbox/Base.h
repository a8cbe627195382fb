// SPDX-License-Identifier: Apache-2.0
// The definitions that every header of this package needs: linkage, nullability, and the names that
// Swift sees.

#ifndef OVT_OPENVIDEOTOOLBOX_BASE_H
#define OVT_OPENVIDEOTOOLBOX_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__swift__)
#include <OpenVideoToolbox/SwiftNames.h>
#endif

/// Declares a function or a constant of the library.
#define OVT_EXPORT extern __attribute__((visibility("default")))

/// A pointer that may be `NULL`. All pointers that are not marked must not be: a function that is
/// given
/// `NULL` all the same returns an error, or `NULL`, or zero, and does nothing.
#if defined(__clang__) && !defined(__swift__)
#define OVT_NULLABLE _Nullable
#else
#define OVT_NULLABLE
#endif

// Programs write Clang's qualifiers themselves, which other compilers do not know.
#if !defined(__clang__)
#if !defined(_Nullable)
#define _Nullable
#endif
#if !defined(_Nonnull)
#define _Nonnull
#endif
#if !defined(_Null_unspecified)
#define _Null_unspecified
#endif
#endif

#if defined(__cplusplus)
#define OVT_EXTERN_C_BEGIN extern "C" {
#define OVT_EXTERN_C_END }
#else
#define OVT_EXTERN_C_BEGIN
#define OVT_EXTERN_C_END
#endif

/// Around the declarations of a header.
#if defined(__clang__) && !defined(__swift__)
#define OVT_HEADER_BEGIN                                                       \
  _Pragma("clang diagnostic push")                                             \
  _Pragma("clang diagnostic ignored \"-Wnullability-extension\"")              \
  _Pragma("clang diagnostic ignored \"-Wnullability-completeness\"")           \
  _Pragma("clang assume_nonnull begin") OVT_EXTERN_C_BEGIN
#define OVT_HEADER_END                                                         \
  OVT_EXTERN_C_END _Pragma("clang assume_nonnull end") _Pragma("clang diagnostic pop")
#else
#define OVT_HEADER_BEGIN OVT_EXTERN_C_BEGIN
#define OVT_HEADER_END OVT_EXTERN_C_END
#endif

/// Whether functions that take blocks are declared: with `clang -fblocks` (and `-lBlocksRuntime`).
#if defined(__BLOCKS__) && !defined(__swift__)
#define OVT_HAS_BLOCKS 1
#else
#define OVT_HAS_BLOCKS 0
#endif

#endif
