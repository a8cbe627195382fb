// SPDX-License-Identifier: Apache-2.0
// The session programs that Apple's engineers taught in C: elementary streams to samples and back,
// decompression with a callback, compression in low latency, constrained profiles, temporal layers,
// long-term references, several passes with a storage and a silo, and timebases.
//
//   sessions [REPETITIONS]

#include "support.h"

static const uint8_t kStartCode[4] = {0, 0, 0, 1};

/// Encodes pictures in a session that the caller has set up, and completes it.
static void encode(VTCompressionSessionRef session, int first, int count) {
  for (int number = first; number < first + count; number++) {
    CVPixelBufferRef picture = makePicture(number);
    CHECK_EQUAL(VTCompressionSessionEncodeFrame(session, picture, CMTimeMake(number, 30),
                                                CMTimeMake(1, 30), NULL, NULL, NULL),
                noErr);
    CVPixelBufferRelease(picture);
  }
  CHECK_EQUAL(VTCompressionSessionCompleteFrames(session, kCMTimeInvalid), noErr);
}

static VTCompressionSessionRef makeSession(CFDictionaryRef specification, Output *output) {
  VTCompressionSessionRef session = NULL;
  REQUIRE(VTCompressionSessionCreate(NULL, kWidth, kHeight, kCMVideoCodecType_H264, specification,
                                     NULL, NULL, collect, output, &session)
          == noErr);
  return session;
}

static void endSession(VTCompressionSessionRef session) {
  VTCompressionSessionInvalidate(session);
  CFRelease(session);
}

// MARK: - Elementary streams

/// The samples as an elementary stream with start codes: parameter sets before each key frame.
static CFMutableDataRef makeStream(CFArrayRef samples) {
  CFMutableDataRef stream = CFDataCreateMutable(NULL, 0);
  for (CFIndex i = 0; i < CFArrayGetCount(samples); i++) {
    CMSampleBufferRef sample = (CMSampleBufferRef)CFArrayGetValueAtIndex(samples, i);
    if (isKeyFrame(sample)) {
      CMFormatDescriptionRef format = CMSampleBufferGetFormatDescription(sample);
      size_t count = 0;
      CHECK_EQUAL(CMVideoFormatDescriptionGetH264ParameterSetAtIndex(format, 0, NULL, NULL, &count, NULL),
                  noErr);
      CHECK(count >= 2);
      for (size_t index = 0; index < count; index++) {
        const uint8_t *set = NULL;
        size_t size = 0;
        int headerLength = 0;
        CHECK_EQUAL(CMVideoFormatDescriptionGetH264ParameterSetAtIndex(format, index, &set, &size, NULL,
                                                                       &headerLength),
                    noErr);
        CHECK_EQUAL(headerLength, 4);
        CFDataAppendBytes(stream, kStartCode, 4);
        CFDataAppendBytes(stream, set, (CFIndex)size);
      }
    }
    CMBlockBufferRef block = CMSampleBufferGetDataBuffer(sample);
    size_t length = 0, total = 0;
    char *bytes = NULL;
    CHECK_EQUAL(CMBlockBufferGetDataPointer(block, 0, &length, &total, &bytes), noErr);
    CHECK_EQUAL(length, total);
    CHECK_EQUAL(total, CMSampleBufferGetTotalSampleSize(sample));
    for (size_t offset = 0; offset + 4 <= total;) {
      const uint8_t *at = (const uint8_t *)bytes + offset;
      size_t size = (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];
      REQUIRE(size <= total - offset - 4);
      CFDataAppendBytes(stream, kStartCode, 4);
      CFDataAppendBytes(stream, at + 4, (CFIndex)size);
      offset += 4 + size;
    }
  }
  return stream;
}

/// The end of the NAL unit that begins at an offset.
static size_t nextStartCode(const uint8_t *bytes, size_t from, size_t size) {
  for (size_t i = from; i + 4 <= size; i++) {
    if (memcmp(bytes + i, kStartCode, 4) == 0) return i;
  }
  return size;
}

typedef struct {
  int images;
  int errors;
  CMTime last;
} Images;

