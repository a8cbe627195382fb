// SPDX-License-Identifier: Apache-2.0
// Memory of several pieces that reads as one.

#ifndef OVT_COREMEDIA_CMBLOCKBUFFER_H
#define OVT_COREMEDIA_CMBLOCKBUFFER_H

#include <CoreMedia/CMBase.h>

OVT_HEADER_BEGIN

typedef struct OpaqueCMBlockBuffer *CMBlockBufferRef;
/// Flags of the functions that create and append.
typedef uint32_t CMBlockBufferFlags;

/// Functions that allocate and free the memory of a block.
typedef struct {
  /// Must be `kCMBlockBufferCustomBlockSourceVersion`.
  uint32_t version;
  /// Returns memory, or `NULL`; needed unless the memory is given.
  void *OVT_NULLABLE (*OVT_NULLABLE AllocateBlock)(void *OVT_NULLABLE refCon, size_t sizeInBytes);
  /// Called once with the memory, from any thread, when the last block buffer that uses it is gone.
  void (*OVT_NULLABLE FreeBlock)(void *OVT_NULLABLE refCon, void *doomedMemoryBlock, size_t sizeInBytes);
  /// Passed to both.
  void *OVT_NULLABLE refCon;
} CMBlockBufferCustomBlockSource;

enum {
  /// No error.
  kCMBlockBufferNoErr = 0,
  /// The block buffer object itself could not be allocated.
  kCMBlockBufferStructureAllocationFailedErr = -12700,
  /// A memory block could not be allocated.
  kCMBlockBufferBlockAllocationFailedErr = -12701,
  /// The custom block source has another version, or no function to allocate with.
  kCMBlockBufferBadCustomBlockSourceErr = -12702,
  /// An offset lies outside of the buffer or block.
  kCMBlockBufferBadOffsetParameterErr = -12703,
  /// A length is zero, negative or reaches beyond the buffer or block.
  kCMBlockBufferBadLengthParameterErr = -12704,
  /// A pointer that is needed was not given.
  kCMBlockBufferBadPointerParameterErr = -12705,
  /// The buffer has neither memory blocks nor references.
  kCMBlockBufferEmptyBBufErr = -12706,
  /// The memory at that place is not allocated yet.
  kCMBlockBufferUnallocatedBlockErr = -12707,
  /// There is not enough room.
  kCMBlockBufferInsufficientSpaceErr = -12708,
  /// Allocate the memory at once instead of when it is first needed.
  kCMBlockBufferAssureMemoryNowFlag = 1,
  /// Copy even when the source is contiguous already (`CMBlockBufferCreateContiguous`).
  kCMBlockBufferAlwaysCopyDataFlag = 2,
  /// Keep chains of references as they are. References always share the memory blocks themselves
  /// here,
  /// so their depth is one with this flag and without it.
  kCMBlockBufferDontOptimizeDepthFlag = 4,
  /// Allow references to buffers or ranges without bytes.
  kCMBlockBufferPermitEmptyReferenceFlag = 8,
  /// The only version of `CMBlockBufferCustomBlockSource`.
  kCMBlockBufferCustomBlockSourceVersion = 0
};

/// Creates a block buffer without memory, to append to.
///
/// The caller owns the object that `blockBufferOut` receives, and releases it with `CFRelease`.
OVT_EXPORT OSStatus CMBlockBufferCreateEmpty(
    CFAllocatorRef OVT_NULLABLE structureAllocator, uint32_t subBlockCapacity,
    CMBlockBufferFlags flags, CMBlockBufferRef OVT_NULLABLE *blockBufferOut);

/// Creates a block buffer that refers to a range of another; a length of zero means all from the
/// offset on.
///
/// The caller owns the object that `blockBufferOut` receives, and releases it with `CFRelease`.
OVT_EXPORT OSStatus CMBlockBufferCreateWithBufferReference(
    CFAllocatorRef OVT_NULLABLE structureAllocator, CMBlockBufferRef bufferReference,
    size_t offsetToData, size_t dataLength, CMBlockBufferFlags flags,
    CMBlockBufferRef OVT_NULLABLE *blockBufferOut);

/// The type identifier of block buffers.
OVT_EXPORT CFTypeID CMBlockBufferGetTypeID(void);

/// Appends a reference to a range of another block buffer; a length of zero means all from the
/// offset on.
OVT_EXPORT OSStatus CMBlockBufferAppendBufferReference(
    CMBlockBufferRef theBuffer, CMBlockBufferRef targetBBuf, size_t offsetToData, size_t dataLength,
    CMBlockBufferFlags flags);

/// Allocates the memory of all blocks that have none yet.
OVT_EXPORT OSStatus CMBlockBufferAssureBlockMemory(CMBlockBufferRef theBuffer);

