// SPDX-License-Identifier: Apache-2.0
// Errors of C programs: null pointers, objects of the wrong type, calls after the end of a
// session, from other threads and from callbacks. Each gets an error, and nothing is lost.

#include <pthread.h>

#include "support.h"

/// Objects that are not what a function wants.
static CFNumberRef number;
static CFStringRef text;
static const void *asText(void) { return text; }
static const void *asNumber(void) { return number; }

static void nullPointers(void) {
  VTCompressionSessionRef session = NULL;
  CMTime time = CMTimeMake(1, 30);
  CHECK_EQUAL(VTCompressionSessionCreate(NULL, 64, 64, kCMVideoCodecType_H264, NULL, NULL, NULL, NULL, NULL, NULL),
              kVTParameterErr);
  CHECK_EQUAL(VTCompressionSessionCreate(NULL, 0, -1, kCMVideoCodecType_H264, NULL, NULL, NULL, NULL, NULL, &session),
              kVTParameterErr);
  CHECK(session == NULL);
  CHECK_EQUAL(VTCompressionSessionEncodeFrame(NULL, NULL, time, time, NULL, NULL, NULL), kVTInvalidSessionErr);
  CHECK_EQUAL(VTCompressionSessionCompleteFrames(NULL, time), kVTInvalidSessionErr);
  CHECK_EQUAL(VTCompressionSessionPrepareToEncodeFrames(NULL), kVTInvalidSessionErr);
  CHECK(VTCompressionSessionGetPixelBufferPool(NULL) == NULL);
  VTCompressionSessionInvalidate(NULL);
  CHECK_EQUAL(VTSessionSetProperty(NULL, NULL, NULL), kVTInvalidSessionErr);
  CFTypeRef value = (CFTypeRef)1;
  CHECK_EQUAL(VTSessionCopyProperty(NULL, NULL, NULL, &value), kVTInvalidSessionErr);
  CHECK(value == NULL);
  VTDecompressionSessionRef decoder = NULL;
  CHECK_EQUAL(VTDecompressionSessionCreate(NULL, NULL, NULL, NULL, NULL, &decoder), kVTParameterErr);
  CHECK_EQUAL(VTDecompressionSessionDecodeFrame(NULL, NULL, 0, NULL, NULL), kVTInvalidSessionErr);
  VTDecompressionSessionInvalidate(NULL);
  CHECK_EQUAL(CVPixelBufferCreate(NULL, 64, 64, kCVPixelFormatType_32BGRA, NULL, NULL), kCVReturnInvalidArgument);
  CHECK(CVPixelBufferGetBaseAddress(NULL) == NULL);
  CHECK_EQUAL(CVPixelBufferGetWidth(NULL), 0);
  CHECK_EQUAL(CVPixelBufferLockBaseAddress(NULL, 0), kCVReturnInvalidArgument);
  CHECK(CVPixelBufferRetain(NULL) == NULL);
  CVPixelBufferRelease(NULL);
  CVPixelBufferPoolRelease(NULL);
  CHECK_EQUAL(CMBlockBufferGetDataLength(NULL), 0);
  CHECK(CMBlockBufferGetDataPointer(NULL, 0, NULL, NULL, NULL) != noErr);
  CHECK(CMBlockBufferCreateWithMemoryBlock(NULL, NULL, 10, NULL, NULL, 0, 10, 0, NULL) != noErr);
  CHECK(CMSampleBufferGetFormatDescription(NULL) == NULL);
  CHECK(CMTIME_IS_INVALID(CMSampleBufferGetPresentationTimeStamp(NULL)));
  CHECK(CMSampleBufferGetSampleAttachmentsArray(NULL, true) == NULL);
  CMFormatDescriptionRef format = NULL;
  CHECK(CMVideoFormatDescriptionCreateFromH264ParameterSets(NULL, 2, NULL, NULL, 4, &format) != noErr);
  const uint8_t *sets[2] = {NULL, NULL};
  size_t sizes[2] = {10, 10};
  CHECK(CMVideoFormatDescriptionCreateFromH264ParameterSets(NULL, 2, sets, sizes, 4, &format) != noErr);
  CHECK(CMVideoFormatDescriptionCreateFromH264ParameterSets(NULL, (size_t)-1, sets, sizes, 4, &format) != noErr);
  CHECK(format == NULL);
  CHECK(CMTIME_IS_INVALID(CMTimebaseGetTime(NULL)));
  CHECK(CMBufferQueueDequeue(NULL) == NULL);
  CHECK_EQUAL(CFGetTypeID(NULL), 0);
  CFRelease(NULL);
}