static void countImage(void *refcon, void *frame, OSStatus status, VTDecodeInfoFlags flags,
                       CVImageBufferRef image, CMTime time, CMTime duration) {
  (void)flags;
  (void)duration;
  Images *images = refcon;
  CHECK(frame == (void *)0x1234);
  if (status != noErr || image == NULL) {
    images->errors++;
    return;
  }
  CHECK_EQUAL(CVPixelBufferGetWidth(image), kWidth);
  CHECK_EQUAL(CVPixelBufferGetHeight(image), kHeight);
  images->images++;
  images->last = time;
}

/// Makes samples of an elementary stream and decodes them.
static void decodeStream(CFDataRef stream, int expected) {
  const uint8_t *bytes = CFDataGetBytePtr(stream);
  size_t size = (size_t)CFDataGetLength(stream);
  const uint8_t *sets[2] = {NULL, NULL};
  size_t sizes[2] = {0, 0};
  CMVideoFormatDescriptionRef format = NULL;
  VTDecompressionSessionRef session = NULL;
  Images images = {0, 0, kCMTimeInvalid};
  int number = 0;
  for (size_t start = nextStartCode(bytes, 0, size); start < size;) {
    size_t end = nextStartCode(bytes, start + 4, size);
    const uint8_t *unit = bytes + start + 4;
    size_t length = end - start - 4;
    start = end;
    int type = unit[0] & 0x1f;
    if (type == 7 || type == 8) {
      sets[type - 7] = unit;
      sizes[type - 7] = length;
      continue;
    }
    if (type != 1 && type != 5) continue;
    if (session == NULL) {
      REQUIRE(CMVideoFormatDescriptionCreateFromH264ParameterSets(NULL, 2, sets, sizes, 4, &format)
              == noErr);
      CMVideoDimensions dimensions = CMVideoFormatDescriptionGetDimensions(format);
      CHECK_EQUAL(dimensions.width, kWidth);
      CHECK_EQUAL(dimensions.height, kHeight);
      int pixelFormat = kCVPixelFormatType_32BGRA;
      CFNumberRef wish = CFNumberCreate(NULL, kCFNumberSInt32Type, &pixelFormat);
      const void *keys[] = {kCVPixelBufferPixelFormatTypeKey}, *values[] = {wish};
      CFDictionaryRef attributes = CFDictionaryCreate(NULL, keys, values, 1, &kCFTypeDictionaryKeyCallBacks,
                                                      &kCFTypeDictionaryValueCallBacks);
      CFRelease(wish);
      VTDecompressionOutputCallbackRecord record = {countImage, &images};
      REQUIRE(VTDecompressionSessionCreate(NULL, format, NULL, attributes, &record, &session) == noErr);
      CFRelease(attributes);
    }
    CMBlockBufferRef block = NULL;
    REQUIRE(CMBlockBufferCreateWithMemoryBlock(NULL, NULL, length + 4, NULL, NULL, 0, length + 4,
                                               kCMBlockBufferAssureMemoryNowFlag, &block)
            == noErr);
    uint8_t header[4] = {(uint8_t)(length >> 24), (uint8_t)(length >> 16), (uint8_t)(length >> 8),
                         (uint8_t)length};
    CHECK_EQUAL(CMBlockBufferReplaceDataBytes(header, block, 0, 4), noErr);
    CHECK_EQUAL(CMBlockBufferReplaceDataBytes(unit, block, 4, length), noErr);
    CMSampleTimingInfo timing = {CMTimeMake(1, 30), CMTimeMake(number++, 30), kCMTimeInvalid};
    size_t sampleSize = length + 4;
    CMSampleBufferRef sample = NULL;
    REQUIRE(CMSampleBufferCreate(NULL, block, true, NULL, NULL, format, 1, 1, &timing, 1, &sampleSize,
                                 &sample)
            == noErr);
    CFRelease(block);
    VTDecodeInfoFlags flags = 0;
    CHECK_EQUAL(VTDecompressionSessionDecodeFrame(session, sample,
                                                  kVTDecodeFrame_EnableAsynchronousDecompression,
                                                  (void *)0x1234, &flags),
                noErr);
    CFRelease(sample);
  }
  REQUIRE(session != NULL);
  CHECK_EQUAL(VTDecompressionSessionFinishDelayedFrames(session), noErr);
  CHECK_EQUAL(VTDecompressionSessionWaitForAsynchronousFrames(session), noErr);
  CHECK_EQUAL(images.images, expected);
  CHECK_EQUAL(images.errors, 0);
  CHECK_EQUAL(CMTimeCompare(images.last, CMTimeMake(expected - 1, 30)), 0);
  CVPixelBufferRef black = NULL;
  CHECK_EQUAL(VTDecompressionSessionCopyBlackPixelBuffer(session, &black), noErr);
  CHECK(black != NULL);
  CVPixelBufferRelease(black);
  VTDecompressionSessionInvalidate(session);
  CFRelease(session);
  CFRelease(format);
}

