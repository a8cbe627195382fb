// SPDX-License-Identifier: Apache-2.0
// Format descriptions from sample descriptions of movie files, and back.

#ifndef OVT_COREMEDIA_CMFORMATDESCRIPTIONBRIDGE_H
#define OVT_COREMEDIA_CMFORMATDESCRIPTIONBRIDGE_H

#include <CoreMedia/CMBlockBuffer.h>
#include <CoreMedia/CMFormatDescription.h>

OVT_HEADER_BEGIN

typedef CFStringRef CMImageDescriptionFlavor;
typedef CFStringRef CMSoundDescriptionFlavor;
typedef CFStringRef CMTextDescriptionFlavor;
typedef CFStringRef CMTimeCodeDescriptionFlavor;
typedef CFStringRef CMMetadataDescriptionFlavor;

enum {
  /// A parameter is wrong or missing, or parameter sets cannot be read.
  kCMFormatDescriptionBridgeError_InvalidParameter = -12712,
  /// Memory ran out.
  kCMFormatDescriptionBridgeError_AllocationFailed = -12713,
  /// The sample description cannot be read.
  kCMFormatDescriptionBridgeError_InvalidSerializedSampleDescription = -12714,
  /// The format description is not usable.
  kCMFormatDescriptionBridgeError_InvalidFormatDescription = -12715,
  /// The format description is of another kind of media, or cannot be written in this flavor.
  kCMFormatDescriptionBridgeError_IncompatibleFormatDescription = -12716,
  /// The flavor is unknown.
  kCMFormatDescriptionBridgeError_UnsupportedSampleDescriptionFlavor = -12717,
  /// The slice is not usable.
  kCMFormatDescriptionBridgeError_InvalidSlice = -12719
};

/// Reads the sample description of a movie's video track.
///
/// Its atoms for shape, colour and fields become extensions; the others are kept as
/// `kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms`, `avcC` and `hvcC` with their
/// parameter sets among them.
///
/// - `size`: In bytes.
/// - `stringEncoding`: Of the codec's name.
/// - `flavor`: Nil for a QuickTime movie.
/// - Returns: `kCMFormatDescriptionBridgeError_InvalidSerializedSampleDescription` if it cannot be
///   read.
///
/// The caller owns the object that `formatDescriptionOut` receives, and releases it with
/// `CFRelease`.
OVT_EXPORT OSStatus CMVideoFormatDescriptionCreateFromBigEndianImageDescriptionData(
    CFAllocatorRef OVT_NULLABLE allocator, const uint8_t *imageDescriptionData, size_t size,
    CFStringEncoding stringEncoding, CMImageDescriptionFlavor OVT_NULLABLE flavor,
    CMFormatDescriptionRef OVT_NULLABLE *formatDescriptionOut);

/// Reads the sample description of a movie's video track; see
/// `CMVideoFormatDescriptionCreateFromBigEndianImageDescriptionData`.
///
/// The caller owns the object that `formatDescriptionOut` receives, and releases it with
/// `CFRelease`.
OVT_EXPORT OSStatus CMVideoFormatDescriptionCreateFromBigEndianImageDescriptionBlockBuffer(
    CFAllocatorRef OVT_NULLABLE allocator, CMBlockBufferRef imageDescriptionBlockBuffer,
    CFStringEncoding stringEncoding, CMImageDescriptionFlavor OVT_NULLABLE flavor,
    CMFormatDescriptionRef OVT_NULLABLE *formatDescriptionOut);

/// Writes a description of video as the sample description of a movie's track.
///
/// One that was read from a movie of the same flavor is written byte for byte.
///
/// - Returns: `kCMFormatDescriptionBridgeError_IncompatibleFormatDescription` if it is not of
///   video, or larger than
///   a movie can say.
///
/// The caller owns the object that `imageDescriptionBlockBufferOut` receives, and releases it with
/// `CFRelease`.
OVT_EXPORT OSStatus CMVideoFormatDescriptionCopyAsBigEndianImageDescriptionBlockBuffer(
    CFAllocatorRef OVT_NULLABLE allocator, CMVideoFormatDescriptionRef videoFormatDescription,
    CFStringEncoding stringEncoding, CMImageDescriptionFlavor OVT_NULLABLE flavor,
    CMBlockBufferRef OVT_NULLABLE *imageDescriptionBlockBufferOut);

