// SPDX-License-Identifier: Apache-2.0
// The tags that the headers name.

#include <CoreMedia/CoreMedia.h>

#include "ConstantString.h"

#define OVT_TAG(name, category, type, value)                                                                 \
  const CMTag name = {kCMTagCategory_##category, kCMTagDataType_##type, value};

OVT_TAG(kCMTagInvalid, Undefined, Invalid, 0)
OVT_TAG(kCMTagMediaTypeVideo, MediaType, OSType, kCMMediaType_Video)
OVT_TAG(kCMTagMediaTypeAudio, MediaType, OSType, kCMMediaType_Audio)
OVT_TAG(kCMTagMediaTypeMetadata, MediaType, OSType, kCMMediaType_Metadata)
OVT_TAG(kCMTagMediaSubTypeMebx, MediaSubType, OSType, kCMMetadataFormatType_Boxed)
OVT_TAG(kCMTagStereoNone, StereoView, Flags, kCMStereoView_None)
OVT_TAG(kCMTagStereoLeftEye, StereoView, Flags, kCMStereoView_LeftEye)
OVT_TAG(kCMTagStereoRightEye, StereoView, Flags, kCMStereoView_RightEye)
OVT_TAG(kCMTagStereoLeftAndRightEye, StereoView, Flags, kCMStereoView_LeftEye | kCMStereoView_RightEye)
OVT_TAG(
    kCMTagStereoInterpretationOrderReversed, StereoViewInterpretation, Flags,
    kCMStereoViewInterpretation_StereoOrderReversed)
OVT_TAG(kCMTagProjectionTypeRectangular, ProjectionType, OSType, kCMProjectionType_Rectangular)
OVT_TAG(kCMTagProjectionTypeEquirectangular, ProjectionType, OSType, kCMProjectionType_Equirectangular)
OVT_TAG(kCMTagProjectionTypeHalfEquirectangular, ProjectionType, OSType, kCMProjectionType_HalfEquirectangular)
OVT_TAG(kCMTagProjectionTypeFisheye, ProjectionType, OSType, kCMProjectionType_Fisheye)
OVT_TAG(kCMTagPackingTypeNone, PackingType, OSType, kCMPackingType_None)
OVT_TAG(kCMTagPackingTypeSideBySide, PackingType, OSType, kCMPackingType_SideBySide)
OVT_TAG(kCMTagPackingTypeOverUnder, PackingType, OSType, kCMPackingType_OverUnder)

OVT_STRING(kCMTagCategoryKey, "category")
OVT_STRING(kCMTagDataTypeKey, "dataType")
OVT_STRING(kCMTagValueKey, "value")
OVT_STRING(kCMTagCollectionTagsArrayKey, "tags")