static void elementaryStream(void) {
  Output output = makeOutput();
  VTCompressionSessionRef session = makeSession(NULL, &output);
  CHECK_EQUAL(VTSessionSetProperty(session, kVTCompressionPropertyKey_AllowFrameReordering, kCFBooleanFalse),
              noErr);
  CHECK_EQUAL(VTSessionSetProperty(session, kVTCompressionPropertyKey_ProfileLevel,
                                   kVTProfileLevel_H264_Main_AutoLevel),
              noErr);
  setNumber(session, kVTCompressionPropertyKey_AverageBitRate, 400000);
  setNumber(session, kVTCompressionPropertyKey_MaxKeyFrameInterval, 6);
  CHECK_EQUAL(VTCompressionSessionPrepareToEncodeFrames(session), noErr);
  encode(session, 0, 12);
  CHECK_EQUAL(CFArrayGetCount(output.samples), 12);
  int keys = 0;
  for (CFIndex i = 0; i < CFArrayGetCount(output.samples); i++) {
    if (isKeyFrame((CMSampleBufferRef)CFArrayGetValueAtIndex(output.samples, i))) keys++;
  }
  CHECK_EQUAL(keys, 2);
  endSession(session);
  CFMutableDataRef stream = makeStream(output.samples);
  decodeStream(stream, 12);
  CFRelease(stream);
  CFRelease(output.samples);
}

// MARK: - Low latency

static void lowLatency(void) {
  const void *keys[] = {kVTVideoEncoderSpecification_EnableLowLatencyRateControl};
  const void *values[] = {kCFBooleanTrue};
  CFDictionaryRef specification = CFDictionaryCreate(NULL, keys, values, 1, &kCFTypeDictionaryKeyCallBacks,
                                                     &kCFTypeDictionaryValueCallBacks);
  Output output = makeOutput();
  VTCompressionSessionRef session = makeSession(specification, &output);
  CFRelease(specification);
  CHECK_EQUAL(VTSessionSetProperty(session, kVTCompressionPropertyKey_RealTime, kCFBooleanTrue), noErr);
  CHECK_EQUAL(VTSessionSetProperty(session, kVTCompressionPropertyKey_ProfileLevel,
                                   kVTProfileLevel_H264_ConstrainedHigh_AutoLevel),
              noErr);
  CFStringRef profile = NULL;
  CHECK_EQUAL(VTSessionCopyProperty(session, kVTCompressionPropertyKey_ProfileLevel, NULL, &profile), noErr);
  CHECK(profile != NULL && CFEqual(profile, kVTProfileLevel_H264_ConstrainedHigh_AutoLevel));
  if (profile != NULL) CFRelease(profile);
  float half = 0.5f;
  CFNumberRef fraction = CFNumberCreate(NULL, kCFNumberFloat32Type, &half);
  CHECK_EQUAL(VTSessionSetProperty(session, kVTCompressionPropertyKey_BaseLayerFrameRateFraction, fraction),
              noErr);
  CFRelease(fraction);
  setNumber(session, kVTCompressionPropertyKey_AverageBitRate, 300000);
  encode(session, 0, 8);
  CHECK_EQUAL(output.error, noErr);
  // Every second frame is one that no other needs.
  int droppable = 0;
  for (CFIndex i = 0; i < CFArrayGetCount(output.samples); i++) {
    CMSampleBufferRef sample = (CMSampleBufferRef)CFArrayGetValueAtIndex(output.samples, i);
    CFArrayRef attachments = CMSampleBufferGetSampleAttachmentsArray(sample, false);
    REQUIRE(attachments != NULL);
    CFBooleanRef needed = CFDictionaryGetValue(CFArrayGetValueAtIndex(attachments, 0),
                                               kCMSampleAttachmentKey_IsDependedOnByOthers);
    if (needed != NULL && !CFBooleanGetValue(needed)) droppable++;
  }
  CHECK_EQUAL(CFArrayGetCount(output.samples) + output.dropped, 8);
  CHECK(droppable >= 3);
  endSession(session);
  CFRelease(output.samples);
}