static void wrongTypes(void) {
  // A string is not a session, a number is neither a string nor a dictionary.
  CHECK_EQUAL(VTCompressionSessionCompleteFrames((VTCompressionSessionRef)(uintptr_t)asText(), kCMTimeInvalid),
              kVTInvalidSessionErr);
  CHECK(VTSessionSetProperty(asText(), kVTCompressionPropertyKey_RealTime, kCFBooleanTrue) != noErr);
  VTCompressionSessionRef session = NULL;
  CHECK_EQUAL(VTCompressionSessionCreate(NULL, 64, 64, kCMVideoCodecType_H264, asNumber(), NULL, NULL, NULL, NULL,
                                         &session),
              kVTParameterErr);
  CHECK(session == NULL);
  Output output = makeOutput();
  REQUIRE(VTCompressionSessionCreate(NULL, kWidth, kHeight, kCMVideoCodecType_H264, NULL, NULL, NULL, collect,
                                     &output, &session)
          == noErr);
  CHECK_EQUAL(VTSessionSetProperty(session, asNumber(), kCFBooleanTrue), kVTParameterErr);
  CHECK_EQUAL(VTSessionSetProperty(session, kVTCompressionPropertyKey_AverageBitRate, text), kVTParameterErr);
  CHECK_EQUAL(VTSessionSetProperty(session, kVTCompressionPropertyKey_ProfileLevel, number), kVTParameterErr);
  CHECK_EQUAL(VTSessionSetProperty(session, text, number), kVTPropertyNotSupportedErr);
  CHECK_EQUAL(VTSessionSetProperties(session, asNumber()), kVTParameterErr);
  CHECK_EQUAL(VTCompressionSessionEncodeFrame(session, (CVImageBufferRef)(uintptr_t)asText(), kCMTimeZero,
                                              kCMTimeInvalid, NULL, NULL, NULL),
              kVTParameterErr);
  CVPixelBufferRef picture = makePicture(0);
  CHECK_EQUAL(VTCompressionSessionEncodeFrame(session, picture, kCMTimeZero, kCMTimeInvalid, asNumber(), NULL, NULL),
              kVTParameterErr);
  // A dictionary that contains itself.
  CFMutableDictionaryRef round =
      CFDictionaryCreateMutable(NULL, 0, &kCFTypeDictionaryKeyCallBacks, &kCFTypeDictionaryValueCallBacks);
  CFDictionarySetValue(round, kVTEncodeFrameOptionKey_ForceKeyFrame, round);
  CHECK_EQUAL(VTCompressionSessionEncodeFrame(session, picture, kCMTimeZero, kCMTimeInvalid, round, NULL, NULL),
              kVTParameterErr);
  CFDictionaryRemoveAllValues(round);
  CFRelease(round);
  // After all of that the session works.
  CHECK_EQUAL(VTCompressionSessionEncodeFrame(session, picture, kCMTimeZero, kCMTimeInvalid, NULL, NULL, NULL), noErr);
  CHECK_EQUAL(VTCompressionSessionCompleteFrames(session, kCMTimeInvalid), noErr);
  CHECK_EQUAL(CFArrayGetCount(output.samples), 1);
  VTCompressionSessionInvalidate(session);
  CHECK_EQUAL(VTCompressionSessionEncodeFrame(session, picture, CMTimeMake(9, 1), kCMTimeInvalid, NULL, NULL, NULL),
              kVTInvalidSessionErr);
  VTCompressionSessionInvalidate(session);
  CFRelease(session);
  CFRelease(output.samples);
  CVPixelBufferRelease(picture);
  CHECK(CMGetAttachment(asText(), text, NULL) == NULL);
  CHECK_EQUAL(CVPixelBufferGetWidth((CVPixelBufferRef)(uintptr_t)asText()), 0);
}

