// SPDX-License-Identifier: Apache-2.0
// Tags, collections of tags, and groups of buffers with tags.

#include "support.h"

// MARK: - Tags

static void tags(void) {
  CMTag layer = CMTagMakeWithSInt64Value(kCMTagCategory_VideoLayerID, -3);
  CHECK(CMTagIsValid(layer) && !CMTagIsValid(kCMTagInvalid));
  CHECK_EQUAL(CMTagGetCategory(layer), kCMTagCategory_VideoLayerID);
  CHECK_EQUAL(CMTagGetValueDataType(layer), kCMTagDataType_SInt64);
  CHECK(CMTagHasSInt64Value(layer) && !CMTagHasFlagsValue(layer) && !CMTagHasOSTypeValue(layer));
  CHECK_EQUAL(CMTagGetSInt64Value(layer), -3);
  CHECK(CMTagHasCategory(layer, kCMTagCategory_VideoLayerID) && !CMTagHasCategory(layer, kCMTagCategory_TrackID));

  CMTag half = CMTagMakeWithFloat64Value(0x66616B65, 0.5);
  CHECK(CMTagHasFloat64Value(half) && CMTagGetFloat64Value(half) == 0.5);
  CMTag format = CMTagMakeWithOSTypeValue(kCMTagCategory_PixelFormat, kCVPixelFormatType_32BGRA);
  CHECK_EQUAL(CMTagGetOSTypeValue(format), kCVPixelFormatType_32BGRA);
  CMTag both = CMTagMakeWithFlagsValue(
      kCMTagCategory_StereoView, (uint64_t)kCMStereoView_LeftEye | (uint64_t)kCMStereoView_RightEye);
  CHECK(CMTagEqualToTag(both, kCMTagStereoLeftAndRightEye));
  CHECK_EQUAL(CMTagGetFlagsValue(both), 3);
  CHECK(!CMTagEqualToTag(kCMTagStereoLeftEye, kCMTagStereoRightEye));
  CHECK(CMTagCategoryEqualToTagCategory(kCMTagStereoLeftEye, kCMTagStereoRightEye));
  CHECK(CMTagCategoryValueEqualToValue(kCMTagStereoLeftEye, CMTagMakeWithSInt64Value(kCMTagCategory_TrackID, 1)));
  CHECK_EQUAL(CMTagGetOSTypeValue(kCMTagMediaTypeVideo), kCMMediaType_Video);
  CHECK_EQUAL(CMTagGetOSTypeValue(kCMTagPackingTypeSideBySide), kCMPackingType_SideBySide);

  // Numbers are in the order of their values, whatever their bits.
  CHECK_EQUAL(CMTagCompare(layer, CMTagMakeWithSInt64Value(kCMTagCategory_VideoLayerID, 2)), kCFCompareLessThan);
  CHECK_EQUAL(CMTagCompare(half, CMTagMakeWithFloat64Value(0x66616B65, -2)), kCFCompareGreaterThan);
  CHECK_EQUAL(
      CMTagCompare(CMTagMakeWithFloat64Value(0x66616B65, -3), CMTagMakeWithFloat64Value(0x66616B65, -2)),
      kCFCompareLessThan);
  CHECK_EQUAL(CMTagCompare(both, kCMTagStereoLeftAndRightEye), kCFCompareEqualTo);
  CHECK_EQUAL(CMTagHash(both), CMTagHash(kCMTagStereoLeftAndRightEye));
  CHECK(CMTagHash(kCMTagStereoLeftEye) != CMTagHash(kCMTagStereoRightEye));

  CFStringRef words = CMTagCopyDescription(NULL, layer);
  REQUIRE(words != NULL);
  CHECK(CFStringFind(words, CFSTR("vlay"), 0).location != kCFNotFound);
  CHECK(CFStringFind(words, CFSTR("-3"), 0).location != kCFNotFound);
  CFRelease(words);

  CMTag all[] = {layer, half, format, both};
  for (int i = 0; i < 4; i++) {
    CFDictionaryRef dictionary = CMTagCopyAsDictionary(all[i], NULL);
    REQUIRE(dictionary != NULL);
    CFNumberRef category = CFDictionaryGetValue(dictionary, kCMTagCategoryKey);
    int64_t number = 0;
    CHECK(category != NULL && CFNumberGetValue(category, kCFNumberSInt64Type, &number));
    CHECK_EQUAL(number, all[i].category);
    CHECK(CMTagEqualToTag(CMTagMakeFromDictionary(dictionary), all[i]));
    CFRelease(dictionary);
  }
  CFDictionaryRef empty = CFDictionaryCreate(NULL, NULL, NULL, 0, &kCFTypeDictionaryKeyCallBacks,
                                             &kCFTypeDictionaryValueCallBacks);
  CHECK(!CMTagIsValid(CMTagMakeFromDictionary(empty)));
  CFRelease(empty);
  CFDictionaryRef none = NULL;
  CHECK(!CMTagIsValid(CMTagMakeFromDictionary(none)));
}

