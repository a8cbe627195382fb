// SPDX-License-Identifier: Apache-2.0
// The statistics that an encoder stores in one pass for the next.

#ifndef OVT_VIDEOTOOLBOX_VTMULTIPASSSTORAGE_H
#define OVT_VIDEOTOOLBOX_VTMULTIPASSSTORAGE_H

#include <VideoToolbox/VTErrors.h>

OVT_HEADER_BEGIN

typedef struct OpaqueVTMultiPassStorage *VTMultiPassStorageRef;

/// Whether to keep the files when the storage is closed or released. Boolean.
OVT_EXPORT const CFStringRef kVTMultiPassStorageCreationOption_DoNotDelete;

/// The type id of `VTMultiPassStorage`.
OVT_EXPORT CFTypeID VTMultiPassStorageGetTypeID(void);

/// Creates a storage for multi-pass encoding.
///
/// - `fileURL`: where to keep the statistics; NULL takes a temporary file. An existing file is
///   overwritten.
/// - `timeRange`: the part of the movie that will be encoded; an invalid range means that it is
///   unknown.
/// - `options`: NULL, or a dictionary with `kVTMultiPassStorageCreationOption_DoNotDelete` and
///   `kOVTMultiPassStorageCreationOption_ReadsExisting`.
/// - Returns: `kVTParameterErr` for an option of a wrong type, or if existing statistics are to be
///   read and there is no URL; `kVTMultiPassStorageInvalidErr` if the file cannot be created, if
///   there is a pipe, a device or a folder at the URL, or if existing statistics are to be read and
///   the file is missing or empty. Whether the statistics are complete, and of the same encoder, is
///   checked when the pass begins.
///
/// The caller owns the object that `multiPassStorageOut` receives, and releases it with
/// `CFRelease`.
OVT_EXPORT OSStatus VTMultiPassStorageCreate(
    CFAllocatorRef OVT_NULLABLE allocator, CFURLRef OVT_NULLABLE fileURL, CMTimeRange timeRange,
    CFDictionaryRef OVT_NULLABLE options, VTMultiPassStorageRef OVT_NULLABLE *multiPassStorageOut);

/// Closes the storage and deletes its files, unless it was created to keep them.
/// - Returns: `kVTMultiPassStorageInvalidErr` if it was closed before.
OVT_EXPORT OSStatus VTMultiPassStorageClose(VTMultiPassStorageRef multiPassStorage);

OVT_HEADER_END

#endif
