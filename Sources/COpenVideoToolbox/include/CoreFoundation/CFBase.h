// SPDX-License-Identifier: Apache-2.0
// The types that all of Core Foundation uses, allocators, and what every object can be asked.

#ifndef OVT_COREFOUNDATION_CFBASE_H
#define OVT_COREFOUNDATION_CFBASE_H

#include <MacTypes.h>
#include <TargetConditionals.h>
#include <Availability.h>

OVT_HEADER_BEGIN

typedef long CFIndex;
typedef unsigned long CFTypeID;
typedef unsigned long CFOptionFlags;
typedef unsigned long CFHashCode;

/// Any object. Objects are counted: a function whose name has "Create" or "Copy" in it returns a
/// reference
/// that the caller owns and releases with `CFRelease`; one with "Get" returns an object that its
/// owner keeps,
/// which the caller retains with `CFRetain` to keep it longer.
typedef const void *CFTypeRef;
/// A string, number, boolean, date, data, or an array or a dictionary of them.
typedef CFTypeRef CFPropertyListRef;
typedef const struct __CFString *CFStringRef;
typedef struct __CFString *CFMutableStringRef;
typedef const struct __CFAllocator *CFAllocatorRef;
typedef const struct __CFNull *CFNullRef;

#define CF_EXPORT OVT_EXPORT
#define CF_INLINE static __inline__
#define CF_EXTERN_C_BEGIN OVT_EXTERN_C_BEGIN
#define CF_EXTERN_C_END OVT_EXTERN_C_END
#define CF_RETURNS_RETAINED
#define CF_RETURNS_NOT_RETAINED
#define CF_CONSUMED
#define CF_BRIDGED_TYPE(type)
#define CF_BRIDGED_MUTABLE_TYPE(type)
#define CF_IMPLICIT_BRIDGING_ENABLED
#define CF_IMPLICIT_BRIDGING_DISABLED
#define CF_NOESCAPE
#define CF_SWIFT_NAME(name)
#define CF_AVAILABLE(...)
#define CF_DEPRECATED(...)
#define CF_FORMAT_FUNCTION(format, first)
#if defined(__clang__)
#define CF_ASSUME_NONNULL_BEGIN _Pragma("clang assume_nonnull begin")
#define CF_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end")
#else
#define CF_ASSUME_NONNULL_BEGIN
#define CF_ASSUME_NONNULL_END
#endif
#if defined(__cplusplus)
#define CF_ENUM(type, name) enum name : type
#define CF_OPTIONS(type, name) type name; enum : type
#else
#define CF_ENUM(type, name) type name; enum
#define CF_OPTIONS(type, name) type name; enum
#endif

#if !defined(TRUE)
#define TRUE 1
#endif
#if !defined(FALSE)
#define FALSE 0
#endif

enum {
  /// The index that means "not there".
  kCFNotFound = -1
};

/// The order of two values.
typedef CFIndex CFComparisonResult;
enum { kCFCompareLessThan = -1, kCFCompareEqualTo = 0, kCFCompareGreaterThan = 1 };

typedef CFComparisonResult (*CFComparatorFunction)(const void *first, const void *second, void *OVT_NULLABLE context);

/// A range of items: the first one's index and how many there are.
typedef struct {
  CFIndex location;
  CFIndex length;
} CFRange;

#if !defined(__swift__)
/// A range of `length` items from index `location`.
CF_INLINE CFRange CFRangeMake(CFIndex location, CFIndex length) {
  CFRange range;
  range.location = location;
  range.length = length;
  return range;
}
#endif

// Allocators

typedef const void *OVT_NULLABLE (*CFAllocatorRetainCallBack)(const void *OVT_NULLABLE info);
typedef void (*CFAllocatorReleaseCallBack)(const void *OVT_NULLABLE info);
typedef CFStringRef OVT_NULLABLE (*CFAllocatorCopyDescriptionCallBack)(const void *OVT_NULLABLE info);
typedef void *OVT_NULLABLE (*CFAllocatorAllocateCallBack)(CFIndex size, CFOptionFlags hint, void *OVT_NULLABLE info);
typedef void *OVT_NULLABLE (*CFAllocatorReallocateCallBack)(void *block, CFIndex size, CFOptionFlags hint, void *OVT_NULLABLE info);
typedef void (*CFAllocatorDeallocateCallBack)(void *block, void *OVT_NULLABLE info);
typedef CFIndex (*CFAllocatorPreferredSizeCallBack)(CFIndex size, CFOptionFlags hint, void *OVT_NULLABLE info);