// MARK: - Collections

static CMTagCollectionRef collection(const CMTag *tags, CMItemCount count) {
  CMTagCollectionRef result = NULL;
  REQUIRE(CMTagCollectionCreate(NULL, tags, count, &result) == noErr);
  REQUIRE(result != NULL);
  return result;
}

static Boolean isStereo(CMTag tag, void *context) {
  ++*(int *)context;
  return tag.category == kCMTagCategory_StereoView;
}

static void countTag(CMTag tag, void *context) { *(int *)context += CMTagIsValid(tag); }

static void questions(void) {
  const CMTag given[] = {kCMTagStereoRightEye, CMTagMakeWithSInt64Value(kCMTagCategory_VideoLayerID, 1),
                         kCMTagStereoLeftEye, kCMTagStereoRightEye};
  CMTagCollectionRef tags = collection(given, 4);
  CHECK_EQUAL(CFGetTypeID(tags), CMTagCollectionGetTypeID());
  CHECK_EQUAL(CMTagCollectionGetCount(tags), 3);
  CHECK(!CMTagCollectionIsEmpty(tags));
  CHECK(CMTagCollectionContainsTag(tags, kCMTagStereoLeftEye));
  CHECK(!CMTagCollectionContainsTag(tags, kCMTagStereoNone));
  CHECK(CMTagCollectionContainsSpecifiedTags(tags, given, 2));
  CHECK(CMTagCollectionContainsSpecifiedTags(tags, given, 0));
  CHECK(CMTagCollectionContainsCategory(tags, kCMTagCategory_VideoLayerID));
  CHECK(!CMTagCollectionContainsCategory(tags, kCMTagCategory_TrackID));
  CHECK_EQUAL(CMTagCollectionGetCountOfCategory(tags, kCMTagCategory_StereoView), 2);

  CMTag buffer[5];
  CMItemCount copied = -1;
  CHECK_EQUAL(CMTagCollectionGetTags(tags, buffer, 5, &copied), noErr);
  CHECK_EQUAL(copied, 3);
  for (int i = 0; i < 5; i++) CHECK_EQUAL(CMTagIsValid(buffer[i]), i < 3);
  CHECK_EQUAL(CMTagCollectionGetTags(tags, buffer, 2, &copied), kCMTagCollectionError_ExhaustedBufferSize);
  CHECK_EQUAL(copied, 2);
  CHECK_EQUAL(CMTagCollectionGetTagsWithCategory(tags, kCMTagCategory_VideoLayerID, buffer, 1, &copied), noErr);
  CHECK(copied == 1 && CMTagGetSInt64Value(buffer[0]) == 1);
  int calls = 0;
  CHECK_EQUAL(CMTagCollectionGetTagsWithFilterFunction(tags, buffer, 5, &copied, isStereo, &calls), noErr);
  CHECK_EQUAL(copied, 2);
  CHECK_EQUAL(calls, 3);
  CHECK_EQUAL(CMTagCollectionCountTagsWithFilterFunction(tags, isStereo, &calls), 2);
  calls = 0;
  CMTagCollectionApply(tags, countTag, &calls);
  CHECK_EQUAL(calls, 3);
  CHECK_EQUAL(CMTagGetCategory(CMTagCollectionApplyUntil(tags, isStereo, &calls)), kCMTagCategory_StereoView);

  CFStringRef words = CMTagCollectionCopyDescription(NULL, tags);
  CHECK(words != NULL && CFStringFind(words, CFSTR("eyes"), 0).location != kCFNotFound);
  CFRelease(words);
  // The same tags in another order.
  CMTagCollectionRef same = collection(given, 3), fewer = collection(given, 2);
  CHECK(CFEqual(tags, same) && !CFEqual(tags, fewer));
  CHECK_EQUAL(CFHash(tags), CFHash(same));
  CHECK(CMTagCollectionContainsTagsOfCollection(tags, fewer));
  CHECK(!CMTagCollectionContainsTagsOfCollection(fewer, tags));
  CFRelease(same);
  CFRelease(fewer);
  CFRelease(tags);
}

