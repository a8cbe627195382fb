// SPDX-License-Identifier: Apache-2.0
// Which encoders there are.

#ifndef OVT_VIDEOTOOLBOX_VTVIDEOENCODERLIST_H
#define OVT_VIDEOTOOLBOX_VTVIDEOENCODERLIST_H

#include <VideoToolbox/VTErrors.h>

OVT_HEADER_BEGIN

/// The codec's four-character code. Number.
OVT_EXPORT const CFStringRef kVTVideoEncoderList_CodecType;
/// The identifier for `kVTVideoEncoderSpecification_EncoderID` (string).
OVT_EXPORT const CFStringRef kVTVideoEncoderList_EncoderID;
/// The codec's name. String.
OVT_EXPORT const CFStringRef kVTVideoEncoderList_CodecName;
/// The encoder's name. String.
OVT_EXPORT const CFStringRef kVTVideoEncoderList_EncoderName;
/// Name for a menu. String.
OVT_EXPORT const CFStringRef kVTVideoEncoderList_DisplayName;
/// The GPU that the encoder runs on; absent for encoders that run on the processor. Number.
OVT_EXPORT const CFStringRef kVTVideoEncoderList_GPURegistryID;
/// The properties by which encoders of one codec differ, each with its description, for choosing
/// among them. Dictionary.
OVT_EXPORT const CFStringRef kVTVideoEncoderList_SupportedSelectionProperties;
/// Greater is faster, among encoders of one codec. Number.
OVT_EXPORT const CFStringRef kVTVideoEncoderList_PerformanceRating;
/// Greater is better, among encoders of one codec. Number.
OVT_EXPORT const CFStringRef kVTVideoEncoderList_QualityRating;
/// Sessions that can use the encoder at a time; absent if there is no limit. Number.
OVT_EXPORT const CFStringRef kVTVideoEncoderList_InstanceLimit;
/// Whether the encoder is a piece of hardware. Boolean; absent means false.
OVT_EXPORT const CFStringRef kVTVideoEncoderList_IsHardwareAccelerated;
/// Whether the encoder can reorder frames, so that decode order differs from presentation order.
/// Boolean; absent means true.
OVT_EXPORT const CFStringRef kVTVideoEncoderList_SupportsFrameReordering;
/// Whether to list encoders of DV at standard definition. This package has none, so the list is the
/// same with true and false. Boolean.
OVT_EXPORT const CFStringRef kVTVideoEncoderListOption_IncludeStandardDefinitionDVEncoders;

/// Lists the encoders.
///   - options: NULL, or a dictionary of `kVTVideoEncoderListOption_` keys.
///   - listOfVideoEncodersOut: receives an array of dictionaries with the keys
///     `kVTVideoEncoderList_...`.
///
/// The caller owns the object that `listOfVideoEncodersOut` receives, and releases it with
/// `CFRelease`.
OVT_EXPORT OSStatus VTCopyVideoEncoderList(
    CFDictionaryRef OVT_NULLABLE options, CFArrayRef OVT_NULLABLE *listOfVideoEncodersOut);

/// Describes the encoder that a session of this size, codec and specification would use.
///
/// - `encoderIDOut`: receives the encoder's id.
/// - `supportedPropertiesOut`: receives what `VTSessionCopySupportedPropertyDictionary` would give.
/// - Returns: `kVTParameterErr` for a size that is not positive; `kVTCouldNotFindVideoEncoderErr`
///   if there is none.
///
/// The caller owns the object that `encoderIDOut` receives, and releases it with `CFRelease`.
/// The caller owns the object that `supportedPropertiesOut` receives, and releases it with
/// `CFRelease`.
OVT_EXPORT OSStatus VTCopySupportedPropertyDictionaryForEncoder(
    int32_t width, int32_t height, CMVideoCodecType codecType,
    CFDictionaryRef OVT_NULLABLE encoderSpecification,
    CFStringRef OVT_NULLABLE *OVT_NULLABLE encoderIDOut,
    CFDictionaryRef OVT_NULLABLE *OVT_NULLABLE supportedPropertiesOut);

OVT_HEADER_END

#endif
