// SPDX-License-Identifier: Apache-2.0
// Tags: values that say what a buffer or a channel is, for example the eye that a picture is for.

#ifndef OVT_COREMEDIA_CMTAG_H
#define OVT_COREMEDIA_CMTAG_H

#include <CoreMedia/CMBase.h>

OVT_HEADER_BEGIN

/// The category of a tag, as a four-character code.
typedef FourCharCode CMTagCategory;
enum {
  kCMTagCategory_Undefined = 0,
  /// The media type (`kCMMediaType_`).
  kCMTagCategory_MediaType = 0x6D646961,  // 'mdia'
  /// The subtype, for video the codec.
  kCMTagCategory_MediaSubType = 0x6D737562,  // 'msub'
  /// The identifier of a track (SInt64).
  kCMTagCategory_TrackID = 0x7472616B,  // 'trak'
  /// The identifier of a channel (SInt64).
  kCMTagCategory_ChannelID = 0x7663686E,  // 'vchn'
  /// The identifier of a layer of a stream with several layers (SInt64).
  kCMTagCategory_VideoLayerID = 0x766C6179,  // 'vlay'
  /// The pixel format (`kCVPixelFormatType_`).
  kCMTagCategory_PixelFormat = 0x70697866,  // 'pixf'
  /// The arrangement of pictures in a frame (`kCMPackingType_`).
  kCMTagCategory_PackingType = 0x7061636B,  // 'pack'
  /// The projection (`kCMProjectionType_`).
  kCMTagCategory_ProjectionType = 0x70726F6A,  // 'proj'
  /// The eyes that a picture is for (`kCMStereoView_`).
  kCMTagCategory_StereoView = 0x65796573,  // 'eyes'
  /// How views are to be understood (`kCMStereoViewInterpretation_`).
  kCMTagCategory_StereoViewInterpretation = 0x65796970  // 'eyip'
};

/// The type of a tag's value.
typedef uint32_t CMTagDataType;
enum {
  /// The tag is not valid.
  kCMTagDataType_Invalid = 0,
  kCMTagDataType_SInt64 = 2,
  kCMTagDataType_Float64 = 3,
  kCMTagDataType_OSType = 5,
  kCMTagDataType_Flags = 7
};

enum {
  /// A parameter is missing or wrong.
  kCMTagError_ParamErr = -15730,
  /// Memory ran out.
  kCMTagError_AllocationFailed = -15731
};

/// The bits of a tag's value.
typedef uint64_t CMTagValue;

/// A tag: a category, and a value of a type. It is a value, not an object.
typedef struct CMTag {
  CMTagCategory category;
  CMTagDataType dataType;
  CMTagValue value;
} CMTag;

/// The eyes that a picture is for.
typedef uint64_t CMStereoViewComponents;
enum { kCMStereoView_None = 0, kCMStereoView_LeftEye = 1 << 0, kCMStereoView_RightEye = 1 << 1 };

/// How views are to be understood.
typedef uint64_t CMStereoViewInterpretationOptions;
enum {
  kCMStereoViewInterpretation_Default = 0,
  /// The right eye comes first.
  kCMStereoViewInterpretation_StereoOrderReversed = 1 << 0,
  /// There are views in addition to those of the two eyes.
  kCMStereoViewInterpretation_AdditionalViews = 1 << 1
};

/// The projection of a picture.
typedef uint64_t CMProjectionType;
enum {
  kCMProjectionType_Rectangular = 0x72656374,      // 'rect'
  kCMProjectionType_Equirectangular = 0x65717569,  // 'equi'
  /// The front half of an equirectangular projection.
  kCMProjectionType_HalfEquirectangular = 0x68657175,  // 'hequ'
  kCMProjectionType_Fisheye = 0x66697368               // 'fish'
};

/// The arrangement of pictures in a frame.
typedef uint64_t CMPackingType;
enum {
  /// A frame holds one picture.
  kCMPackingType_None = 0x6E6F6E65,  // 'none'
  /// The left eye's picture is on the left.
  kCMPackingType_SideBySide = 0x73696465,  // 'side'
  /// The left eye's picture is at the top.
  kCMPackingType_OverUnder = 0x6F766572  // 'over'
};

OVT_EXPORT const CMTag kCMTagInvalid;
OVT_EXPORT const CMTag kCMTagMediaTypeVideo;
OVT_EXPORT const CMTag kCMTagMediaTypeAudio;
OVT_EXPORT const CMTag kCMTagMediaTypeMetadata;
/// The subtype of timed metadata in boxes (`kCMMetadataFormatType_Boxed`).
OVT_EXPORT const CMTag kCMTagMediaSubTypeMebx;
OVT_EXPORT const CMTag kCMTagStereoNone;
OVT_EXPORT const CMTag kCMTagStereoLeftEye;
OVT_EXPORT const CMTag kCMTagStereoRightEye;
OVT_EXPORT const CMTag kCMTagStereoLeftAndRightEye;
OVT_EXPORT const CMTag kCMTagStereoInterpretationOrderReversed;
OVT_EXPORT const CMTag kCMTagProjectionTypeRectangular;
OVT_EXPORT const CMTag kCMTagProjectionTypeEquirectangular;
OVT_EXPORT const CMTag kCMTagProjectionTypeHalfEquirectangular;
OVT_EXPORT const CMTag kCMTagProjectionTypeFisheye;
OVT_EXPORT const CMTag kCMTagPackingTypeNone;
OVT_EXPORT const CMTag kCMTagPackingTypeSideBySide;
OVT_EXPORT const CMTag kCMTagPackingTypeOverUnder;