static void sets(void) {
  const CMTag left[] = {kCMTagMediaTypeVideo, kCMTagStereoLeftEye}, right[] = {kCMTagStereoRightEye, kCMTagMediaTypeVideo};
  CMTagCollectionRef a = collection(left, 2), b = collection(right, 2), result = NULL;
  CHECK_EQUAL(CMTagCollectionCreateUnion(a, b, &result), noErr);
  CHECK_EQUAL(CMTagCollectionGetCount(result), 3);
  CFRelease(result);
  CHECK_EQUAL(CMTagCollectionCreateIntersection(a, b, &result), noErr);
  CHECK(CMTagCollectionGetCount(result) == 1 && CMTagCollectionContainsTag(result, kCMTagMediaTypeVideo));
  CFRelease(result);
  CHECK_EQUAL(CMTagCollectionCreateDifference(a, b, &result), noErr);
  CHECK(CMTagCollectionGetCount(result) == 1 && CMTagCollectionContainsTag(result, kCMTagStereoLeftEye));
  CFRelease(result);
  CHECK_EQUAL(CMTagCollectionCreateExclusiveOr(a, b, &result), noErr);
  CHECK(CMTagCollectionGetCount(result) == 2 && !CMTagCollectionContainsTag(result, kCMTagMediaTypeVideo));
  CFRelease(result);
  CHECK_EQUAL(CMTagCollectionCreateUnion(NULL, b, &result), noErr);
  CHECK(CFEqual(result, b));
  CFRelease(result);
  const CMTagCategory categories[] = {kCMTagCategory_StereoView, kCMTagCategory_TrackID};
  CHECK_EQUAL(CMTagCollectionCopyTagsOfCategories(NULL, a, categories, 2, &result), noErr);
  CHECK(CMTagCollectionGetCount(result) == 1 && CMTagCollectionContainsTag(result, kCMTagStereoLeftEye));
  CFRelease(result);
  CFRelease(a);
  CFRelease(b);
}

