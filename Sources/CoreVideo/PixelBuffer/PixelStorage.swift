// SPDX-License-Identifier: Apache-2.0
/// The memory of a pixel buffer and where its planes lie. Nothing changes, but for a buffer on a surface: there
/// addresses, row lengths and size change with the first lock and the last unlock.
final class PixelStorage: @unchecked Sendable {
  // Sendable: addresses change only while it is made or mapped under the buffer's lock; pixels are their user's to guard.
  struct Plane {
    /// The address of the picture's first pixel (inside the extended pixels).
    var baseAddress: UnsafeMutableRawPointer?
    var width: Int
    var height: Int
    var bytesPerRow: Int
    /// Bytes from `baseAddress` to the plane's end.
    var byteCount: Int
  }

  /// What `CVPixelBufferGetBaseAddress` returns.
  var baseAddress: UnsafeMutableRawPointer?
  /// The whole size in bytes, all planes with their padding.
  var dataSize: Int
  /// The answer to `CVPixelBufferGetBytesPerRow`.
  var bytesPerRow: Int
  let isPlanar: Bool
  let planeCount: Int
  /// Never empty: a buffer that is not planar has one entry, for the whole.
  let planes: UnsafeMutablePointer<Plane>
  /// What the memory was laid out for; empty where a program did it.
  let formatPlanes: [PixelFormat.Plane]
  private let release: (@Sendable () -> Void)?
  private let allocation: UnsafeMutableRawPointer?
  /// Set at once for a picture on a surface.
  var mapping: SurfaceMapping?

  init(
    baseAddress: UnsafeMutableRawPointer?, dataSize: Int, bytesPerRow: Int, isPlanar: Bool, planes: [Plane],
    formatPlanes: [PixelFormat.Plane] = [], allocation: UnsafeMutableRawPointer?,
    release: (@Sendable () -> Void)? = nil
  ) {
    self.baseAddress = baseAddress
    self.dataSize = dataSize
    self.bytesPerRow = bytesPerRow
    self.isPlanar = isPlanar
    planeCount = isPlanar ? planes.count : 0
    entries = planes.count
    self.planes = .allocate(capacity: planes.count)
    self.planes.initialize(from: planes, count: planes.count)
    self.formatPlanes = formatPlanes
    self.allocation = allocation
    self.release = release
  }

  private let entries: Int

  /// Memory for a picture of the given layout, in one block, or nil if there is not enough.
  convenience init?(layout: PixelLayout) {
    var block: UnsafeMutableRawPointer?
    // Vector code that reads or writes a row in whole registers goes a little beyond the last one.
    guard
      posix_memalign(&block, PixelLayout.blockAlignment, layout.dataSize + PixelLayout.blockAlignment) == 0,
      let block
    else {
      return nil
    }
    self.init(
      baseAddress: block + layout.planes[0].offset, dataSize: layout.dataSize,
      bytesPerRow: layout.bytesPerRow, isPlanar: layout.isPlanar,
      planes: layout.planes.map {
        Plane(
          baseAddress: block + $0.offset, width: $0.width, height: $0.height, bytesPerRow: $0.bytesPerRow,
          byteCount: $0.start + $0.rows * $0.bytesPerRow - $0.offset)
      },
      formatPlanes: layout.formatPlanes, allocation: block)
  }

  /// Whether the memory goes on a little behind the last row.
  var isPadded: Bool { allocation != nil }

  deinit {
    planes.deinitialize(count: entries)
    planes.deallocate()
    free(allocation)
    release?()
  }
}