/// Finds the bytes of a range in one piece: where they lie, or copied into `temporaryBlock`
/// (of at least `length` bytes) if they lie in several.
OVT_EXPORT OSStatus CMBlockBufferAccessDataBytes(
    CMBlockBufferRef theBuffer, size_t offset, size_t length, void *temporaryBlock,
    char *OVT_NULLABLE *returnedPointerOut);

/// Copies bytes out of a block buffer.
OVT_EXPORT OSStatus CMBlockBufferCopyDataBytes(
    CMBlockBufferRef theSourceBuffer, size_t offsetToData, size_t dataLength, void *destination);

/// Copies bytes into a block buffer, whose memory is allocated if need be.
OVT_EXPORT OSStatus CMBlockBufferReplaceDataBytes(
    const void *sourceBytes, CMBlockBufferRef destinationBuffer, size_t offsetIntoDestination,
    size_t dataLength);

/// Sets bytes of a block buffer, whose memory is allocated if need be.
OVT_EXPORT OSStatus CMBlockBufferFillDataBytes(
    char fillByte, CMBlockBufferRef destinationBuffer, size_t offsetIntoDestination,
    size_t dataLength);

/// The memory at an offset: how many bytes lie there in one piece, and how many the buffer has in
/// all.
OVT_EXPORT OSStatus CMBlockBufferGetDataPointer(
    CMBlockBufferRef theBuffer, size_t offset, size_t *OVT_NULLABLE lengthAtOffsetOut,
    size_t *OVT_NULLABLE totalLengthOut, char *OVT_NULLABLE *OVT_NULLABLE dataPointerOut);

/// The number of bytes in a block buffer.
OVT_EXPORT size_t CMBlockBufferGetDataLength(CMBlockBufferRef theBuffer);

/// Whether a range lies in one piece of memory; a length of zero means all from the offset on.
OVT_EXPORT Boolean CMBlockBufferIsRangeContiguous(
    CMBlockBufferRef theBuffer, size_t offset, size_t length);

/// Whether a block buffer has neither memory blocks nor references. A block without memory counts
/// as one.
OVT_EXPORT Boolean CMBlockBufferIsEmpty(CMBlockBufferRef theBuffer);

/// Creates a block buffer of one block of memory.
///
/// - `memoryBlock`: the memory; `NULL` to have it allocated when it is first needed.
/// - `blockLength`: its size in bytes.
/// - `blockAllocator`: frees the memory, and allocates it if it is not given. With
///   `kCFAllocatorNull` the caller keeps
///   it, and must not free it before the buffer is gone.
/// - `customBlockSource`: used in place of `blockAllocator`; its values are copied.
/// - `offsetToData`, `dataLength`: the part of the block that the buffer shows.
/// The caller owns the object that `blockBufferOut` receives.
OVT_EXPORT OSStatus CMBlockBufferCreateWithMemoryBlock(
    CFAllocatorRef OVT_NULLABLE structureAllocator, void *OVT_NULLABLE memoryBlock, size_t blockLength,
    CFAllocatorRef OVT_NULLABLE blockAllocator, const CMBlockBufferCustomBlockSource *OVT_NULLABLE customBlockSource,
    size_t offsetToData, size_t dataLength, CMBlockBufferFlags flags, CMBlockBufferRef OVT_NULLABLE *blockBufferOut);

/// Creates a block buffer of one block with the bytes of another buffer's range: copied if they are
/// in several
/// blocks, or if the flags say so. The caller owns the object that `blockBufferOut` receives.
OVT_EXPORT OSStatus CMBlockBufferCreateContiguous(
    CFAllocatorRef OVT_NULLABLE structureAllocator, CMBlockBufferRef sourceBuffer,
    CFAllocatorRef OVT_NULLABLE blockAllocator, const CMBlockBufferCustomBlockSource *OVT_NULLABLE customBlockSource,
    size_t offsetToData, size_t dataLength, CMBlockBufferFlags flags, CMBlockBufferRef OVT_NULLABLE *blockBufferOut);

/// Appends a block of memory, as `CMBlockBufferCreateWithMemoryBlock` takes it.
OVT_EXPORT OSStatus CMBlockBufferAppendMemoryBlock(
    CMBlockBufferRef theBuffer, void *OVT_NULLABLE memoryBlock, size_t blockLength,
    CFAllocatorRef OVT_NULLABLE blockAllocator, const CMBlockBufferCustomBlockSource *OVT_NULLABLE customBlockSource,
    size_t offsetToData, size_t dataLength, CMBlockBufferFlags flags);

OVT_HEADER_END

#endif