static void changes(void) {
  CMMutableTagCollectionRef tags = NULL, copy = NULL;
  REQUIRE(CMTagCollectionCreateMutable(NULL, 2, &tags) == noErr);
  CHECK(CMTagCollectionIsEmpty(tags));
  CHECK_EQUAL(CMTagCollectionAddTag(tags, kCMTagStereoLeftEye), noErr);
  CHECK_EQUAL(CMTagCollectionAddTag(tags, kCMTagStereoLeftEye), noErr);
  CHECK_EQUAL(CMTagCollectionGetCount(tags), 1);
  CHECK_EQUAL(CMTagCollectionAddTag(tags, kCMTagInvalid), kCMTagCollectionError_InvalidTag);
  CMTag more[] = {kCMTagStereoRightEye, kCMTagMediaTypeVideo};
  CHECK_EQUAL(CMTagCollectionAddTagsFromArray(tags, more, 2), kCMTagCollectionError_ExhaustedBufferSize);
  CHECK_EQUAL(CMTagCollectionGetCount(tags), 1);
  CHECK_EQUAL(CMTagCollectionAddTagsFromArray(tags, more, 1), noErr);
  CHECK_EQUAL(CMTagCollectionGetCount(tags), 2);
  REQUIRE(CMTagCollectionCreateMutableCopy(tags, NULL, &copy) == noErr);
  CHECK(CFEqual(tags, copy));
  CHECK_EQUAL(CMTagCollectionAddTagsFromArray(copy, more, 2), noErr);
  CHECK_EQUAL(CMTagCollectionGetCount(copy), 3);
  CHECK_EQUAL(CMTagCollectionRemoveTag(copy, kCMTagMediaTypeAudio), kCMTagCollectionError_TagNotFound);
  CHECK_EQUAL(CMTagCollectionRemoveTag(copy, kCMTagMediaTypeVideo), noErr);
  CHECK(CFEqual(tags, copy));
  CHECK_EQUAL(CMTagCollectionRemoveAllTags(copy), noErr);
  CHECK_EQUAL(CMTagCollectionAddTagsFromCollection(copy, tags), noErr);
  CHECK_EQUAL(CMTagCollectionAddTag(copy, kCMTagMediaTypeVideo), noErr);
  CHECK_EQUAL(CMTagCollectionRemoveAllTagsOfCategory(copy, kCMTagCategory_StereoView), noErr);
  CHECK_EQUAL(CMTagCollectionGetCount(copy), 1);
  // A collection that cannot be changed.
  CMTagCollectionRef fixed = NULL;
  REQUIRE(CMTagCollectionCreateCopy(tags, NULL, &fixed) == noErr);
  CMMutableTagCollectionRef wrong = (CMMutableTagCollectionRef)(uintptr_t)fixed;
  CHECK_EQUAL(CMTagCollectionAddTag(wrong, kCMTagMediaTypeVideo), kCMTagCollectionError_ParamErr);
  CHECK_EQUAL(CMTagCollectionRemoveAllTags(wrong), kCMTagCollectionError_ParamErr);
  CHECK_EQUAL(CMTagCollectionGetCount(fixed), 2);
  CFRelease(fixed);
  CFRelease(copy);
  CFRelease(tags);
}

static void storing(void) {
  const CMTag given[] = {kCMTagStereoRightEye, CMTagMakeWithSInt64Value(kCMTagCategory_TrackID, -7),
                         CMTagMakeWithFloat64Value(0x66616B65, -0.25)};
  CMTagCollectionRef tags = collection(given, 3), read = NULL;
  CFDictionaryRef dictionary = CMTagCollectionCopyAsDictionary(tags, NULL);
  REQUIRE(dictionary != NULL);
  CFArrayRef list = CFDictionaryGetValue(dictionary, kCMTagCollectionTagsArrayKey);
  CHECK(list != NULL && CFArrayGetCount(list) == 3);
  CHECK_EQUAL(CMTagCollectionCreateFromDictionary(dictionary, NULL, &read), noErr);
  CHECK(read != NULL && CFEqual(read, tags));
  CFRelease(read);
  CFRelease(dictionary);
  CFDataRef data = CMTagCollectionCopyAsData(tags, NULL);
  REQUIRE(data != NULL);
  CHECK_EQUAL(CMTagCollectionCreateFromData(data, NULL, &read), noErr);
  CHECK(read != NULL && CFEqual(read, tags));
  CFRelease(read);
  // Every shorter piece of it is refused, and a version that is not known.
  CFIndex length = CFDataGetLength(data);
  uint8_t *bytes = malloc((size_t)length);
  memcpy(bytes, CFDataGetBytePtr(data), (size_t)length);
  for (CFIndex part = 0; part < length; part++) {
    CFDataRef piece = CFDataCreate(NULL, bytes, part);
    CHECK_EQUAL(CMTagCollectionCreateFromData(piece, NULL, &read), kCMTagCollectionError_InvalidTagCollectionData);
    CHECK(read == NULL);
    CFRelease(piece);
  }
  bytes[7]++;
  CFDataRef later = CFDataCreate(NULL, bytes, length);
  CHECK_EQUAL(
      CMTagCollectionCreateFromData(later, NULL, &read), kCMTagCollectionError_InvalidTagCollectionDataVersion);
  CFRelease(later);
  free(bytes);
  CFRelease(data);
  CFDictionaryRef empty = CFDictionaryCreate(NULL, NULL, NULL, 0, &kCFTypeDictionaryKeyCallBacks,
                                             &kCFTypeDictionaryValueCallBacks);
  CHECK_EQUAL(
      CMTagCollectionCreateFromDictionary(empty, NULL, &read), kCMTagCollectionError_InvalidTagCollectionDictionary);
  CFRelease(empty);
  CFRelease(tags);
}

