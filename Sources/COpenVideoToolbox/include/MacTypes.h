// SPDX-License-Identifier: Apache-2.0
// The integer types of Apple's C interfaces.

#ifndef OVT_MACTYPES_H
#define OVT_MACTYPES_H

#include <OpenVideoToolbox/Base.h>

typedef uint8_t UInt8;
typedef int8_t SInt8;
typedef uint16_t UInt16;
typedef int16_t SInt16;
typedef uint32_t UInt32;
typedef int32_t SInt32;
typedef uint64_t UInt64;
typedef int64_t SInt64;
typedef float Float32;
typedef double Float64;
/// 0 for false, anything else for true.
typedef unsigned char Boolean;
/// `noErr`, or the number of an error.
typedef SInt32 OSStatus;
typedef SInt16 OSErr;
/// Four characters, the first in the highest byte.
typedef UInt32 FourCharCode;
typedef FourCharCode OSType;
typedef UInt16 UniChar;
typedef unsigned long UniCharCount;
typedef unsigned char *StringPtr;
typedef const unsigned char *ConstStringPtr;
typedef unsigned char Str255[256];
typedef const unsigned char *ConstStr255Param;
typedef UInt32 UTF32Char;
typedef UInt16 UTF16Char;
typedef UInt8 UTF8Char;

#if !defined(__swift__)
/// An older name, which HandBrake uses.
typedef uint8_t uint8;
#endif

enum {
  /// The function succeeded.
  noErr = 0
};

#endif
