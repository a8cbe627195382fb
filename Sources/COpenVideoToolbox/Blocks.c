// SPDX-License-Identifier: Apache-2.0
// Calls of blocks, without a compiler that knows them: a block is an object with the address of its
// function, which takes the block itself first.

#include <OpenVideoToolbox/Implementation.h>

extern void *_Block_copy(const void *);
extern void _Block_release(const void *);

struct block {
  void *class;
  int flags;
  int reserved;
  void (*invoke)(void);
};

#define INVOKE(type, block) ((type)(((const struct block *)(block))->invoke))

void *OVTBlockCopy(const void *block) { return _Block_copy(block); }
void OVTBlockRelease(const void *block) { _Block_release(block); }

void OVTBlockCallCompressionOutput(const void *block, OSStatus status, uint32_t flags, CMSampleBufferRef sample) {
  INVOKE(void (*)(const void *, OSStatus, uint32_t, CMSampleBufferRef), block)(block, status, flags, sample);
}

void OVTBlockCallDecompressionOutput(
    const void *block, OSStatus status, uint32_t flags, CVImageBufferRef image, CMTime time, CMTime duration) {
  INVOKE(void (*)(const void *, OSStatus, uint32_t, CVImageBufferRef, CMTime, CMTime), block)
  (block, status, flags, image, time, duration);
}

OSStatus OVTBlockCallSample(const void *block, CMSampleBufferRef sample) {
  return INVOKE(OSStatus(*)(const void *, CMSampleBufferRef), block)(block, sample);
}

void OVTBlockCallInvalidated(const void *block, CMSampleBufferRef sample) {
  INVOKE(void (*)(const void *, CMSampleBufferRef), block)(block, sample);
}

OSStatus OVTBlockCallSampleAndIndex(const void *block, CMSampleBufferRef sample, CFIndex index) {
  return INVOKE(OSStatus(*)(const void *, CMSampleBufferRef, CFIndex), block)(block, sample, index);
}

void OVTBlockCallMultiImageOutput(
    const void *block, OSStatus status, uint32_t flags, CVImageBufferRef image, CMTaggedBufferGroupRef group, CMTime time,
    CMTime duration) {
  INVOKE(
      void (*)(const void *, OSStatus, uint32_t, CVImageBufferRef, CMTaggedBufferGroupRef, CMTime, CMTime), block)
  (block, status, flags, image, group, time, duration);
}

// Buffer queues.

CMTime OVTBlockCallGetTime(const void *block, CMBufferRef buffer) {
  return INVOKE(CMTime(*)(const void *, CMBufferRef), block)(block, buffer);
}

Boolean OVTBlockCallGetBoolean(const void *block, CMBufferRef buffer) {
  return INVOKE(Boolean(*)(const void *, CMBufferRef), block)(block, buffer);
}

CFComparisonResult OVTBlockCallCompare(const void *block, CMBufferRef first, CMBufferRef second) {
  return INVOKE(CFComparisonResult(*)(const void *, CMBufferRef, CMBufferRef), block)(block, first, second);
}

size_t OVTBlockCallGetSize(const void *block, CMBufferRef buffer) {
  return INVOKE(size_t(*)(const void *, CMBufferRef), block)(block, buffer);
}

OSStatus OVTBlockCallValidation(const void *block, CMBufferQueueRef queue, CMBufferRef buffer) {
  return INVOKE(OSStatus(*)(const void *, CMBufferQueueRef, CMBufferRef), block)(block, queue, buffer);
}

void OVTBlockCallTrigger(const void *block, CMBufferQueueTriggerToken token) {
  INVOKE(void (*)(const void *, CMBufferQueueTriggerToken), block)(block, token);
}