// MARK: - Groups

static CFArrayRef array(const void *first, const void *second) {
  const void *values[] = {first, second};
  return CFArrayCreate(NULL, values, second == NULL ? 1 : 2, &kCFTypeArrayCallBacks);
}

static CMTaggedBufferGroupRef group(CMTagCollectionRef leftTags, CVPixelBufferRef left, CMTagCollectionRef rightTags,
                                    const void *right) {
  CFArrayRef collections = array(leftTags, rightTags), buffers = array(left, right);
  CMTaggedBufferGroupRef result = NULL;
  CHECK_EQUAL(CMTaggedBufferGroupCreate(NULL, collections, buffers, &result), noErr);
  REQUIRE(result != NULL);
  CFRelease(collections);
  CFRelease(buffers);
  return result;
}

static CMSampleBufferRef sampleWith(CVPixelBufferRef picture) {
  CMVideoFormatDescriptionRef format = NULL;
  CMSampleTimingInfo timing = {kCMTimeInvalid, CMTimeMake(1, 30), kCMTimeInvalid};
  CMSampleBufferRef sample = NULL;
  REQUIRE(CMVideoFormatDescriptionCreateForImageBuffer(NULL, picture, &format) == noErr);
  REQUIRE(CMSampleBufferCreateReadyWithImageBuffer(NULL, picture, format, &timing, &sample) == noErr);
  CFRelease(format);
  return sample;
}

