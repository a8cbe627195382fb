// SPDX-License-Identifier: Apache-2.0
// Text. Indices and lengths count UTF-16 code units.

#ifndef OVT_COREFOUNDATION_CFSTRING_H
#define OVT_COREFOUNDATION_CFSTRING_H

#include <stdarg.h>
#include <CoreFoundation/CFBase.h>
#include <CoreFoundation/CFDictionary.h>

OVT_HEADER_BEGIN

/// How text is turned into bytes.
typedef UInt32 CFStringEncoding;
typedef CFStringEncoding CFStringBuiltInEncodings;
#define kCFStringEncodingInvalidId (0xffffffffU)
enum {
  kCFStringEncodingMacRoman = 0,
  kCFStringEncodingWindowsLatin1 = 0x0500,
  kCFStringEncodingISOLatin1 = 0x0201,
  kCFStringEncodingNextStepLatin = 0x0B01,
  kCFStringEncodingASCII = 0x0600,
  kCFStringEncodingUnicode = 0x0100,
  kCFStringEncodingUTF8 = 0x08000100,
  kCFStringEncodingNonLossyASCII = 0x0BFF,
  kCFStringEncodingUTF16 = 0x0100,
  kCFStringEncodingUTF16BE = 0x10000100,
  kCFStringEncodingUTF16LE = 0x14000100,
  kCFStringEncodingUTF32 = 0x0c000100,
  kCFStringEncodingUTF32BE = 0x18000100,
  kCFStringEncodingUTF32LE = 0x1c000100
};

/// Ways to compare text.
typedef CFOptionFlags CFStringCompareFlags;
enum {
  kCFCompareCaseInsensitive = 1,
  kCFCompareBackwards = 4,
  kCFCompareAnchored = 8,
  kCFCompareNonliteral = 16,
  kCFCompareLocalized = 32,
  kCFCompareNumerically = 64
};

/// A string of a literal, which lives as long as the program.
///
/// With Clang and `-fcf-runtime-abi=swift -DDEPLOYMENT_RUNTIME_SWIFT=1` it is a constant that the
/// compiler lays
/// out, so that it can initialise static variables. Otherwise it is a call.
#if defined(__clang__) && defined(DEPLOYMENT_RUNTIME_SWIFT)
#define CFSTR(text) ((CFStringRef)__builtin___CFStringMakeConstantString("" text ""))
#else
#define CFSTR(text) __CFStringMakeConstantString("" text "")
#endif
/// The string of a literal: what `CFSTR` calls. The result is not to be released.
OVT_EXPORT CFStringRef __CFStringMakeConstantString(const char *text);

OVT_EXPORT CFTypeID CFStringGetTypeID(void);

// Functions with "Create" in their name return a string that the caller owns, or `NULL` if the
// bytes are not text
// in that encoding.

OVT_EXPORT CFStringRef OVT_NULLABLE CFStringCreateWithCString(
    CFAllocatorRef OVT_NULLABLE allocator, const char *text, CFStringEncoding encoding);
OVT_EXPORT CFStringRef OVT_NULLABLE CFStringCreateWithBytes(
    CFAllocatorRef OVT_NULLABLE allocator, const UInt8 *bytes, CFIndex count,
    CFStringEncoding encoding, Boolean hasByteOrderMark);
OVT_EXPORT CFStringRef OVT_NULLABLE CFStringCreateWithCharacters(
    CFAllocatorRef OVT_NULLABLE allocator, const UniChar *characters, CFIndex count);
OVT_EXPORT CFStringRef OVT_NULLABLE CFStringCreateWithCStringNoCopy(
    CFAllocatorRef OVT_NULLABLE allocator, const char *text, CFStringEncoding encoding,
    CFAllocatorRef OVT_NULLABLE contentsDeallocator);
OVT_EXPORT CFStringRef OVT_NULLABLE CFStringCreateWithSubstring(
    CFAllocatorRef OVT_NULLABLE allocator, CFStringRef string, CFRange range);
OVT_EXPORT CFStringRef OVT_NULLABLE CFStringCreateCopy(
    CFAllocatorRef OVT_NULLABLE allocator, CFStringRef string);
