// SPDX-License-Identifier: Apache-2.0
/// The memory of a pixel buffer and the layout of its planes. It is immutable, except for a buffer
/// on a surface: there addresses, row lengths and the size change with the first lock and the last
/// unlock.
final class PixelStorage: @unchecked Sendable {
  // Sendable: addresses change only in the initialiser, or when the buffer's lock maps the surface;
  // programs guard the pixels.
  struct Plane {
    /// The address of the picture's first pixel, after any extended pixels.
    var baseAddress: UnsafeMutableRawPointer?
    var width: Int
    var height: Int
    var bytesPerRow: Int
    /// The number of bytes from `baseAddress` to the plane's end.
    var byteCount: Int
  }

  /// The address that `CVPixelBufferGetBaseAddress` returns.
  var baseAddress: UnsafeMutableRawPointer?
  /// The size in bytes of all planes with their padding.
  var dataSize: Int
  /// The distance of rows that `CVPixelBufferGetBytesPerRow` returns.
  var bytesPerRow: Int
  let isPlanar: Bool
  let planeCount: Int
  /// The planes; one entry, of the entire picture, for a buffer that is not planar.
  let planes: UnsafeMutablePointer<Plane>
  /// The planes of the pixel format that Core Video has laid the memory out for; empty for a
  /// program's memory.
  let formatPlanes: [PixelFormat.Plane]
  /// Called in the end, for a program's memory.
  private let release: (@Sendable () -> Void)?
  /// The memory that Core Video has allocated; nil for a program's memory and for a surface.
  private let allocation: UnsafeMutableRawPointer?
  /// The mapping of the picture's surface, set right after the initialiser; nil for a picture in
  /// memory.
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

  /// The number of elements of `planes`.
  private let entries: Int

  /// Allocates memory for a picture, in one block; nil if there is not enough.
  convenience init?(layout: PixelLayout) {
    var block: UnsafeMutableRawPointer?
    // Padding follows the last row, because vector code reads and writes rows in entire registers.
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

  /// Whether padding follows the last row.
  var isPadded: Bool { allocation != nil }

  deinit {
    planes.deinitialize(count: entries)
    planes.deallocate()
    free(allocation)
    release?()
  }
}