static void groups(void) {
  const CMTag leftList[] = {kCMTagMediaTypeVideo, kCMTagStereoLeftEye},
              rightList[] = {kCMTagMediaTypeVideo, kCMTagStereoRightEye};
  CMTagCollectionRef leftTags = collection(leftList, 2), rightTags = collection(rightList, 2);
  CMTagCollectionRef shared = collection(leftList, 1);
  CVPixelBufferRef left = makePicture(0), right = makePicture(1);
  CMSampleBufferRef rightSample = sampleWith(right);
  CMTaggedBufferGroupRef pictures = group(leftTags, left, rightTags, right);
  CMTaggedBufferGroupRef mixed = group(leftTags, left, rightTags, rightSample);

  CHECK_EQUAL(CFGetTypeID(pictures), CMTaggedBufferGroupGetTypeID());
  CHECK_EQUAL(CMTaggedBufferGroupGetCount(pictures), 2);
  CHECK(CFEqual(CMTaggedBufferGroupGetTagCollectionAtIndex(pictures, 1), rightTags));
  CHECK(CMTaggedBufferGroupGetTagCollectionAtIndex(pictures, 2) == NULL);
  CHECK(CMTaggedBufferGroupGetTagCollectionAtIndex(pictures, -1) == NULL);
  CHECK(CMTaggedBufferGroupGetCVPixelBufferAtIndex(pictures, 0) == left);
  CHECK(CMTaggedBufferGroupGetCMSampleBufferAtIndex(pictures, 0) == NULL);
  CHECK(CMTaggedBufferGroupGetCMSampleBufferAtIndex(mixed, 1) == rightSample);
  CFIndex index = -1;
  CHECK(CMTaggedBufferGroupGetCVPixelBufferForTag(pictures, kCMTagStereoRightEye, &index) == right);
  CHECK_EQUAL(index, 1);
  // Both have it.
  CHECK(CMTaggedBufferGroupGetCVPixelBufferForTag(pictures, kCMTagMediaTypeVideo, &index) == NULL);
  CHECK(CMTaggedBufferGroupGetCVPixelBufferForTagCollection(pictures, leftTags, NULL) == left);
  CHECK(CMTaggedBufferGroupGetCVPixelBufferForTagCollection(pictures, shared, NULL) == NULL);
  CHECK_EQUAL(CMTaggedBufferGroupGetNumberOfMatchesForTagCollection(pictures, shared), 2);
  CHECK(CMTaggedBufferGroupGetCVPixelBufferForTag(mixed, kCMTagStereoRightEye, NULL) == NULL);
  CHECK(CMTaggedBufferGroupGetCMSampleBufferForTag(mixed, kCMTagStereoRightEye, &index) == rightSample);
  CHECK(CMTaggedBufferGroupGetCMSampleBufferForTagCollection(mixed, rightTags, NULL) == rightSample);

  CFArrayRef both = array(pictures, mixed);
  CMTaggedBufferGroupRef combined = NULL;
  CHECK_EQUAL(CMTaggedBufferGroupCreateCombined(NULL, both, &combined), noErr);
  CHECK_EQUAL(CMTaggedBufferGroupGetCount(combined), 4);
  CFRelease(combined);
  CFRelease(both);

  // As samples.
  CMFormatDescriptionRef format = NULL;
  CMSampleBufferRef sample = NULL;
  CHECK_EQUAL(CMTaggedBufferGroupFormatDescriptionCreateForTaggedBufferGroup(NULL, pictures, &format), noErr);
  REQUIRE(format != NULL);
  CHECK_EQUAL(CMFormatDescriptionGetMediaType(format), kCMMediaType_TaggedBufferGroup);
  CHECK_EQUAL(CMFormatDescriptionGetMediaSubType(format), kCMTaggedBufferGroupFormatType_TaggedBufferGroup);
  CHECK(CMTaggedBufferGroupFormatDescriptionMatchesTaggedBufferGroup(format, mixed));
  CMFormatDescriptionRef video = CMSampleBufferGetFormatDescription(rightSample);
  CHECK(!CMTaggedBufferGroupFormatDescriptionMatchesTaggedBufferGroup(video, mixed));
  CHECK_EQUAL(CMSampleBufferCreateForTaggedBufferGroup(NULL, pictures, CMTimeMake(2, 30), CMTimeMake(1, 30), video,
                                                       &sample),
              kCMSampleBufferError_InvalidMediaFormat);
  CHECK(sample == NULL);
  CHECK_EQUAL(CMSampleBufferCreateForTaggedBufferGroup(NULL, pictures, CMTimeMake(2, 30), CMTimeMake(1, 30), format,
                                                       &sample),
              noErr);
  REQUIRE(sample != NULL);
  CHECK(CMSampleBufferGetTaggedBufferGroup(sample) == pictures);
  CHECK(CMSampleBufferGetTaggedBufferGroup(rightSample) == NULL);
  CHECK_EQUAL(CMTimeCompare(CMSampleBufferGetPresentationTimeStamp(sample), CMTimeMake(2, 30)), 0);
  // A copy has a group of the same buffers.
  CMSampleBufferRef copy = NULL;
  CHECK_EQUAL(CMSampleBufferCreateCopy(NULL, sample, &copy), noErr);
  CMTaggedBufferGroupRef copied = CMSampleBufferGetTaggedBufferGroup(copy);
  CHECK(copied != NULL && CMSampleBufferGetTaggedBufferGroup(copy) == copied);
  CHECK(CMTaggedBufferGroupGetCVPixelBufferForTag(copied, kCMTagStereoLeftEye, NULL) == left);
  CFRelease(copy);
  CFRelease(sample);
  CFRelease(format);

  CFRelease(pictures);
  CFRelease(mixed);
  CFRelease(rightSample);
  CVPixelBufferRelease(left);
  CVPixelBufferRelease(right);
  CFRelease(leftTags);
  CFRelease(rightTags);
  CFRelease(shared);
}