/// Turns the fields of an image description, and the sizes and types of its atoms, from big-endian
/// to this machine's
/// order, in place. What is in the atoms stays as it is.
OVT_EXPORT OSStatus CMSwapBigEndianImageDescriptionToHost(
    uint8_t *imageDescriptionData, size_t size);

/// The reverse of `CMSwapBigEndianImageDescriptionToHost`.
OVT_EXPORT OSStatus CMSwapHostEndianImageDescriptionToBig(
    uint8_t *imageDescriptionData, size_t size);

/// Reads the sample description of a movie's metadata track.
///
/// - `size`: In bytes.
/// - `flavor`: Nil: there is one flavor only.
/// - Returns: `kCMFormatDescriptionBridgeError_InvalidSerializedSampleDescription` if it cannot be
///   read.
///
/// The caller owns the object that `formatDescriptionOut` receives, and releases it with
/// `CFRelease`.
OVT_EXPORT OSStatus CMMetadataFormatDescriptionCreateFromBigEndianMetadataDescriptionData(
    CFAllocatorRef OVT_NULLABLE allocator, const uint8_t *metadataDescriptionData, size_t size,
    CMMetadataDescriptionFlavor OVT_NULLABLE flavor,
    CMMetadataFormatDescriptionRef OVT_NULLABLE *formatDescriptionOut);

/// Reads the sample description of a movie's metadata track; see
/// `CMMetadataFormatDescriptionCreateFromBigEndianMetadataDescriptionData`.
///
/// The caller owns the object that `formatDescriptionOut` receives, and releases it with
/// `CFRelease`.
OVT_EXPORT OSStatus CMMetadataFormatDescriptionCreateFromBigEndianMetadataDescriptionBlockBuffer(
    CFAllocatorRef OVT_NULLABLE allocator, CMBlockBufferRef metadataDescription,
    CMMetadataDescriptionFlavor OVT_NULLABLE flavor,
    CMMetadataFormatDescriptionRef OVT_NULLABLE *formatDescriptionOut);

/// Writes a description of timed metadata as the sample description of a movie's track.
/// - Returns: `kCMFormatDescriptionBridgeError_IncompatibleFormatDescription` if it is of other
///   media.
///
/// The caller owns the object that `metadataDescriptionBlockBufferOut` receives, and releases it
/// with `CFRelease`.
OVT_EXPORT OSStatus CMMetadataFormatDescriptionCopyAsBigEndianMetadataDescriptionBlockBuffer(
    CFAllocatorRef OVT_NULLABLE allocator, CMMetadataFormatDescriptionRef metadataFormatDescription,
    CMMetadataDescriptionFlavor OVT_NULLABLE flavor,
    CMBlockBufferRef OVT_NULLABLE *metadataDescriptionBlockBufferOut);

/// Reads the sample description of a movie's 3GPP text track.
///
/// - `size`: In bytes.
/// - `flavor`: Nil: there is one flavor only.
/// - `mediaType`: `kCMMediaType_Text` or `kCMMediaType_Subtitle`: the same format is in both.
/// - Returns: `kCMFormatDescriptionBridgeError_InvalidSerializedSampleDescription` if it cannot be
///   read, or is
///   QuickTime text.
///
/// The caller owns the object that `formatDescriptionOut` receives, and releases it with
/// `CFRelease`.
OVT_EXPORT OSStatus CMTextFormatDescriptionCreateFromBigEndianTextDescriptionData(
    CFAllocatorRef OVT_NULLABLE allocator, const uint8_t *textDescriptionData, size_t size,
    CMTextDescriptionFlavor OVT_NULLABLE flavor, CMMediaType mediaType,
    CMTextFormatDescriptionRef OVT_NULLABLE *formatDescriptionOut);

/// Reads the sample description of a movie's 3GPP text track; see
/// `CMTextFormatDescriptionCreateFromBigEndianTextDescriptionData`.
///
/// The caller owns the object that `formatDescriptionOut` receives, and releases it with
/// `CFRelease`.
OVT_EXPORT OSStatus CMTextFormatDescriptionCreateFromBigEndianTextDescriptionBlockBuffer(
    CFAllocatorRef OVT_NULLABLE allocator, CMBlockBufferRef textDescription,
    CMTextDescriptionFlavor OVT_NULLABLE flavor, CMMediaType mediaType,
    CMTextFormatDescriptionRef OVT_NULLABLE *formatDescriptionOut);

