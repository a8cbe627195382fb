// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// No error.
public let kCMBlockBufferNoErr: OSStatus = 0
/// The block buffer object itself could not be allocated.
public let kCMBlockBufferStructureAllocationFailedErr: OSStatus = -12700
/// A memory block could not be allocated.
public let kCMBlockBufferBlockAllocationFailedErr: OSStatus = -12701
/// The custom block source has another version, or no function for allocation.
public let kCMBlockBufferBadCustomBlockSourceErr: OSStatus = -12702
/// An offset is outside the block buffer or memory block.
public let kCMBlockBufferBadOffsetParameterErr: OSStatus = -12703
/// A length is zero, negative or too large for the block buffer or memory block.
public let kCMBlockBufferBadLengthParameterErr: OSStatus = -12704
/// A required pointer is missing.
public let kCMBlockBufferBadPointerParameterErr: OSStatus = -12705
/// The block buffer has neither memory blocks nor references.
public let kCMBlockBufferEmptyBBufErr: OSStatus = -12706
/// The memory has not been allocated yet.
public let kCMBlockBufferUnallocatedBlockErr: OSStatus = -12707
/// There is not enough space.
public let kCMBlockBufferInsufficientSpaceErr: OSStatus = -12708

/// Flags of the functions that create block buffers or append to them.
public typealias CMBlockBufferFlags = UInt32

/// Allocates the memory at once rather than when it is needed.
public let kCMBlockBufferAssureMemoryNowFlag: CMBlockBufferFlags = 1 << 0
/// Copies the bytes even if they are contiguous already (`CMBlockBufferCreateContiguous`).
public let kCMBlockBufferAlwaysCopyDataFlag: CMBlockBufferFlags = 1 << 1
/// Keeps chains of references. It has no effect here, since references always share the memory
/// blocks themselves, so that their depth is one.
public let kCMBlockBufferDontOptimizeDepthFlag: CMBlockBufferFlags = 1 << 2
/// Permits references to block buffers or ranges without bytes.
public let kCMBlockBufferPermitEmptyReferenceFlag: CMBlockBufferFlags = 1 << 3

/// The only version of `CMBlockBufferCustomBlockSource`.
public let kCMBlockBufferCustomBlockSourceVersion: UInt32 = 0

/// Functions that allocate and free the memory of a block.
public struct CMBlockBufferCustomBlockSource {
  /// The version, which must be `kCMBlockBufferCustomBlockSourceVersion`.
  public var version: UInt32
  /// Returns memory of the given size in bytes, or nil. Required unless the memory exists already.
  public var AllocateBlock: (@convention(c) (UnsafeMutableRawPointer?, Int) -> UnsafeMutableRawPointer?)?
  /// Called once with the memory after the last block buffer that uses it has been released.
  public var FreeBlock: (@convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer, Int) -> Void)?
  /// The context pointer that is passed to both functions.
  public var refCon: UnsafeMutableRawPointer?

  public init() {
    version = kCMBlockBufferCustomBlockSourceVersion
  }

  public init(
    version: UInt32,
    AllocateBlock: (@convention(c) (UnsafeMutableRawPointer?, Int) -> UnsafeMutableRawPointer?)?,
    FreeBlock: (@convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer, Int) -> Void)?,
    refCon: UnsafeMutableRawPointer?
  ) {
    self.version = version
    self.AllocateBlock = AllocateBlock
    self.FreeBlock = FreeBlock
    self.refCon = refCon
  }
}

extension CMBlockBuffer {
  /// The errors that block buffers throw, in `NSOSStatusErrorDomain`.
  public struct Error: Sendable {
    public static let structureAllocationFailed = osStatusError(kCMBlockBufferStructureAllocationFailedErr)
    public static let blockAllocationFailed = osStatusError(kCMBlockBufferBlockAllocationFailedErr)
    public static let badCustomBlockSource = osStatusError(kCMBlockBufferBadCustomBlockSourceErr)
    public static let badOffsetParameter = osStatusError(kCMBlockBufferBadOffsetParameterErr)
    public static let badLengthParameter = osStatusError(kCMBlockBufferBadLengthParameterErr)
    public static let badPointerParameter = osStatusError(kCMBlockBufferBadPointerParameterErr)
    public static let emptyBlockBuffer = osStatusError(kCMBlockBufferEmptyBBufErr)
    public static let unallocatedBlock = osStatusError(kCMBlockBufferUnallocatedBlockErr)
    public static let insufficientSpace = osStatusError(kCMBlockBufferInsufficientSpaceErr)
  }

  /// Flags of the members that create block buffers or append to them.
  public struct Flags: OptionSet, Sendable, Hashable {
    public let rawValue: CMBlockBufferFlags
    public init(rawValue: CMBlockBufferFlags) { self.rawValue = rawValue }

    public static let assureMemoryNow = Flags(rawValue: kCMBlockBufferAssureMemoryNowFlag)
    public static let alwaysCopyData = Flags(rawValue: kCMBlockBufferAlwaysCopyDataFlag)
    public static let dontOptimizeDepth = Flags(rawValue: kCMBlockBufferDontOptimizeDepthFlag)
    public static let permitEmptyReference = Flags(rawValue: kCMBlockBufferPermitEmptyReferenceFlag)
  }
}