static void longTermReferences(void) {
  const void *keys[] = {kVTVideoEncoderSpecification_EnableLowLatencyRateControl};
  const void *values[] = {kCFBooleanTrue};
  CFDictionaryRef specification = CFDictionaryCreate(NULL, keys, values, 1, &kCFTypeDictionaryKeyCallBacks,
                                                     &kCFTypeDictionaryValueCallBacks);
  Output output = makeOutput();
  VTCompressionSessionRef session = makeSession(specification, &output);
  CFRelease(specification);
  CHECK_EQUAL(VTSessionSetProperty(session, kVTCompressionPropertyKey_EnableLTR, kCFBooleanTrue), noErr);
  CFMutableArrayRef tokens = CFArrayCreateMutable(NULL, 0, &kCFTypeArrayCallBacks);
  for (int number = 0; number < 30; number++) {
    CFMutableDictionaryRef options = CFDictionaryCreateMutable(NULL, 0, &kCFTypeDictionaryKeyCallBacks,
                                                               &kCFTypeDictionaryValueCallBacks);
    if (CFArrayGetCount(tokens) > 0) {
      CFDictionarySetValue(options, kVTEncodeFrameOptionKey_AcknowledgedLTRTokens, tokens);
    }
    if (number == 25) CFDictionarySetValue(options, kVTEncodeFrameOptionKey_ForceLTRRefresh, kCFBooleanTrue);
    CVPixelBufferRef picture = makePicture(number);
    CHECK_EQUAL(VTCompressionSessionEncodeFrame(session, picture, CMTimeMake(number, 30), kCMTimeInvalid,
                                                options, NULL, NULL),
                noErr);
    CVPixelBufferRelease(picture);
    CFRelease(options);
    CHECK_EQUAL(VTCompressionSessionCompleteFrames(session, CMTimeMake(number, 30)), noErr);
    CFArrayRemoveAllValues(tokens);
    CFIndex count = CFArrayGetCount(output.samples);
    if (count == 0) continue;
    CMSampleBufferRef last = (CMSampleBufferRef)CFArrayGetValueAtIndex(output.samples, count - 1);
    CFArrayRef attachments = CMSampleBufferGetSampleAttachmentsArray(last, false);
    CFNumberRef token = attachments == NULL
                            ? NULL
                            : CFDictionaryGetValue(CFArrayGetValueAtIndex(attachments, 0),
                                                   kVTSampleAttachmentKey_RequireLTRAcknowledgementToken);
    if (token != NULL) CFArrayAppendValue(tokens, token);
  }
  CHECK_EQUAL(output.error, noErr);
  int keys_ = 0;
  for (CFIndex i = 0; i < CFArrayGetCount(output.samples); i++) {
    if (isKeyFrame((CMSampleBufferRef)CFArrayGetValueAtIndex(output.samples, i))) keys_++;
  }
  // A refresh from a long-term reference is not a key frame.
  CHECK_EQUAL(keys_, 1);
  CFRelease(tokens);
  endSession(session);
  CFRelease(output.samples);
}

// MARK: - Several passes

typedef struct {
  VTFrameSiloRef silo;
  OSStatus error;
} Silo;

static void keep(void *refcon, void *frame, OSStatus status, VTEncodeInfoFlags flags,
                 CMSampleBufferRef sample) {
  (void)frame;
  (void)flags;
  Silo *silo = refcon;
  if (status != noErr) silo->error = status;
  if (sample == NULL) return;
  OSStatus added = VTFrameSiloAddSampleBuffer(silo->silo, sample);
  if (added != noErr) silo->error = added;
}

static OSStatus countSample(void *refcon, CMSampleBufferRef sample) {
  CHECK_EQUAL(CMSampleBufferGetNumSamples(sample), 1);
  ++*(int *)refcon;
  return noErr;
}

