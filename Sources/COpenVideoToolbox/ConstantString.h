// SPDX-License-Identifier: Apache-2.0
// Constant strings, laid out as the Core Foundation of Swift's Foundation lays out the literals of
// C programs, so that they need no code at start and can be read at any time.

#ifndef OVT_CONSTANTSTRING_H
#define OVT_CONSTANTSTRING_H

#include <stdint.h>

/// The class of constant strings in Foundation.
extern const char OVTConstantStringClass __asm__("$s10Foundation19_NSCFConstantStringCN");

struct OVTConstantString {
  const void *class;
  /// Swift's count of references, as one that never changes: a program may release a constant.
  uintptr_t references;
  /// Core Foundation's flags: immutable text of one byte per character, not in the object, never
  /// freed, with a final null character.
  uint64_t flags;
  const char *text;
  uint64_t length;
};

/// The count of an object that is never freed (Swift's runtime, RefCount.h).
#define OVT_IMMORTAL ((uintptr_t)0x80000004ffffffff)

/// Defines an exported constant of a header. The text must be ASCII.
#define OVT_STRING(name, characters)                                                                         \
  static struct OVTConstantString name##Object = {                                                           \
      &OVTConstantStringClass, OVT_IMMORTAL, 0x7c8, characters, sizeof(characters) - 1};                     \
  const CFStringRef name = (CFStringRef)&name##Object;

#endif