/// In the dictionary of a tag: the bits of its value (number).
OVT_EXPORT const CFStringRef kCMTagValueKey;
/// In the dictionary of a tag: its category (number).
OVT_EXPORT const CFStringRef kCMTagCategoryKey;
/// In the dictionary of a tag: the type of its value (number).
OVT_EXPORT const CFStringRef kCMTagDataTypeKey;

// MARK: - What a tag is

#if !defined(__swift__)
/// Whether a tag is valid: its value has a type.
CM_INLINE Boolean CMTagIsValid(CMTag tag) { return (Boolean)(tag.dataType != kCMTagDataType_Invalid); }

CM_INLINE CMTagCategory CMTagGetCategory(CMTag tag) { return tag.category; }

/// The bits of a tag's value, whatever its type.
CM_INLINE CMTagValue CMTagGetValue(CMTag tag) { return tag.value; }

CM_INLINE Boolean CMTagHasCategory(CMTag tag, CMTagCategory category) {
  return (Boolean)(tag.category == category);
}

/// Whether two tags have the same category.
CM_INLINE Boolean CMTagCategoryEqualToTagCategory(CMTag tag1, CMTag tag2) {
  return (Boolean)(tag1.category == tag2.category);
}

/// Whether the values of two tags have the same bits.
CM_INLINE Boolean CMTagCategoryValueEqualToValue(CMTag tag1, CMTag tag2) {
  return (Boolean)(tag1.value == tag2.value);
}
#endif

/// The type of a tag's value.
OVT_EXPORT CMTagDataType CMTagGetValueDataType(CMTag tag);

/// Whether a tag's value is a signed number.
OVT_EXPORT Boolean CMTagHasSInt64Value(CMTag tag);
/// The value as a signed number. If it is of another type, its bits as one.
OVT_EXPORT int64_t CMTagGetSInt64Value(CMTag tag);

/// Whether a tag's value is a floating-point number.
OVT_EXPORT Boolean CMTagHasFloat64Value(CMTag tag);
/// The value as a floating-point number. If it is of another type, its bits as one.
OVT_EXPORT Float64 CMTagGetFloat64Value(CMTag tag);

/// Whether a tag's value is a four-character code.
OVT_EXPORT Boolean CMTagHasOSTypeValue(CMTag tag);
/// The value as a four-character code: its lower 32 bits.
OVT_EXPORT OSType CMTagGetOSTypeValue(CMTag tag);

/// Whether a tag's value is a set of flags.
OVT_EXPORT Boolean CMTagHasFlagsValue(CMTag tag);
/// The value as a set of flags.
OVT_EXPORT uint64_t CMTagGetFlagsValue(CMTag tag);

// MARK: - Making tags

OVT_EXPORT CMTag CMTagMakeWithSInt64Value(CMTagCategory category, int64_t value);
OVT_EXPORT CMTag CMTagMakeWithFloat64Value(CMTagCategory category, Float64 value);
OVT_EXPORT CMTag CMTagMakeWithOSTypeValue(CMTagCategory category, OSType value);
OVT_EXPORT CMTag CMTagMakeWithFlagsValue(CMTagCategory category, uint64_t flagsForTag);

// MARK: - Comparing tags

/// Whether two tags have the same category, type and value.
OVT_EXPORT Boolean CMTagEqualToTag(CMTag tag1, CMTag tag2);

/// The order of two tags: by category, then by the type of their values, then by the values as what
/// they are. Numbers that are not equal to themselves have the order of their bits.
OVT_EXPORT CFComparisonResult CMTagCompare(CMTag tag1, CMTag tag2);

/// A number that is the same for tags that are equal.
OVT_EXPORT CFHashCode CMTagHash(CMTag tag);

/// A tag in words, for debugging. The caller owns the result.
OVT_EXPORT CFStringRef OVT_NULLABLE CMTagCopyDescription(CFAllocatorRef OVT_NULLABLE allocator, CMTag tag);

/// A tag as a dictionary with the keys `kCMTagCategoryKey`, `kCMTagDataTypeKey` and
/// `kCMTagValueKey`. The caller owns the result.
OVT_EXPORT CFDictionaryRef OVT_NULLABLE CMTagCopyAsDictionary(CMTag tag, CFAllocatorRef OVT_NULLABLE allocator);

/// The tag of a dictionary that `CMTagCopyAsDictionary` returned; `kCMTagInvalid` for another one.
OVT_EXPORT CMTag CMTagMakeFromDictionary(CFDictionaryRef dict);

OVT_HEADER_END

#endif
