// SPDX-License-Identifier: Apache-2.0
// Creates, uses and releases many sessions one after the other, and fails if the memory of the process grows with their
// number: the second half of the sessions must not need more than the first, which fills caches and the heap.
//
// scripts/test-c-interface also runs it under LeakSanitizer. With `lose`, it gives a picture up without releasing it,
// which shows that leaks are found.
//
//   thousand [SESSIONS [lose]]

#include <unistd.h>

#include "support.h"

/// The bytes of the process that are in memory.
static long residentBytes(void) {
  FILE *file = fopen("/proc/self/statm", "r");
  REQUIRE(file != NULL);
  long total = 0, resident = 0;
  REQUIRE(fscanf(file, "%ld %ld", &total, &resident) == 2);
  fclose(file);
  return resident * sysconf(_SC_PAGESIZE);
}

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
  CVPixelBufferRef pictures[3];
  for (int i = 0; i < 3; i++) pictures[i] = makePicture(i);
  for (int i = 0; i < sessions / 2; i++) useSessions(pictures);
  long half = residentBytes();
  for (int i = sessions / 2; i < sessions; i++) useSessions(pictures);
  long growth = residentBytes() - half;
  printf("%ld kB after half of %d sessions, %ld kB more after all\n", half / 1024, sessions, growth / 1024);
  // A session that lost one of its pictures, or a block of this size of anything else, would exceed it; the heap
  // itself varies by less.
  // LeakSanitizer's own heap keeps what was freed.
#if !defined(OVT_LEAK_SANITIZER)
  if (sessions >= 1000) CHECK(growth < 4 * 1024 * 1024);
#endif
  if (argumentCount > 2 && strcmp(arguments[2], "lose") == 0) pictures[0] = NULL;
  for (int i = 0; i < 3; i++) CVPixelBufferRelease(pictures[i]);
  if (failures > 0) fprintf(stderr, "%d failures\n", failures);
  return failures > 0;
}