/// The functions of an allocator, and what is passed to them.
typedef struct {
  CFIndex version;
  void *OVT_NULLABLE info;
  CFAllocatorRetainCallBack OVT_NULLABLE retain;
  CFAllocatorReleaseCallBack OVT_NULLABLE release;
  CFAllocatorCopyDescriptionCallBack OVT_NULLABLE copyDescription;
  CFAllocatorAllocateCallBack OVT_NULLABLE allocate;
  CFAllocatorReallocateCallBack OVT_NULLABLE reallocate;
  CFAllocatorDeallocateCallBack OVT_NULLABLE deallocate;
  CFAllocatorPreferredSizeCallBack OVT_NULLABLE preferredSize;
} CFAllocatorContext;

/// The default allocator, `NULL`.
OVT_EXPORT const CFAllocatorRef OVT_NULLABLE kCFAllocatorDefault;
OVT_EXPORT const CFAllocatorRef kCFAllocatorSystemDefault;
/// `malloc`, `realloc` and `free`.
OVT_EXPORT const CFAllocatorRef kCFAllocatorMalloc;
OVT_EXPORT const CFAllocatorRef kCFAllocatorMallocZone;
/// Allocates nothing and frees nothing: for memory that somebody else owns.
OVT_EXPORT const CFAllocatorRef kCFAllocatorNull;
OVT_EXPORT const CFAllocatorRef kCFAllocatorUseContext;

OVT_EXPORT CFTypeID CFAllocatorGetTypeID(void);
OVT_EXPORT CFAllocatorRef CFAllocatorGetDefault(void);
OVT_EXPORT void CFAllocatorSetDefault(CFAllocatorRef OVT_NULLABLE allocator);
/// A block of `size` bytes, or `NULL`. `hint` is 0.
OVT_EXPORT void *OVT_NULLABLE CFAllocatorAllocate(
    CFAllocatorRef OVT_NULLABLE allocator, CFIndex size, CFOptionFlags hint);
OVT_EXPORT void *OVT_NULLABLE CFAllocatorReallocate(
    CFAllocatorRef OVT_NULLABLE allocator, void *OVT_NULLABLE block, CFIndex size,
    CFOptionFlags hint);
OVT_EXPORT void CFAllocatorDeallocate(CFAllocatorRef OVT_NULLABLE allocator, void *block);
OVT_EXPORT CFIndex CFAllocatorGetPreferredSizeForSize(
    CFAllocatorRef OVT_NULLABLE allocator, CFIndex size, CFOptionFlags hint);

// Objects

/// The one instance of `CFNull`.
OVT_EXPORT const CFNullRef kCFNull;
OVT_EXPORT CFTypeID CFNullGetTypeID(void);

/// The identifier of an object's type, which `CFStringGetTypeID` and the like return.
OVT_EXPORT CFTypeID CFGetTypeID(CFTypeRef object);
/// The name of a type. The caller owns the result.
OVT_EXPORT CFStringRef OVT_NULLABLE CFCopyTypeIDDescription(CFTypeID type);
/// Makes the caller an owner of the object, which it returns.
OVT_EXPORT CFTypeRef CFRetain(CFTypeRef object);
/// Gives a reference up. The last one ends the object.
OVT_EXPORT void CFRelease(CFTypeRef object);
/// Whether two objects are of one type and mean the same.
OVT_EXPORT Boolean CFEqual(CFTypeRef first, CFTypeRef second);
/// A number that is the same for equal objects.
OVT_EXPORT CFHashCode CFHash(CFTypeRef object);
/// An object in words. The caller owns the result.
OVT_EXPORT CFStringRef OVT_NULLABLE CFCopyDescription(CFTypeRef object);
/// Writes an object in words to the standard error stream.
OVT_EXPORT void CFShow(CFTypeRef object);
/// The allocator of an object: that of the system, for all objects of this library.
OVT_EXPORT CFAllocatorRef OVT_NULLABLE CFGetAllocator(CFTypeRef object);

#define kCFCoreFoundationVersionNumber10_4 368.0
#define kCFCoreFoundationVersionNumber10_5 476.0
#define kCFCoreFoundationVersionNumber10_6 550.0
#define kCFCoreFoundationVersionNumber10_7 635.0
#define kCFCoreFoundationVersionNumber10_8 744.0
#define kCFCoreFoundationVersionNumber10_9 855.11
#define kCFCoreFoundationVersionNumber10_10 1151.16

OVT_HEADER_END

#endif
