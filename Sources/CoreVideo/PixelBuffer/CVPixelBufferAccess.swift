// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Synchronization

/// How a buffer's memory is accessed while it is locked.
public struct CVPixelBufferLockFlags: OptionSet, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
  /// The memory will be read, not written.
  public static let readOnly = CVPixelBufferLockFlags(rawValue: 1)
}

/// Makes the buffer's memory accessible. Balance every call by one to
/// `CVPixelBufferUnlockBaseAddress`.
/// - Returns: `kCVReturnError` if the picture is on a surface that cannot be mapped
///   (`OVTPixelBufferCreateWithSurface`).
@discardableResult
public func CVPixelBufferLockBaseAddress(_ pixelBuffer: CVPixelBuffer, _ lockFlags: CVPixelBufferLockFlags)
  -> CVReturn
{
  guard lockFlags.isSubset(of: .readOnly) else { return kCVReturnInvalidArgument }
  if let mapping = pixelBuffer.storage.mapping {
    let isLocked = mapping.lock(pixelBuffer.storage, isReadOnly: lockFlags.contains(.readOnly))
    guard isLocked else { return kCVReturnError }
  }
  pixelBuffer.lockCount.add(1, ordering: .acquiring)
  return kCVReturnSuccess
}

/// Ends an access.
/// - Returns: `kCVReturnInvalidArgument` if the buffer is not locked.
@discardableResult
public func CVPixelBufferUnlockBaseAddress(
  _ pixelBuffer: CVPixelBuffer, _ unlockFlags: CVPixelBufferLockFlags
) -> CVReturn {
  guard unlockFlags.isSubset(of: .readOnly) else { return kCVReturnInvalidArgument }
  let before = pixelBuffer.lockCount.subtract(1, ordering: .releasing).oldValue
  guard before > 0 else {
    pixelBuffer.lockCount.add(1, ordering: .relaxed)
    return kCVReturnInvalidArgument
  }
  pixelBuffer.storage.mapping?.unlock(pixelBuffer.storage)
  return kCVReturnSuccess
}

/// The width in pixels.
@discardableResult
public func CVPixelBufferGetWidth(_ pixelBuffer: CVPixelBuffer) -> Int { pixelBuffer.width }

/// The height in pixels.
@discardableResult
public func CVPixelBufferGetHeight(_ pixelBuffer: CVPixelBuffer) -> Int { pixelBuffer.height }

/// The pixel format, one of `kCVPixelFormatType_*`.
@discardableResult
public func CVPixelBufferGetPixelFormatType(_ pixelBuffer: CVPixelBuffer) -> OSType {
  pixelBuffer.pixelFormatType
}

/// The address of the first pixel. For a planar buffer it is that of the first plane; for one that
/// wraps a program's planes, it is the address of the block that the program has named (which may
/// be nil).
@discardableResult
public func CVPixelBufferGetBaseAddress(_ pixelBuffer: CVPixelBuffer) -> UnsafeMutableRawPointer? {
  pixelBuffer.storage.baseAddress
}

/// The distance of two rows in bytes; for a planar buffer the size of all planes divided by the
/// height, rounded up.
@discardableResult
public func CVPixelBufferGetBytesPerRow(_ pixelBuffer: CVPixelBuffer) -> Int {
  pixelBuffer.storage.bytesPerRow
}

/// The size of the memory in bytes, with all planes and their padding.
@discardableResult
public func CVPixelBufferGetDataSize(_ pixelBuffer: CVPixelBuffer) -> Int {
  pixelBuffer.storage.dataSize
}

/// Whether the buffer is planar.
@discardableResult
public func CVPixelBufferIsPlanar(_ pixelBuffer: CVPixelBuffer) -> Bool { pixelBuffer.storage.isPlanar }

/// The number of planes, 0 for a buffer that is not planar.
@discardableResult
public func CVPixelBufferGetPlaneCount(_ pixelBuffer: CVPixelBuffer) -> Int {
  pixelBuffer.storage.planeCount
}

/// The width of a plane in its own samples; 0 if there is no such plane.
///
/// Plane 0 of a buffer that is not planar is the entire picture.
@discardableResult
public func CVPixelBufferGetWidthOfPlane(_ pixelBuffer: CVPixelBuffer, _ planeIndex: Int) -> Int {
  pixelBuffer.storage.plane(planeIndex)?.pointee.width ?? 0
}

/// The height of a plane in its own rows, 0 if there is no such plane.
@discardableResult
public func CVPixelBufferGetHeightOfPlane(_ pixelBuffer: CVPixelBuffer, _ planeIndex: Int) -> Int {
  pixelBuffer.storage.plane(planeIndex)?.pointee.height ?? 0
}

/// The address of a plane's first sample; nil if there is no such plane.
///
/// Plane 0 of a buffer that is not planar is the entire picture.
@discardableResult
public func CVPixelBufferGetBaseAddressOfPlane(
  _ pixelBuffer: CVPixelBuffer, _ planeIndex: Int
) -> UnsafeMutableRawPointer? {
  guard let plane = pixelBuffer.storage.plane(planeIndex) else { return nil }
  return plane.pointee.baseAddress
}

/// The distance of two rows of a plane in bytes; 0 if there is no such plane.
@discardableResult
public func CVPixelBufferGetBytesPerRowOfPlane(_ pixelBuffer: CVPixelBuffer, _ planeIndex: Int) -> Int {
  pixelBuffer.storage.plane(planeIndex)?.pointee.bytesPerRow ?? 0
}

/// Gets the number of pixels around the picture on each side. Every pointer may be nil.
public func CVPixelBufferGetExtendedPixels(
  _ pixelBuffer: CVPixelBuffer, _ extraColumnsOnLeft: UnsafeMutablePointer<Int>?,
  _ extraColumnsOnRight: UnsafeMutablePointer<Int>?, _ extraRowsOnTop: UnsafeMutablePointer<Int>?,
  _ extraRowsOnBottom: UnsafeMutablePointer<Int>?
) {
  extraColumnsOnLeft?.pointee = pixelBuffer.extendedPixels.left
  extraColumnsOnRight?.pointee = pixelBuffer.extendedPixels.right
  extraRowsOnTop?.pointee = pixelBuffer.extendedPixels.top
  extraRowsOnBottom?.pointee = pixelBuffer.extendedPixels.bottom
}

extension PixelStorage {
  /// The entry of a plane; nil if there is no such plane. Index 0 of a buffer that is not planar is
  /// the entire picture.
  @inline(__always)
  func plane(_ index: Int) -> UnsafeMutablePointer<Plane>? {
    index >= 0 && index < max(planeCount, 1) ? planes + index : nil
  }
}
