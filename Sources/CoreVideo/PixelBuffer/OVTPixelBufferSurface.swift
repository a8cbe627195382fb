// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Synchronization

// Pixel buffers whose pixels are not in plain memory. An addition of this package: where Apple's
// systems have IOSurface, Linux has memory of graphics drivers and cameras under many names.

/// The storage of a picture that is not in plain memory: a buffer of a graphics driver, of a
/// camera, or of another process.
///
/// Codecs recognise the surfaces that they support by type (`surface as? SomeSurface`), and access
/// the picture in place. Everything else locks the pixel buffer as usual, which maps the surface.
public protocol OVTPixelBufferSurface: AnyObject, Sendable {
  /// Makes the picture accessible in memory, until `unmap` is called. The first lock of the buffer
  /// calls this, on any thread; it is never called twice without `unmap` in between.
  /// - Parameter isReadOnly: Whether the memory will only be read.
  /// - Returns: The address of each plane of the pixel format (one for a format that is not
  ///   planar), or nil if the picture cannot be mapped.
  func map(isReadOnly: Bool) -> [OVTMappedPlane]?

  /// Ends the access that `map` has begun, and makes what was written visible to the surface's
  /// other users. The last unlock of the buffer calls this.
  func unmap()
}

/// A plane of a surface while it is mapped.
public struct OVTMappedPlane {
  public var baseAddress: UnsafeMutableRawPointer
  /// The distance of two rows in bytes.
  public var bytesPerRow: Int

  public init(baseAddress: UnsafeMutableRawPointer, bytesPerRow: Int) {
    self.baseAddress = baseAddress
    self.bytesPerRow = bytesPerRow
  }
}

/// Makes a pixel buffer of a picture on a surface.
///
/// Width, height, format and planes are known at once. The memory exists only while the buffer is
/// locked:
///
/// - `CVPixelBufferLockBaseAddress` maps the surface, and returns `kCVReturnError` if it cannot be
///   mapped or its rows are too short, or if a lock for writing comes while it is mapped for
///   reading only. The buffer is then not locked by that call.
/// - `CVPixelBufferGetBaseAddress` and `CVPixelBufferGetBaseAddressOfPlane` return nil, and
///   `CVPixelBufferGetBytesPerRow`, `CVPixelBufferGetBytesPerRowOfPlane` and
///   `CVPixelBufferGetDataSize` 0, while the buffer is not locked. Addresses may be others after
///   the next lock.
/// - The last `CVPixelBufferUnlockBaseAddress` unmaps it.
///
/// - Returns: `kCVReturnInvalidSize` or `kCVReturnInvalidPixelFormat`, as `CVPixelBufferCreate`.
@discardableResult
public func OVTPixelBufferCreateWithSurface(
  _ allocator: CFAllocator?, _ surface: any OVTPixelBufferSurface, _ width: Int, _ height: Int,
  _ pixelFormatType: OSType, _ pixelBufferAttributes: CFDictionary?,
  _ pixelBufferOut: UnsafeMutablePointer<CVPixelBuffer?>
) -> CVReturn {
  pixelBufferOut.pointee = nil
  guard width > 0, height > 0 else { return kCVReturnInvalidSize }
  guard let format = PixelFormat.find(pixelFormatType) else { return kCVReturnInvalidPixelFormat }
  guard let layout = try? PixelLayout(format: format, width: width, height: height, rowAlignment: 1),
    let tight = try? wrappingLayout(format, width, height, nil).get()
  else { return kCVReturnInvalidSize }
  let storage = PixelStorage(
    baseAddress: nil, dataSize: 0, bytesPerRow: 0, isPlanar: layout.isPlanar,
    planes: layout.planes.map {
      PixelStorage.Plane(baseAddress: nil, width: $0.width, height: $0.height, bytesPerRow: 0, byteCount: 0)
    }, allocation: nil)
  storage.mapping = SurfaceMapping(
    surface, rows: layout.planes.map(\.rows), minBytesPerRow: tight.planes.map(\.bytesPerRow))
  let buffer = CVBuffer(
    storage: storage, pixelFormatType: pixelFormatType, width: width, height: height, extendedPixels: .init(),
    creationAttributes: creationAttributes(pixelBufferAttributes, width, height, pixelFormatType))
  buffer.attachInitial(pixelBufferAttributes)
  pixelBufferOut.pointee = buffer
  return kCVReturnSuccess
}

/// The surface that the buffer's picture is on; nil if it is in memory.
public func OVTPixelBufferGetSurface(_ pixelBuffer: CVPixelBuffer) -> (any OVTPixelBufferSurface)? {
  pixelBuffer.storage.mapping?.surface
}

/// Maps a surface while its buffer is locked.
final class SurfaceMapping: Sendable {
  private struct State {
    var locks = 0
    var isReadOnly = true
  }

  let surface: any OVTPixelBufferSurface
  /// Held while the surface is mapped or unmapped: other threads that lock the buffer wait for
  /// that. The surface must not lock or unlock the buffer itself.
  private let state = Mutex(State())
  /// The number of rows of each plane in memory.
  private let rows: [Int]
  /// The number of bytes that a row's pixels need, of each plane.
  private let minBytesPerRow: [Int]

  init(_ surface: any OVTPixelBufferSurface, rows: [Int], minBytesPerRow: [Int]) {
    self.surface = surface
    self.rows = rows
    self.minBytesPerRow = minBytesPerRow
  }

  deinit { if state.withLock({ $0.locks > 0 }) { surface.unmap() } }

  /// Locks the buffer; the first lock maps the surface.
  /// - Returns: False if the surface cannot be mapped, its rows are too short, or it is mapped for
  ///   reading only and a lock for writing is asked for.
  func lock(_ storage: PixelStorage, isReadOnly: Bool) -> Bool {
    state.withLock { state in
      if state.locks > 0 {
        guard isReadOnly || !state.isReadOnly else { return false }
        state.locks += 1
        return true
      }
      guard let planes = surface.map(isReadOnly: isReadOnly) else { return false }
      guard planes.count == rows.count,
        zip(planes, minBytesPerRow).allSatisfy({ $1 <= $0.bytesPerRow && $0.bytesPerRow <= Int(Int32.max) })
      else {
        surface.unmap()
        return false
      }
      state.locks = 1
      state.isReadOnly = isReadOnly
      storage.setMapped(zip(planes, rows).map { ($0, $1) })
      return true
    }
  }

  func unlock(_ storage: PixelStorage) {
    state.withLock { state in
      guard state.locks > 0 else { return }
      state.locks -= 1
      guard state.locks == 0 else { return }
      storage.setMapped(nil)
      surface.unmap()
    }
  }
}

extension PixelStorage {
  /// Sets the addresses and sizes of the planes while they are mapped; nil clears them.
  fileprivate func setMapped(_ mapped: [(plane: OVTMappedPlane, rows: Int)]?) {
    for index in 0..<max(planeCount, 1) {
      planes[index].baseAddress = mapped?[index].plane.baseAddress
      planes[index].bytesPerRow = mapped?[index].plane.bytesPerRow ?? 0
      planes[index].byteCount = mapped.map { $0[index].plane.bytesPerRow * $0[index].rows } ?? 0
    }
    baseAddress = mapped?[0].plane.baseAddress
    bytesPerRow = mapped?[0].plane.bytesPerRow ?? 0
    dataSize = mapped?.reduce(0) { $0 + $1.plane.bytesPerRow * $1.rows } ?? 0
  }
}
