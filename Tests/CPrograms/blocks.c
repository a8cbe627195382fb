// SPDX-License-Identifier: Apache-2.0
// The functions that take blocks, and strings that are laid out by the compiler. For clang
// -fblocks.

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
  CHECK_EQUAL(VTDecompressionSessionDecodeFrameWithMultiImageCapableOutputHandler(
                  decoder, (CMSampleBufferRef)CFArrayGetValueAtIndex(samples, 0), 0, NULL,
                  ^(OSStatus status, VTDecodeInfoFlags flags, CVImageBufferRef image, CMTaggedBufferGroupRef group,
                    CMTime time, CMTime duration) {
                    (void)flags;
                    (void)duration;
                    CHECK_EQUAL(status, noErr);
                    CHECK(image != NULL && group == NULL);
                    CHECK_EQUAL(CMTimeCompare(time, kCMTimeZero), 0);
                    images++;
                  }),
              noErr);
  CHECK_EQUAL(VTDecompressionSessionWaitForAsynchronousFrames(decoder), noErr);
  CHECK_EQUAL(images, 7);
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

// MARK: - Queues

/// A sample without data that lasts `duration` thirtieths of a second.
static CMSampleBufferRef makeSample(int time, int duration) {
  CMSampleTimingInfo timing = {CMTimeMake(duration, 30), CMTimeMake(time, 30), kCMTimeInvalid};
  CMSampleBufferRef sample = NULL;
  REQUIRE(CMSampleBufferCreateReady(NULL, NULL, NULL, 1, 1, &timing, 0, NULL, &sample) == noErr);
  return sample;
}

static void queues(void) {
  __block int ready = 1, refused = 0, triggers = 0, counts = 0;
  CMBufferHandlers handlers = {
      .version = 1,
      .getPresentationTimeStamp = ^(CMBufferRef buffer) {
        return CMSampleBufferGetPresentationTimeStamp((CMSampleBufferRef)buffer);
      },
      .getDuration = ^(CMBufferRef buffer) { return CMSampleBufferGetDuration((CMSampleBufferRef)buffer); },
      .isDataReady = ^(CMBufferRef buffer) { return (Boolean)(buffer != NULL && ready); },
      .compare = ^(CMBufferRef first, CMBufferRef second) {
        // The latest first.
        return (CFComparisonResult)-CMTimeCompare(CMSampleBufferGetPresentationTimeStamp((CMSampleBufferRef)first),
                                                  CMSampleBufferGetPresentationTimeStamp((CMSampleBufferRef)second));
      },
      .getSize = ^(CMBufferRef buffer) { return (size_t)(buffer == NULL ? 0 : 7); }};
  CMBufferQueueRef queue = NULL;
  CHECK_EQUAL(CMBufferQueueCreateWithHandlers(NULL, 0, &handlers, &queue), noErr);
  REQUIRE(queue != NULL);
  CHECK_EQUAL(CMBufferQueueSetValidationHandler(queue,
                                                ^(CMBufferQueueRef same, CMBufferRef buffer) {
                                                  CHECK(same == queue);
                                                  CMTime time = CMSampleBufferGetPresentationTimeStamp(
                                                      (CMSampleBufferRef)buffer);
                                                  if (time.value < 100) return (OSStatus)noErr;
                                                  refused++;
                                                  return (OSStatus)-4711;
                                                }),
              noErr);
  CMBufferQueueTriggerToken token = NULL;
  __block CMBufferQueueTriggerToken given = NULL;
  CHECK_EQUAL(CMBufferQueueInstallTriggerHandler(queue,
                                                 kCMBufferQueueTrigger_WhenDurationBecomesGreaterThanOrEqualTo,
                                                 CMTimeMake(5, 30), &token,
                                                 ^(CMBufferQueueTriggerToken own) {
                                                   given = own;
                                                   triggers++;
                                                 }),
              noErr);
  CHECK_EQUAL(CMBufferQueueInstallTriggerHandlerWithIntegerThreshold(
                  queue, kCMBufferQueueTrigger_WhenBufferCountBecomesGreaterThan, 1, NULL,
                  ^(CMBufferQueueTriggerToken own) {
                    CHECK(own != NULL);
                    counts++;
                  }),
              noErr);
  CMSampleBufferRef first = makeSample(1, 2), second = makeSample(2, 3), late = makeSample(100, 1);
  CHECK_EQUAL(CMBufferQueueEnqueue(queue, first), noErr);
  CHECK(triggers == 0 && counts == 0);
  CHECK_EQUAL(CMBufferQueueEnqueue(queue, late), -4711);
  CHECK_EQUAL(CMBufferQueueEnqueue(queue, second), noErr);
  CHECK_EQUAL(refused, 1);
  CHECK_EQUAL(triggers, 1);
  CHECK(given == token);
  CHECK_EQUAL(counts, 1);
  CHECK(CMBufferQueueTestTrigger(queue, token));
  CHECK_EQUAL(CMBufferQueueGetTotalSize(queue), 14);
  CHECK_EQUAL(CMTimeCompare(CMBufferQueueGetDuration(queue), CMTimeMake(5, 30)), 0);
  CHECK(CMBufferQueueGetHead(queue) == second);
  ready = 0;
  CHECK(CMBufferQueueDequeueIfDataReady(queue) == NULL);
  ready = 1;
  CMBufferRef head = CMBufferQueueDequeueIfDataReady(queue);
  CHECK(head == second);
  CFRelease(head);
  CFRelease(queue);
  // The block for the duration is needed.
  handlers.getDuration = (CMBufferGetTimeHandler _Nonnull)(uintptr_t)0;
  CHECK_EQUAL(CMBufferQueueCreateWithHandlers(NULL, 0, &handlers, &queue),
              kCMBufferQueueError_InvalidCMBufferCallbacksStruct);
  CHECK(queue == NULL);
  CFRelease(first);
  CFRelease(second);
  CFRelease(late);
}