// MARK: - Objects

static CFStringRef describe(CFTypeRef object) {
  CFStringRef description = CFCopyDescription(object);
  REQUIRE(description != NULL);
  CHECK(CFStringGetLength(description) > 0);
  return description;
}

/// Questions about containers and texts that Swift made, which programs of C read.
static void objectsOfSwift(void) {
  CFArrayRef list = NULL;
  CHECK_EQUAL(VTCopyVideoEncoderList(NULL, &list), noErr);
  REQUIRE(list != NULL && CFArrayGetCount(list) > 0);
  CFDictionaryRef encoder = CFArrayGetValueAtIndex(list, 0);
  CFTypeRef value = NULL;
  CHECK(CFDictionaryGetValueIfPresent(encoder, kVTVideoEncoderList_EncoderID, &value));
  CHECK(value != NULL && CFGetTypeID(value) == CFStringGetTypeID());
  CHECK(!CFDictionaryGetValueIfPresent(encoder, CFSTR("no such key"), &value));
  // Its bytes, as OBS Studio asks for them.
  CFStringRef name = CFDictionaryGetValue(encoder, kVTVideoEncoderList_DisplayName);
  REQUIRE(name != NULL);
  CFIndex size = CFStringGetMaximumSizeOfFileSystemRepresentation(name);
  REQUIRE(size > CFStringGetLength(name));
  char *bytes = malloc((size_t)size), *same = malloc((size_t)size);
  CHECK(CFStringGetFileSystemRepresentation(name, bytes, size));
  CHECK(CFStringGetCString(name, same, size, kCFStringEncodingUTF8));
  CHECK(strcmp(bytes, same) == 0 && bytes[0] != 0);
  free(bytes);
  free(same);
  CHECK(CFDictionaryGetValueIfPresent(encoder, kVTVideoEncoderList_EncoderID, NULL));
  CFShow(list);
  CFRelease(describe(list));
  CFRelease(describe(encoder));
  // The same inside a container of C, whose description asks for those of its contents.
  const void *contents[] = {list, encoder};
  CFArrayRef outer = CFArrayCreate(NULL, contents, 2, &kCFTypeArrayCallBacks);
  CFShow(outer);
  CFRelease(describe(outer));
  CHECK(CFEqual(list, list) && !CFEqual(list, outer) && !CFEqual(encoder, list));
  CHECK_EQUAL(CFHash(list), CFHash(list));
  CFRelease(outer);
  CFRelease(list);
}

/// Entries with null pointers are left out where keys or values are objects, and the others are
/// there.
static void nullEntries(void) {
  const void *keys[] = {CFSTR("first"), NULL, CFSTR("second"), CFSTR("third"), NULL};
  const void *values[] = {number, text, NULL, text, NULL};
  CFDictionaryRef dictionary =
      CFDictionaryCreate(NULL, keys, values, 5, &kCFTypeDictionaryKeyCallBacks, &kCFTypeDictionaryValueCallBacks);
  REQUIRE(dictionary != NULL);
  CHECK_EQUAL(CFDictionaryGetCount(dictionary), 2);
  CHECK(CFDictionaryGetValue(dictionary, CFSTR("first")) == number);
  CHECK(CFDictionaryGetValue(dictionary, CFSTR("third")) == text);
  CHECK(keys[1] == NULL && values[4] == NULL);
  CFRelease(dictionary);
  dictionary = CFDictionaryCreate(NULL, keys + 4, values + 4, 1, &kCFTypeDictionaryKeyCallBacks,
                                  &kCFTypeDictionaryValueCallBacks);
  REQUIRE(dictionary != NULL);
  CHECK_EQUAL(CFDictionaryGetCount(dictionary), 0);
  CFRelease(dictionary);
  // Without callbacks, null is a key and a value like any other.
  dictionary = CFDictionaryCreate(NULL, keys + 4, values + 4, 1, NULL, NULL);
  REQUIRE(dictionary != NULL);
  CHECK_EQUAL(CFDictionaryGetCount(dictionary), 1);
  CFRelease(dictionary);
}

