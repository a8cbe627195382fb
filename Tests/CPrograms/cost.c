// SPDX-License-Identifier: Apache-2.0
// Counts the allocations of each frame of a low-latency session once it has settled, and fails
// above the allowed number: that of the same session in Swift, since C gets the objects that Swift
// has, without anything around them. Like the count of allocations in Benchmarks, it waits for the
// callback of each frame before it passes the next one.
//
//   cost ALLOWED

#include <semaphore.h>

#include "allocations.h"
#include "support.h"

static long received;

static sem_t finished;

static void count(void *refcon, void *frame, OSStatus status, VTEncodeInfoFlags flags, CMSampleBufferRef sample) {
  (void)refcon;
  (void)frame;
  (void)flags;
  CHECK_EQUAL(status, noErr);
  if (sample != NULL) received += (long)CMSampleBufferGetTotalSampleSize(sample);
  sem_post(&finished);
}

int main(int argumentCount, char **arguments) {
  double allowed = argumentCount > 1 ? atof(arguments[1]) : 2.01;
  const void *keys[] = {kVTVideoEncoderSpecification_EnableLowLatencyRateControl}, *values[] = {kCFBooleanTrue};
  REQUIRE(sem_init(&finished, 0, 0) == 0);
  CFDictionaryRef specification = CFDictionaryCreate(NULL, keys, values, 1, &kCFTypeDictionaryKeyCallBacks,
                                                     &kCFTypeDictionaryValueCallBacks);
  VTCompressionSessionRef session = NULL;
  REQUIRE(VTCompressionSessionCreate(NULL, kWidth, kHeight, kCMVideoCodecType_H264, specification, NULL, NULL, count,
                                     NULL, &session)
          == noErr);
  CFRelease(specification);
  setNumber(session, kVTCompressionPropertyKey_AverageBitRate, 600000);
  enum { kPictures = 16, kSettled = 60, kCounted = 300 };
  CVPixelBufferRef pictures[kPictures];
  for (int i = 0; i < kPictures; i++) pictures[i] = makePicture(i);
  long before = 0;
  for (int number = 0; number < kSettled + kCounted; number++) {
    if (number == kSettled) before = atomic_load(&allocations);
    CHECK_EQUAL(VTCompressionSessionEncodeFrame(session, pictures[number % kPictures], CMTimeMake(number, 30),
                                                kCMTimeInvalid, NULL, NULL, NULL),
                noErr);
    while (sem_wait(&finished) != 0) {
    }
  }
  double each = (double)(atomic_load(&allocations) - before) / kCounted;
  printf("%.2f allocations a frame, %.2f allowed; %ld bytes\n", each, allowed, received);
  CHECK(each <= allowed);
  CHECK(received > 0);
  VTCompressionSessionInvalidate(session);
  CFRelease(session);
  for (int i = 0; i < kPictures; i++) CVPixelBufferRelease(pictures[i]);
  return failures > 0;
}