// MARK: - Samples whose data comes later

static void samples(void) {
  __block int calls = 0;
  OSStatus (^makeReady)(CMSampleBufferRef) = ^(CMSampleBufferRef sample) {
    calls++;
    return CMSampleBufferSetDataReady(sample);
  };
  CVPixelBufferRef picture = makePicture(0);
  CMVideoFormatDescriptionRef video = NULL;
  REQUIRE(CMVideoFormatDescriptionCreateForImageBuffer(NULL, picture, &video) == noErr);
  CMSampleTimingInfo timing = {kCMTimeInvalid, CMTimeMake(1, 30), kCMTimeInvalid};
  CMSampleBufferRef sample = NULL;
  CHECK_EQUAL(CMSampleBufferCreateForImageBufferWithMakeDataReadyHandler(NULL, picture, false, video, &timing, &sample,
                                                                         makeReady),
              noErr);
  REQUIRE(sample != NULL);
  CHECK(CMSampleBufferGetImageBuffer(sample) == picture);
  CHECK(!CMSampleBufferDataIsReady(sample) && calls == 0);
  CHECK_EQUAL(CMSampleBufferMakeDataReady(sample), noErr);
  CHECK(CMSampleBufferDataIsReady(sample) && calls == 1);
  CFRelease(sample);
  CFRelease(video);
  CVPixelBufferRelease(picture);

  AudioStreamBasicDescription sound = {48000, kAudioFormatLinearPCM,
                                       kAudioFormatFlagIsSignedInteger | kAudioFormatFlagIsPacked, 4, 1, 4, 2, 16, 0};
  CMAudioFormatDescriptionRef audio = NULL;
  REQUIRE(CMAudioFormatDescriptionCreate(NULL, &sound, 0, NULL, 0, NULL, NULL, &audio) == noErr);
  CHECK_EQUAL(CMAudioSampleBufferCreateWithPacketDescriptionsAndMakeDataReadyHandler(
                  NULL, NULL, false, audio, 480, CMTimeMake(0, 48000), NULL, &sample, makeReady),
              noErr);
  REQUIRE(sample != NULL);
  CHECK_EQUAL(CMSampleBufferGetNumSamples(sample), 480);
  CHECK_EQUAL(CMTimeCompare(CMSampleBufferGetDuration(sample), CMTimeMake(480, 48000)), 0);
  CHECK_EQUAL(CMSampleBufferMakeDataReady(sample), noErr);
  CHECK_EQUAL(calls, 2);
  CFRelease(sample);
  CFRelease(audio);
}