static void objects(void) {
  objectsOfSwift();
  nullEntries();
  CVPixelBufferRef picture = makePicture(0), other = makePicture(0);
  CHECK_EQUAL(CFGetTypeID(picture), CVPixelBufferGetTypeID());
  CHECK(CFGetTypeID(picture) != CMSampleBufferGetTypeID());
  CHECK_EQUAL(CFGetTypeID(text), CFStringGetTypeID());
  CHECK_EQUAL(CFGetTypeID(number), CFNumberGetTypeID());
  CHECK_EQUAL(CFGetTypeID(kCFBooleanTrue), CFBooleanGetTypeID());
  CHECK_EQUAL(CFGetTypeID(kVTCompressionPropertyKey_RealTime), CFStringGetTypeID());
  CHECK(CFEqual(picture, picture));
  CHECK(!CFEqual(picture, other));
  CHECK(!CFEqual(picture, text) && !CFEqual(text, picture));
  CHECK(CFEqual(text, CFSTR("text")));
  CHECK_EQUAL(CFHash(text), CFHash(CFSTR("text")));
  CFRelease(describe(picture));
  CFRelease(describe(text));
  // In containers of Core Foundation, which retain, compare and describe them.
  CFMutableArrayRef array = CFArrayCreateMutable(NULL, 0, &kCFTypeArrayCallBacks);
  CFArrayAppendValue(array, picture);
  CFArrayAppendValue(array, other);
  CHECK_EQUAL(CFArrayGetFirstIndexOfValue(array, CFRangeMake(0, 2), other), 1);
  CFMutableDictionaryRef dictionary =
      CFDictionaryCreateMutable(NULL, 0, &kCFTypeDictionaryKeyCallBacks, &kCFTypeDictionaryValueCallBacks);
  CFDictionarySetValue(dictionary, CFSTR("picture"), picture);
  CVPixelBufferRelease(picture);
  CHECK(CFDictionaryGetValue(dictionary, CFSTR("picture")) == picture);
  CHECK_EQUAL(CVPixelBufferGetWidth((CVPixelBufferRef)(uintptr_t)CFDictionaryGetValue(dictionary, CFSTR("picture"))),
              kWidth);
  CFRelease(array);
  CFRelease(dictionary);
  // Attachments come back as the objects that went in.
  CVBufferSetAttachment(other, CFSTR("key"), number, kCVAttachmentMode_ShouldPropagate);
  CVAttachmentMode mode = 7;
  CFTypeRef got = CVBufferGetAttachment(other, CFSTR("key"), &mode);
  CHECK(got != NULL && CFEqual(got, number));
  CHECK_EQUAL(mode, kCVAttachmentMode_ShouldPropagate);
  CFDictionaryRef all = CVBufferGetAttachments(other, kCVAttachmentMode_ShouldPropagate);
  CHECK(all != NULL && CFDictionaryGetCount(all) == 1);
  CHECK(all != NULL && CFDictionaryGetValue(all, CFSTR("key")) != NULL);
  CVPixelBufferRelease(other);
}

// MARK: - Memory of the program

static int freed;
static void freeBytes(void *refcon, const void *bytes) {
  CHECK(refcon == (void *)7);
  free((void *)(uintptr_t)bytes);
  freed++;
}

static void *sourceAllocate(void *refcon, size_t size) {
  ++*(int *)refcon;
  return malloc(size);
}

static void sourceFree(void *refcon, void *block, size_t size) {
  (void)size;
  --*(int *)refcon;
  free(block);
}