// MARK: - A stream of two views

/// An array of tags for each view of a description that says that it has both eyes in two layers.
static void views(void) {
  CMFormatDescriptionRef plain = NULL, stereo = NULL;
  CFArrayRef collections = NULL;
  REQUIRE(CMVideoFormatDescriptionCreate(NULL, kCMVideoCodecType_HEVC, 64, 64, NULL, &plain) == noErr);
  CHECK_EQUAL(CMVideoFormatDescriptionCopyTagCollectionArray(plain, &collections),
              kCMFormatDescriptionError_ValueNotAvailable);
  CHECK(collections == NULL);
  const uint8_t record[] = {1, 0, 0, 0, 0, 0};
  CFDataRef layers = CFDataCreate(NULL, record, sizeof(record));
  const void *atomKeys[] = {CFSTR("lhvC")}, *atomValues[] = {layers};
  CFDictionaryRef atoms = CFDictionaryCreate(NULL, atomKeys, atomValues, 1, &kCFTypeDictionaryKeyCallBacks,
                                             &kCFTypeDictionaryValueCallBacks);
  const void *keys[] = {kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms,
                        kCMFormatDescriptionExtension_HasLeftStereoEyeView,
                        kCMFormatDescriptionExtension_HasRightStereoEyeView,
                        kCMFormatDescriptionExtension_HeroEye};
  const void *values[] = {atoms, kCFBooleanTrue, kCFBooleanTrue, kCMFormatDescriptionHeroEye_Right};
  CFDictionaryRef extensions = CFDictionaryCreate(NULL, keys, values, 4, &kCFTypeDictionaryKeyCallBacks,
                                                  &kCFTypeDictionaryValueCallBacks);
  REQUIRE(CMVideoFormatDescriptionCreate(NULL, kCMVideoCodecType_HEVC, 64, 64, extensions, &stereo) == noErr);
  CHECK_EQUAL(CMVideoFormatDescriptionCopyTagCollectionArray(stereo, &collections), noErr);
  REQUIRE(collections != NULL && CFArrayGetCount(collections) == 2);
  CMTagCollectionRef first = CFArrayGetValueAtIndex(collections, 0), second = CFArrayGetValueAtIndex(collections, 1);
  CHECK(CMTagCollectionContainsTag(first, kCMTagStereoRightEye));
  CHECK(CMTagCollectionContainsTag(first, CMTagMakeWithSInt64Value(kCMTagCategory_VideoLayerID, 0)));
  CHECK(CMTagCollectionContainsTag(second, kCMTagStereoLeftEye));
  CFRelease(collections);
  CFRelease(extensions);
  CFRelease(atoms);
  CFRelease(layers);
  CFRelease(plain);
  CFRelease(stereo);
}

// MARK: - What programs get wrong

