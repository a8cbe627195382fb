// SPDX-License-Identifier: Apache-2.0
// The common part of the C test programs: checks that say where they failed, pictures, and small
// objects.

#ifndef OVT_TEST_SUPPORT_H
#define OVT_TEST_SUPPORT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <VideoToolbox/VideoToolbox.h>

static int failures;

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                    \
      failures++;                                                                                  \
    }                                                                                              \
  } while (0)

#define CHECK_EQUAL(value, expected)                                                               \
  do {                                                                                             \
    long long value_ = (long long)(value), expected_ = (long long)(expected);                      \
    if (value_ != expected_) {                                                                     \
      fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #value, value_,         \
              expected_);                                                                          \
      failures++;                                                                                  \
    }                                                                                              \
  } while (0)

/// Ends the program where going on makes no sense.
#define REQUIRE(condition)                                                                         \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                    \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

enum { kWidth = 320, kHeight = 192 };

/// A picture that moves with its number: a gradient, and a square on it. The caller owns it.
static inline CVPixelBufferRef makePicture(int number) {
  CVPixelBufferRef buffer = NULL;
  REQUIRE(CVPixelBufferCreate(kCFAllocatorDefault, kWidth, kHeight,
                              kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, NULL, &buffer)
          == kCVReturnSuccess);
  CHECK_EQUAL(CVPixelBufferLockBaseAddress(buffer, 0), kCVReturnSuccess);
  uint8_t *luma = CVPixelBufferGetBaseAddressOfPlane(buffer, 0);
  uint8_t *chroma = CVPixelBufferGetBaseAddressOfPlane(buffer, 1);
  size_t stride = CVPixelBufferGetBytesPerRowOfPlane(buffer, 0);
  for (int y = 0; y < kHeight; y++) {
    for (int x = 0; x < kWidth; x++) {
      int inside = x >= number * 4 % 256 && x < number * 4 % 256 + 48 && y >= 60 && y < 108;
      luma[y * stride + x] = (uint8_t)(inside ? 200 : 40 + (x + y + number) % 128);
    }
  }
  for (int y = 0; y < kHeight / 2; y++) {
    memset(chroma + y * CVPixelBufferGetBytesPerRowOfPlane(buffer, 1), 128, kWidth);
  }
  CHECK_EQUAL(CVPixelBufferUnlockBaseAddress(buffer, 0), kCVReturnSuccess);
  return buffer;
}

static inline CFNumberRef makeNumber(int value) {
  return CFNumberCreate(kCFAllocatorDefault, kCFNumberIntType, &value);
}

/// Sets a number and checks that it was taken.
static inline void setNumber(VTSessionRef session, CFStringRef key, int value) {
  CFNumberRef number = makeNumber(value);
  CHECK_EQUAL(VTSessionSetProperty(session, key, number), noErr);
  CFRelease(number);
}

/// The samples of a session, in decode order.
typedef struct {
  CFMutableArrayRef samples;
  int dropped;
  OSStatus error;
} Output;

static inline void collect(void *refcon, void *frame, OSStatus status, VTEncodeInfoFlags flags,
                           CMSampleBufferRef sample) {
  (void)frame;
  Output *output = refcon;
  if (status != noErr) output->error = status;
  if (flags & kVTEncodeInfo_FrameDropped) output->dropped++;
  if (sample != NULL) CFArrayAppendValue(output->samples, sample);
}

static inline Output makeOutput(void) {
  Output output = {CFArrayCreateMutable(NULL, 0, &kCFTypeArrayCallBacks), 0, noErr};
  return output;
}

/// Whether a sample is a key frame.
static inline Boolean isKeyFrame(CMSampleBufferRef sample) {
  CFArrayRef attachments = CMSampleBufferGetSampleAttachmentsArray(sample, false);
  if (attachments == NULL || CFArrayGetCount(attachments) == 0) return true;
  CFDictionaryRef first = CFArrayGetValueAtIndex(attachments, 0);
  CFBooleanRef notSync = CFDictionaryGetValue(first, kCMSampleAttachmentKey_NotSync);
  return notSync == NULL || !CFBooleanGetValue(notSync);
}

#endif