static void memory(void) {
  freed = 0;
  CVPixelBufferRef buffer = NULL;
  void *bytes = calloc(64 * 64, 4);
  CHECK_EQUAL(CVPixelBufferCreateWithBytes(NULL, 64, 64, kCVPixelFormatType_32BGRA, bytes, 64 * 4, freeBytes, (void *)7,
                                           NULL, &buffer),
              kCVReturnSuccess);
  CHECK_EQUAL(CVPixelBufferLockBaseAddress(buffer, kCVPixelBufferLock_ReadOnly), kCVReturnSuccess);
  CHECK(CVPixelBufferGetBaseAddress(buffer) == bytes);
  CHECK_EQUAL(CVPixelBufferUnlockBaseAddress(buffer, kCVPixelBufferLock_ReadOnly), kCVReturnSuccess);
  CHECK_EQUAL(freed, 0);
  CVPixelBufferRelease(buffer);
  CHECK_EQUAL(freed, 1);

  CMBlockBufferRef block = NULL;
  int custom = 0;
  CMBlockBufferCustomBlockSource source = {kCMBlockBufferCustomBlockSourceVersion, sourceAllocate, sourceFree, &custom};
  CHECK_EQUAL(CMBlockBufferCreateWithMemoryBlock(NULL, NULL, 100, NULL, &source, 0, 100,
                                                 kCMBlockBufferAssureMemoryNowFlag, &block),
              noErr);
  CHECK_EQUAL(custom, 1);
  CFRelease(block);
  CHECK_EQUAL(custom, 0);
}

// MARK: - A pixel format of the program

static Boolean fillExtended(CVPixelBufferRef buffer, void *refcon) {
  CHECK_EQUAL(CVPixelBufferGetPixelFormatType(buffer), 0x74657374);
  ++*(int *)refcon;
  return *(int *)refcon < 2;
}

static void set(CFMutableDictionaryRef dictionary, CFStringRef key, int value) {
  CFNumberRef boxed = makeNumber(value);
  CFDictionarySetValue(dictionary, key, boxed);
  CFRelease(boxed);
}

/// The callback of a registered format is called as it was given, and its bytes are given back.
static void ownFormat(void) {
  const OSType format = 0x74657374;  // 'test'
  static int fills;
  fills = 0;
  CVFillExtendedPixelsCallBackData callback = {0, fillExtended, &fills};
  CFDataRef bytes = CFDataCreate(NULL, (const UInt8 *)&callback, sizeof(callback));
  CFMutableDictionaryRef description =
      CFDictionaryCreateMutable(NULL, 0, &kCFTypeDictionaryKeyCallBacks, &kCFTypeDictionaryValueCallBacks);
  set(description, kCVPixelFormatBitsPerBlock, 32);
  CFDictionarySetValue(description, kCVPixelFormatFillExtendedPixelsCallback, bytes);
  CVPixelFormatDescriptionRegisterDescriptionWithPixelFormatType(description, format);
  CFDictionaryRef known = CVPixelFormatDescriptionCreateWithPixelFormatType(NULL, format);
  REQUIRE(known != NULL);
  CFDataRef same = CFDictionaryGetValue(known, kCVPixelFormatFillExtendedPixelsCallback);
  CHECK(same != NULL && CFEqual(same, bytes));
  CFRelease(known);

  CFMutableDictionaryRef attributes =
      CFDictionaryCreateMutable(NULL, 0, &kCFTypeDictionaryKeyCallBacks, &kCFTypeDictionaryValueCallBacks);
  set(attributes, kCVPixelBufferExtendedPixelsLeftKey, 8);
  set(attributes, kCVPixelBufferExtendedPixelsBottomKey, 8);
  CVPixelBufferRef buffer = NULL;
  REQUIRE(CVPixelBufferCreate(NULL, 64, 64, format, attributes, &buffer) == kCVReturnSuccess);
  CHECK_EQUAL(CVPixelBufferFillExtendedPixels(buffer), kCVReturnSuccess);
  CHECK_EQUAL(CVPixelBufferFillExtendedPixels(buffer), kCVReturnError);
  CHECK_EQUAL(fills, 2);
  CVPixelBufferRelease(buffer);
  CFRelease(attributes);
  CFRelease(description);
  CFRelease(bytes);
}