// MARK: - Timers of libdispatch

static void timers(void) {
  CMTimebaseRef timebase = NULL;
  REQUIRE(CMTimebaseCreateWithSourceClock(NULL, CMClockGetHostTimeClock(), &timebase) == noErr);
  dispatch_queue_t queue = dispatch_queue_create("timers", NULL);
  dispatch_source_t timer = dispatch_source_create(DISPATCH_SOURCE_TYPE_TIMER, 0, 0, queue);
  dispatch_semaphore_t fired = dispatch_semaphore_create(0), cancelled = dispatch_semaphore_create(0);
  __block CMTime time = kCMTimeInvalid;
  dispatch_source_set_event_handler(timer, ^{
    time = CMTimebaseGetTime(timebase);
    dispatch_semaphore_signal(fired);
  });
  dispatch_source_set_cancel_handler(timer, ^{ dispatch_semaphore_signal(cancelled); });
  CHECK_EQUAL(CMTimebaseAddTimerDispatchSource(timebase, timer), noErr);
  dispatch_resume(timer);
  CHECK_EQUAL(CMTimebaseSetTimerDispatchSourceNextFireTime(timebase, timer, CMTimeMake(1, 10), 0), noErr);
  CHECK_EQUAL(CMTimebaseSetRate(timebase, 10), noErr);
  dispatch_semaphore_wait(fired, DISPATCH_TIME_FOREVER);
  CHECK(CMTimeCompare(time, CMTimeMake(1, 10)) >= 0);
  // Once only: the next is that of the next time, after a jump.
  CHECK_EQUAL(CMTimebaseSetTimerDispatchSourceNextFireTime(timebase, timer, CMTimeMake(9000, 1), 0), noErr);
  CHECK_EQUAL(CMTimebaseSetTime(timebase, CMTimeMake(10000, 1)), noErr);
  dispatch_semaphore_wait(fired, DISPATCH_TIME_FOREVER);
  CHECK(CMTimeCompare(time, CMTimeMake(10000, 1)) >= 0);
  CHECK_EQUAL(CMTimebaseSetTimerDispatchSourceToFireImmediately(timebase, timer), noErr);
  dispatch_semaphore_wait(fired, DISPATCH_TIME_FOREVER);
  CHECK_EQUAL(CMTimebaseSetTimerDispatchSourceNextFireTime(timebase, timer, kCMTimeZero, 1),
              kCMTimebaseError_InvalidParameter);
  CHECK_EQUAL(CMTimebaseRemoveTimerDispatchSource(timebase, timer), noErr);
  CHECK_EQUAL(CMTimebaseRemoveTimerDispatchSource(timebase, timer), kCMTimebaseError_InvalidParameter);
  dispatch_source_cancel(timer);
  dispatch_semaphore_wait(cancelled, DISPATCH_TIME_FOREVER);
  CHECK_EQUAL(CMTimebaseAddTimerDispatchSource(timebase, timer), kCMTimebaseError_InvalidParameter);
  dispatch_release(timer);
  dispatch_release(queue);
  dispatch_release(fired);
  dispatch_release(cancelled);
  CFRelease(timebase);
}

int main(void) {
  encodeAndDecode();
  queues();
  samples();
  timers();
  if (failures > 0) fprintf(stderr, "%d failures\n", failures);
  return failures > 0;
}