static void wrongArguments(void) {
  CMTagCollectionRef none = NULL, out = NULL;
  CMTaggedBufferGroupRef noGroup = NULL;
  CMTag tag = kCMTagStereoLeftEye;
  CHECK_EQUAL(CMTagCollectionCreate(NULL, NULL, 3, &out), kCMTagCollectionError_ParamErr);
  CHECK_EQUAL(CMTagCollectionCreate(NULL, &tag, -1, &out), kCMTagCollectionError_ParamErr);
  CHECK_EQUAL(CMTagCollectionCreate(NULL, &kCMTagInvalid, 1, &out), kCMTagCollectionError_InvalidTag);
  CHECK(out == NULL);
  CHECK_EQUAL(CMTagCollectionCreate(NULL, &tag, 1, NULL), kCMTagCollectionError_ParamErr);
  CHECK_EQUAL(CMTagCollectionCreateMutable(NULL, -1, NULL), kCMTagCollectionError_ParamErr);
  CHECK_EQUAL(CMTagCollectionGetCount(none), 0);
  CHECK(!CMTagCollectionContainsTag(none, tag));
  CHECK_EQUAL(CMTagCollectionGetTags(none, &tag, 1, NULL), kCMTagCollectionError_ParamErr);
  CHECK(CMTagCollectionCopyDescription(NULL, none) == NULL);
  CHECK(CMTagCollectionCopyAsData(none, NULL) == NULL);
  CHECK_EQUAL(CMTagCollectionCreateFromData(NULL, NULL, &out), kCMTagCollectionError_ParamErr);
  CHECK(!CMTagIsValid(CMTagCollectionApplyUntil(none, NULL, NULL)));
  // A string is not a collection.
  CMTagCollectionRef text = (CMTagCollectionRef)(const void *)kCMTagValueKey;
  CHECK_EQUAL(CMTagCollectionGetCount(text), 0);
  CHECK_EQUAL(CMTagCollectionCreateUnion(text, NULL, &out), kCMTagCollectionError_ParamErr);

  CHECK_EQUAL(CMTaggedBufferGroupGetCount(noGroup), 0);
  CHECK(CMTaggedBufferGroupGetCVPixelBufferAtIndex(noGroup, 0) == NULL);
  CHECK_EQUAL(CMTaggedBufferGroupCreate(NULL, NULL, NULL, &noGroup), kCMTaggedBufferGroupError_ParamErr);
  CMTagCollectionRef tags = collection(&tag, 1);
  CFArrayRef one = array(tags, NULL), two = array(tags, tags);
  CHECK_EQUAL(CMTaggedBufferGroupCreate(NULL, one, two, &noGroup), kCMTaggedBufferGroupError_ParamErr);
  // A collection is neither a buffer nor a group.
  CHECK_EQUAL(CMTaggedBufferGroupCreate(NULL, one, one, &noGroup), kCMTaggedBufferGroupError_ParamErr);
  CHECK_EQUAL(CMTaggedBufferGroupCreateCombined(NULL, one, &noGroup), kCMTaggedBufferGroupError_ParamErr);
  CHECK(noGroup == NULL);
  // A group without buffers is not a sample.
  CFArrayRef empty = CFArrayCreate(NULL, NULL, 0, &kCFTypeArrayCallBacks);
  CHECK_EQUAL(CMTaggedBufferGroupCreate(NULL, empty, empty, &noGroup), noErr);
  CMFormatDescriptionRef format = NULL;
  CHECK_EQUAL(CMTaggedBufferGroupFormatDescriptionCreateForTaggedBufferGroup(NULL, noGroup, &format),
              kCMTaggedBufferGroupError_ParamErr);
  CFRelease(noGroup);
  CFRelease(empty);
  CFRelease(one);
  CFRelease(two);
  CFRelease(tags);
}

int main(int count, char **arguments) {
  int repetitions = count > 1 ? atoi(arguments[1]) : 1;
  for (int i = 0; i < repetitions; i++) {
    tags();
    questions();
    sets();
    changes();
    storing();
    groups();
    views();
    wrongArguments();
  }
  if (failures > 0) fprintf(stderr, "%d failures\n", failures);
  return failures > 0;
}
