// SPDX-License-Identifier: Apache-2.0
// Creates, uses and releases many sessions one after the other, and fails if what they have
// allocated and not freed grows with their number. The bytes of blocks are counted, because the
// pages of a heap vary from run to run.
//
// scripts/test-c-interface also runs it under LeakSanitizer, which has an allocator of its own.
// With `lose`, it gives pictures up without releasing them, which shows that lost blocks are found.
//
//   thousand [SESSIONS [lose]]

#if !defined(OVT_LEAK_SANITIZER)
#include "allocations.h"
#endif
#include "support.h"

static void decoded(void *refcon, void *frame, OSStatus status, VTDecodeInfoFlags flags, CVImageBufferRef image,
                    CMTime time, CMTime duration) {
  (void)frame;
  (void)flags;
  (void)time;
  (void)duration;
  CHECK_EQUAL(status, noErr);
  if (image != NULL) ++*(int *)refcon;
}

/// Encodes three pictures, and decodes them.
static void useSessions(CVPixelBufferRef *pictures) {
  Output output = makeOutput();
  VTCompressionSessionRef session = NULL;
  REQUIRE(VTCompressionSessionCreate(NULL, kWidth, kHeight, kCMVideoCodecType_H264, NULL, NULL, NULL, collect, &output,
                                     &session)
          == noErr);
  CHECK_EQUAL(VTSessionSetProperty(session, kVTCompressionPropertyKey_RealTime, kCFBooleanTrue), noErr);
  setNumber(session, kVTCompressionPropertyKey_AverageBitRate, 500000);
  for (int i = 0; i < 3; i++) {
    CHECK_EQUAL(VTCompressionSessionEncodeFrame(session, pictures[i], CMTimeMake(i, 30), kCMTimeInvalid, NULL, NULL,
                                                NULL),
                noErr);
  }
  CHECK_EQUAL(VTCompressionSessionCompleteFrames(session, kCMTimeInvalid), noErr);
  VTCompressionSessionInvalidate(session);
  CFRelease(session);
  REQUIRE(CFArrayGetCount(output.samples) == 3);

  int images = 0;
  CMSampleBufferRef first = (CMSampleBufferRef)(uintptr_t)CFArrayGetValueAtIndex(output.samples, 0);
  VTDecompressionOutputCallbackRecord record = {decoded, &images};
  VTDecompressionSessionRef decoder = NULL;
  REQUIRE(VTDecompressionSessionCreate(NULL, CMSampleBufferGetFormatDescription(first), NULL, NULL, &record, &decoder)
          == noErr);
  for (CFIndex i = 0; i < 3; i++) {
    CMSampleBufferRef sample = (CMSampleBufferRef)(uintptr_t)CFArrayGetValueAtIndex(output.samples, i);
    CHECK_EQUAL(VTDecompressionSessionDecodeFrame(decoder, sample, 0, NULL, NULL), noErr);
  }
  CHECK_EQUAL(VTDecompressionSessionWaitForAsynchronousFrames(decoder), noErr);
  CHECK_EQUAL(images, 3);
  VTDecompressionSessionInvalidate(decoder);
  CFRelease(decoder);
  CFRelease(output.samples);
}

int main(int argumentCount, char **arguments) {
  int sessions = argumentCount > 1 ? atoi(arguments[1]) : 1000;
  REQUIRE(sessions >= 2);
  int lose = argumentCount > 2 && strcmp(arguments[2], "lose") == 0;
  CVPixelBufferRef pictures[3];
  for (int i = 0; i < 3; i++) pictures[i] = makePicture(i);
  for (int i = 0; i < sessions / 2; i++) useSessions(pictures);
#if !defined(OVT_LEAK_SANITIZER)
  long half = atomic_load(&liveBytes);
#endif
  for (int i = sessions / 2; i < sessions; i++) {
    useSessions(pictures);
    if (lose) CFRetain(pictures[0] = makePicture(0));
  }
#if !defined(OVT_LEAK_SANITIZER)
  long growth = atomic_load(&liveBytes) - half;
  printf("%ld bytes after half of %d sessions, %ld bytes more after all\n", half, sessions, growth);
  // Each thread of libdispatch keeps up to 1,024 blocks of 64 bytes, and timers of pools of buffers
  // wait for a second.
  CHECK(growth < 128 * 1024 + sessions / 2 * 256L);
#endif
  for (int i = 0; i < 3; i++) CVPixelBufferRelease(pictures[i]);
  if (failures > 0) fprintf(stderr, "%d failures\n", failures);
  return failures > 0;
}
