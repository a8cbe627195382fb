// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// No error.
public let kCMBlockBufferNoErr: OSStatus = 0
/// The block buffer object itself could not be allocated.
public let kCMBlockBufferStructureAllocationFailedErr: OSStatus = -12700
/// A memory block could not be allocated.
public let kCMBlockBufferBlockAllocationFailedErr: OSStatus = -12701
/// The custom block source has another version, or no function to allocate with.
public let kCMBlockBufferBadCustomBlockSourceErr: OSStatus = -12702
/// An offset lies outside of the buffer or block.
public let kCMBlockBufferBadOffsetParameterErr: OSStatus = -12703
/// A length is zero, negative or reaches beyond the buffer or block.
public let kCMBlockBufferBadLengthParameterErr: OSStatus = -12704
/// A pointer that is needed was not given.
public let kCMBlockBufferBadPointerParameterErr: OSStatus = -12705
/// The buffer has neither memory blocks nor references.
public let kCMBlockBufferEmptyBBufErr: OSStatus = -12706
/// The memory at that place is not allocated yet.
public let kCMBlockBufferUnallocatedBlockErr: OSStatus = -12707
/// There is not enough room.
public let kCMBlockBufferInsufficientSpaceErr: OSStatus = -12708

/// Flags of the functions that create and append.
public typealias CMBlockBufferFlags = UInt32

/// Allocate the memory at once instead of when it is first needed.
public let kCMBlockBufferAssureMemoryNowFlag: CMBlockBufferFlags = 1 << 0
/// Copy even when the source is contiguous already (`CMBlockBufferCreateContiguous`).
public let kCMBlockBufferAlwaysCopyDataFlag: CMBlockBufferFlags = 1 << 1
/// Keep chains of references as they are. References always share the memory blocks themselves here,
/// so their depth is one with this flag and without it.
public let kCMBlockBufferDontOptimizeDepthFlag: CMBlockBufferFlags = 1 << 2
/// Allow references to buffers or ranges without bytes.
public let kCMBlockBufferPermitEmptyReferenceFlag: CMBlockBufferFlags = 1 << 3

/// The only version of `CMBlockBufferCustomBlockSource`.
public let kCMBlockBufferCustomBlockSourceVersion: UInt32 = 0

/// Functions that allocate and free the memory of a block.
public struct CMBlockBufferCustomBlockSource {
  /// Must be `kCMBlockBufferCustomBlockSourceVersion`.
  public var version: UInt32
  /// Returns memory of a size in bytes, or nil; needed unless the memory is given.
  public var AllocateBlock: (@convention(c) (UnsafeMutableRawPointer?, Int) -> UnsafeMutableRawPointer?)?
  /// Called once with the memory when the last block buffer that uses it is gone.
  public var FreeBlock: (@convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer, Int) -> Void)?
  /// Passed to both.
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

  /// Flags of the members that create and append.
  public struct Flags: OptionSet, Sendable, Hashable {
    public let rawValue: CMBlockBufferFlags
    public init(rawValue: CMBlockBufferFlags) { self.rawValue = rawValue }

    public static let assureMemoryNow = Flags(rawValue: kCMBlockBufferAssureMemoryNowFlag)
    public static let alwaysCopyData = Flags(rawValue: kCMBlockBufferAlwaysCopyDataFlag)
    public static let dontOptimizeDepth = Flags(rawValue: kCMBlockBufferDontOptimizeDepthFlag)
    public static let permitEmptyReference = Flags(rawValue: kCMBlockBufferPermitEmptyReferenceFlag)
  }
}
