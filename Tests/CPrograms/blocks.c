// SPDX-License-Identifier: Apache-2.0
// The functions that take blocks, and strings that are laid out by the compiler. For clang -fblocks.

#include "support.h"

// Constants initialise static variables.
static const CFStringRef kLevel = CFSTR("H264_Main_AutoLevel");

static void encodeAndDecode(void) {
  VTCompressionSessionRef session = NULL;
  REQUIRE(VTCompressionSessionCreate(NULL, kWidth, kHeight, kCMVideoCodecType_H264, NULL, NULL, NULL, NULL, NULL,
                                     &session)
          == noErr);
  CHECK(CFEqual(kLevel, kVTProfileLevel_H264_Main_AutoLevel));
  CHECK_EQUAL(VTSessionSetProperty(session, kVTCompressionPropertyKey_ProfileLevel, kLevel), noErr);
  CFMutableArrayRef samples = CFArrayCreateMutable(NULL, 0, &kCFTypeArrayCallBacks);
  __block int calls = 0;
  for (int number = 0; number < 6; number++) {
    CVPixelBufferRef picture = makePicture(number);
    CHECK_EQUAL(VTCompressionSessionEncodeFrameWithOutputHandler(
                    session, picture, CMTimeMake(number, 30), kCMTimeInvalid, NULL, NULL,
                    ^(OSStatus status, VTEncodeInfoFlags flags, CMSampleBufferRef sample) {
                      CHECK_EQUAL(status, noErr);
                      CHECK_EQUAL(flags & kVTEncodeInfo_FrameDropped, 0);
                      CFArrayAppendValue(samples, sample);
                      calls++;
                    }),
                noErr);
    CVPixelBufferRelease(picture);
  }
  CHECK_EQUAL(VTCompressionSessionCompleteFrames(session, kCMTimeInvalid), noErr);
  CHECK_EQUAL(calls, 6);
  VTCompressionSessionInvalidate(session);
  CFRelease(session);

  VTDecompressionSessionRef decoder = NULL;
  CMFormatDescriptionRef format =
      CMSampleBufferGetFormatDescription((CMSampleBufferRef)CFArrayGetValueAtIndex(samples, 0));
  REQUIRE(VTDecompressionSessionCreate(NULL, format, NULL, NULL, NULL, &decoder) == noErr);
  __block int images = 0;
  for (CFIndex i = 0; i < CFArrayGetCount(samples); i++) {
    CHECK_EQUAL(VTDecompressionSessionDecodeFrameWithOutputHandler(
                    decoder, (CMSampleBufferRef)CFArrayGetValueAtIndex(samples, i), 0, NULL,
                    ^(OSStatus status, VTDecodeInfoFlags flags, CVImageBufferRef image, CMTime time, CMTime duration) {
                      (void)flags;
                      (void)duration;
                      CHECK_EQUAL(status, noErr);
                      CHECK(image != NULL && CMTIME_IS_NUMERIC(time));
                      images++;
                    }),
                noErr);
  }
  CHECK_EQUAL(VTDecompressionSessionWaitForAsynchronousFrames(decoder), noErr);
  CHECK_EQUAL(images, 6);
  VTDecompressionSessionInvalidate(decoder);
  CFRelease(decoder);

  CMSampleBufferRef first = (CMSampleBufferRef)CFArrayGetValueAtIndex(samples, 0);
  __block int each = 0;
  CHECK_EQUAL(CMSampleBufferCallBlockForEachSample(first, ^(CMSampleBufferRef sample, CMItemCount index) {
                CHECK(sample != NULL && index == 0);
                each++;
                return (OSStatus)noErr;
              }),
              noErr);
  CHECK_EQUAL(each, 1);
  __block int invalidated = 0;
  CHECK_EQUAL(CMSampleBufferSetInvalidateHandler(first, ^(CMSampleBufferRef sample) {
                CHECK(sample == first);
                invalidated++;
              }),
              noErr);
  CHECK_EQUAL(CMSampleBufferInvalidate(first), noErr);
  CHECK_EQUAL(invalidated, 1);
  CFRelease(samples);
}

int main(void) {
  encodeAndDecode();
  if (failures > 0) fprintf(stderr, "%d failures\n", failures);
  return failures > 0;
}