static void severalPasses(void) {
  enum { kFrames = 10 };
  CMTimeRange range = CMTimeRangeMake(kCMTimeZero, CMTimeMake(kFrames, 30));
  Silo silo = {NULL, noErr};
  REQUIRE(VTFrameSiloCreate(NULL, NULL, range, NULL, &silo.silo) == noErr);
  VTMultiPassStorageRef storage = NULL;
  REQUIRE(VTMultiPassStorageCreate(NULL, NULL, range, NULL, &storage) == noErr);
  VTCompressionSessionRef session = NULL;
  REQUIRE(VTCompressionSessionCreate(NULL, kWidth, kHeight, kCMVideoCodecType_H264, NULL, NULL, NULL, keep,
                                     &silo, &session)
          == noErr);
  setNumber(session, kVTCompressionPropertyKey_AverageBitRate, 200000);
  CHECK_EQUAL(VTSessionSetProperty(session, kVTCompressionPropertyKey_MultiPassStorage, storage), noErr);
  Boolean further = true;
  int passes = 0;
  for (; further && passes < 4; passes++) {
    further = false;
    CHECK_EQUAL(VTCompressionSessionBeginPass(session, 0, NULL), noErr);
    encode(session, 0, kFrames);
    CHECK_EQUAL(VTCompressionSessionEndPass(session, &further, NULL), noErr);
    if (!further) continue;
    CMItemCount count = 0;
    const CMTimeRange *ranges = NULL;
    CHECK_EQUAL(VTCompressionSessionGetTimeRangesForNextPass(session, &count, &ranges), noErr);
    CHECK(count >= 1 && ranges != NULL);
    CHECK_EQUAL(VTFrameSiloSetTimeRangesForNextPass(silo.silo, count, ranges), noErr);
  }
  CHECK(passes >= 2);
  CHECK_EQUAL(silo.error, noErr);
  int samples = 0;
  CHECK_EQUAL(VTFrameSiloCallFunctionForEachSampleBuffer(silo.silo, kCMTimeRangeInvalid, &samples, countSample),
              noErr);
  CHECK_EQUAL(samples, kFrames);
  endSession(session);
  CHECK_EQUAL(VTMultiPassStorageClose(storage), noErr);
  CFRelease(storage);
  CFRelease(silo.silo);
}

// MARK: - Time

static void timebase(void) {
  CMTimebaseRef timebase = NULL;
  REQUIRE(CMTimebaseCreateWithSourceClock(NULL, CMClockGetHostTimeClock(), &timebase) == noErr);
  CHECK_EQUAL(CMTimebaseSetTime(timebase, CMTimeMake(5, 1)), noErr);
  CMTime now = CMTimebaseGetTime(timebase);
  CHECK(CMTIME_IS_NUMERIC(now));
  CHECK(CMTIME_COMPARE_INLINE(now, ==, CMTimeMake(5, 1)));
  CHECK_EQUAL(CMTimebaseSetRate(timebase, 1.0), noErr);
  CHECK(CMTimebaseGetRate(timebase) == 1.0);
  CMTime later = CMTimebaseGetTime(timebase);
  CHECK(CMTIME_COMPARE_INLINE(later, >=, now));
  CMClockRef clock = CMTimebaseCopySourceClock(timebase);
  CHECK(clock == CMClockGetHostTimeClock());
  CFRelease(clock);
  CHECK_EQUAL(CFGetTypeID(timebase), CMTimebaseGetTypeID());
  CFRelease(timebase);

  CMTime sum = CMTimeAdd(CMTimeMake(1, 2), CMTimeMake(1, 3));
  CHECK_EQUAL(sum.value, 5);
  CHECK_EQUAL(sum.timescale, 6);
  CFDictionaryRef dictionary = CMTimeCopyAsDictionary(sum, NULL);
  REQUIRE(dictionary != NULL);
  CHECK_EQUAL(CMTimeCompare(CMTimeMakeFromDictionary(dictionary), sum), 0);
  int64_t value = 0;
  CHECK(CFNumberGetValue(CFDictionaryGetValue(dictionary, kCMTimeValueKey), kCFNumberSInt64Type, &value));
  CHECK_EQUAL(value, 5);
  CFRelease(dictionary);
  CHECK(CMTIMERANGE_IS_VALID(CMTimeRangeMake(kCMTimeZero, sum)));
  CHECK(CMTIMERANGE_IS_INVALID(kCMTimeRangeInvalid));
}

int main(int count, char **arguments) {
  int repetitions = count > 1 ? atoi(arguments[1]) : 1;
  for (int i = 0; i < repetitions; i++) {
    elementaryStream();
    lowLatency();
    longTermReferences();
    severalPasses();
    timebase();
  }
  if (failures > 0) fprintf(stderr, "%d failures\n", failures);
  return failures > 0;
}