// MARK: - Threads and re-entry

typedef struct {
  VTCompressionSessionRef session;
  int frames;
  int inner;
} Shared;

/// Asks and sets properties of the session whose callback it is.
static void reenter(void *refcon, void *frame, OSStatus status, VTEncodeInfoFlags flags, CMSampleBufferRef sample) {
  (void)frame;
  (void)flags;
  (void)sample;
  Shared *shared = refcon;
  CHECK_EQUAL(status, noErr);
  int rate = 300000 + shared->frames;
  CFNumberRef value = makeNumber(rate);
  CHECK_EQUAL(VTSessionSetProperty(shared->session, kVTCompressionPropertyKey_AverageBitRate, value), noErr);
  CFRelease(value);
  CFNumberRef got = NULL;
  CHECK_EQUAL(VTSessionCopyProperty(shared->session, kVTCompressionPropertyKey_AverageBitRate, NULL, &got), noErr);
  if (got != NULL) {
    int read = 0;
    CHECK(CFNumberGetValue(got, kCFNumberIntType, &read));
    CHECK_EQUAL(read, rate);
    CFRelease(got);
    shared->inner++;
  }
  shared->frames++;
}

static void *askOften(void *argument) {
  Shared *shared = argument;
  for (int i = 0; i < 200; i++) {
    CFTypeRef value = NULL;
    if (VTSessionCopyProperty(shared->session, kVTCompressionPropertyKey_NumberOfPendingFrames, NULL, &value) == noErr
        && value != NULL) {
      CFRelease(value);
    }
  }
  return NULL;
}

static void threads(void) {
  Shared shared = {NULL, 0, 0};
  REQUIRE(VTCompressionSessionCreate(NULL, kWidth, kHeight, kCMVideoCodecType_H264, NULL, NULL, NULL, reenter, &shared,
                                     &shared.session)
          == noErr);
  pthread_t other;
  REQUIRE(pthread_create(&other, NULL, askOften, &shared) == 0);
  for (int i = 0; i < 10; i++) {
    CVPixelBufferRef picture = makePicture(i);
    CHECK_EQUAL(VTCompressionSessionEncodeFrame(shared.session, picture, CMTimeMake(i, 30), kCMTimeInvalid, NULL, NULL,
                                                NULL),
                noErr);
    CVPixelBufferRelease(picture);
  }
  CHECK_EQUAL(VTCompressionSessionCompleteFrames(shared.session, kCMTimeInvalid), noErr);
  pthread_join(other, NULL);
  CHECK_EQUAL(shared.frames, 10);
  CHECK_EQUAL(shared.inner, 10);
  VTCompressionSessionInvalidate(shared.session);
  CFRelease(shared.session);
}

/// Gives a reference up that the program does not own: what `OVT_CHECK_REFERENCES=1` stops.
static void overRelease(void) {
  CVPixelBufferRef picture = makePicture(0);
  CVPixelBufferRelease(picture);
  CVPixelBufferRelease(picture);
}

int main(int count, char **arguments) {
  if (count > 1 && strcmp(arguments[1], "over-release") == 0) {
    overRelease();
    return 0;
  }
  int repetitions = count > 1 ? atoi(arguments[1]) : 1;
  int seven = 7;
  number = CFNumberCreate(NULL, kCFNumberIntType, &seven);
  text = CFStringCreateWithCString(NULL, "text", kCFStringEncodingUTF8);
  for (int i = 0; i < repetitions; i++) {
    nullPointers();
    wrongTypes();
    objects();
    memory();
    threads();
  }
  // Once: a format stays registered.
  ownFormat();
  CFRelease(number);
  CFRelease(text);
  if (failures > 0) fprintf(stderr, "%d failures\n", failures);
  return failures > 0;
}