/// The format is that of `printf`, with `%@` for an object.
OVT_EXPORT CFStringRef OVT_NULLABLE CFStringCreateWithFormat(
    CFAllocatorRef OVT_NULLABLE allocator, CFDictionaryRef OVT_NULLABLE options,
    CFStringRef format, ...);
OVT_EXPORT CFStringRef OVT_NULLABLE CFStringCreateWithFormatAndArguments(
    CFAllocatorRef OVT_NULLABLE allocator, CFDictionaryRef OVT_NULLABLE options,
    CFStringRef format, va_list arguments);
OVT_EXPORT CFMutableStringRef OVT_NULLABLE CFStringCreateMutable(
    CFAllocatorRef OVT_NULLABLE allocator, CFIndex maximumLength);
OVT_EXPORT CFMutableStringRef OVT_NULLABLE CFStringCreateMutableCopy(
    CFAllocatorRef OVT_NULLABLE allocator, CFIndex maximumLength, CFStringRef string);
OVT_EXPORT CFStringRef OVT_NULLABLE CFStringCreateWithFileSystemRepresentation(
    CFAllocatorRef OVT_NULLABLE allocator, const char *path);

OVT_EXPORT CFIndex CFStringGetLength(CFStringRef string);
OVT_EXPORT UniChar CFStringGetCharacterAtIndex(CFStringRef string, CFIndex index);
OVT_EXPORT void CFStringGetCharacters(CFStringRef string, CFRange range, UniChar *buffer);
/// Copies the text with a final null character; false if it does not fit or is not in that
/// encoding.
OVT_EXPORT Boolean CFStringGetCString(
    CFStringRef string, char *buffer, CFIndex size, CFStringEncoding encoding);
/// The text without a copy if the string can give it, else `NULL`: programs need
/// `CFStringGetCString`, too.
OVT_EXPORT const char *OVT_NULLABLE CFStringGetCStringPtr(
    CFStringRef string, CFStringEncoding encoding);
OVT_EXPORT const UniChar *OVT_NULLABLE CFStringGetCharactersPtr(CFStringRef string);
OVT_EXPORT CFIndex CFStringGetBytes(
    CFStringRef string, CFRange range, CFStringEncoding encoding, UInt8 lossByte,
    Boolean withByteOrderMark, UInt8 *OVT_NULLABLE buffer, CFIndex size,
    CFIndex *OVT_NULLABLE usedSize);
OVT_EXPORT CFIndex CFStringGetMaximumSizeForEncoding(CFIndex length, CFStringEncoding encoding);
OVT_EXPORT Boolean CFStringGetFileSystemRepresentation(
    CFStringRef string, char *buffer, CFIndex size);
OVT_EXPORT CFIndex CFStringGetMaximumSizeOfFileSystemRepresentation(CFStringRef string);
OVT_EXPORT SInt32 CFStringGetIntValue(CFStringRef string);
OVT_EXPORT double CFStringGetDoubleValue(CFStringRef string);
OVT_EXPORT CFStringEncoding CFStringGetSystemEncoding(void);
OVT_EXPORT CFComparisonResult CFStringCompare(
    CFStringRef first, CFStringRef second, CFStringCompareFlags options);
OVT_EXPORT Boolean CFStringHasPrefix(CFStringRef string, CFStringRef prefix);
OVT_EXPORT Boolean CFStringHasSuffix(CFStringRef string, CFStringRef suffix);
OVT_EXPORT CFRange CFStringFind(
    CFStringRef string, CFStringRef wanted, CFStringCompareFlags options);

OVT_EXPORT void CFStringAppend(CFMutableStringRef string, CFStringRef appended);
OVT_EXPORT void CFStringAppendCString(
    CFMutableStringRef string, const char *text, CFStringEncoding encoding);
OVT_EXPORT void CFStringAppendFormat(
    CFMutableStringRef string, CFDictionaryRef OVT_NULLABLE options,
    CFStringRef format, ...);
OVT_EXPORT void CFStringInsert(CFMutableStringRef string, CFIndex index, CFStringRef inserted);
OVT_EXPORT void CFStringDelete(CFMutableStringRef string, CFRange range);
OVT_EXPORT void CFStringReplaceAll(CFMutableStringRef string, CFStringRef replacement);
/// Writes a string, with what is known of it, to the standard error stream.
OVT_EXPORT void CFShowStr(CFStringRef string);

OVT_HEADER_END

#endif