/// Writes a description of 3GPP text as the sample description of a movie's track.
/// - Returns: `kCMFormatDescriptionBridgeError_IncompatibleFormatDescription` if it is of other
///   media or text.
///
/// The caller owns the object that `textDescriptionBlockBufferOut` receives, and releases it with
/// `CFRelease`.
OVT_EXPORT OSStatus CMTextFormatDescriptionCopyAsBigEndianTextDescriptionBlockBuffer(
    CFAllocatorRef OVT_NULLABLE allocator, CMTextFormatDescriptionRef textFormatDescription,
    CMTextDescriptionFlavor OVT_NULLABLE flavor,
    CMBlockBufferRef OVT_NULLABLE *textDescriptionBlockBufferOut);

/// Reads the sample description of a movie's time code track.
///
/// - `size`: In bytes.
/// - `flavor`: Nil: there is one flavor only.
/// - Returns: `kCMFormatDescriptionBridgeError_InvalidSerializedSampleDescription` if it cannot be
///   read.
///
/// The caller owns the object that `formatDescriptionOut` receives, and releases it with
/// `CFRelease`.
OVT_EXPORT OSStatus CMTimeCodeFormatDescriptionCreateFromBigEndianTimeCodeDescriptionData(
    CFAllocatorRef OVT_NULLABLE allocator, const uint8_t *timeCodeDescriptionData, size_t size,
    CMTimeCodeDescriptionFlavor OVT_NULLABLE flavor,
    CMTimeCodeFormatDescriptionRef OVT_NULLABLE *formatDescriptionOut);

/// Reads the sample description of a movie's time code track; see
/// `CMTimeCodeFormatDescriptionCreateFromBigEndianTimeCodeDescriptionData`.
///
/// The caller owns the object that `formatDescriptionOut` receives, and releases it with
/// `CFRelease`.
OVT_EXPORT OSStatus CMTimeCodeFormatDescriptionCreateFromBigEndianTimeCodeDescriptionBlockBuffer(
    CFAllocatorRef OVT_NULLABLE allocator, CMBlockBufferRef timeCodeDescription,
    CMTimeCodeDescriptionFlavor OVT_NULLABLE flavor,
    CMTimeCodeFormatDescriptionRef OVT_NULLABLE *formatDescriptionOut);

/// Writes a description of time codes as the sample description of a movie's track.
/// - Returns: `kCMFormatDescriptionBridgeError_IncompatibleFormatDescription` if it is of other
///   media, or its frame
///   duration or quanta are larger than a movie can say.
///
/// The caller owns the object that `timeCodeDescriptionBlockBufferOut` receives, and releases it
/// with `CFRelease`.
OVT_EXPORT OSStatus CMTimeCodeFormatDescriptionCopyAsBigEndianTimeCodeDescriptionBlockBuffer(
    CFAllocatorRef OVT_NULLABLE allocator, CMTimeCodeFormatDescriptionRef timeCodeFormatDescription,
    CMTimeCodeDescriptionFlavor OVT_NULLABLE flavor,
    CMBlockBufferRef OVT_NULLABLE *timeCodeDescriptionBlockBufferOut);

/// Whether the sample tables of a track with this sound description count frames of uncompressed
/// audio although the audio is compressed: in QuickTime movies with a version before 2, unless the
/// compression identifier is -2.
OVT_EXPORT Boolean CMDoesBigEndianSoundDescriptionRequireLegacyCBRSampleTableLayout(
    CMBlockBufferRef soundDescriptionBlockBuffer, CMSoundDescriptionFlavor OVT_NULLABLE flavor);

/// Turns the fields of a sound description, and the sizes and types of its atoms, from big-endian
/// to this machine's order, in place. What is in the atoms stays as it is.
OVT_EXPORT OSStatus CMSwapBigEndianSoundDescriptionToHost(
    uint8_t *soundDescriptionData, size_t size);

/// The reverse of `CMSwapBigEndianSoundDescriptionToHost`.
OVT_EXPORT OSStatus CMSwapHostEndianSoundDescriptionToBig(
    uint8_t *soundDescriptionData, size_t size);

OVT_HEADER_END

#endif
