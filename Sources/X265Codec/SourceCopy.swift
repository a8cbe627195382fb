// SPDX-License-Identifier: Apache-2.0
#if X265
  import CX265
  import CodecInterface

  /// A copy of a picture that is kept until the coded frame is returned, to measure the error of
  /// coding. libx265 itself measures only where it also writes to the console.
  final class SourceCopy {
    /// The size of a plane in samples, and its offset in `memory` in bytes.
    private struct Plane {
      let offset: Int
      let width: Int
      let height: Int
    }

    /// The samples of all planes, without padding between rows.
    private let memory: UnsafeMutableRawPointer
    private let planes: [Plane]
    /// Whether samples have two bytes, of which the upper ten bits are used.
    private let isWide: Bool

    /// Copies a picture.
    /// - Parameters:
    ///   - views: the planes Y, Cb and Cr.
    ///   - isWide: whether samples have two bytes, of which the upper ten bits are used.
    init(_ views: [PlaneView], isWide: Bool) {
      self.isWide = isWide
      let bytesPerSample = isWide ? 2 : 1
      var planes: [Plane] = []
      var size = 0
      for view in views {
        planes.append(Plane(offset: size, width: view.width, height: view.height))
        size += view.width * view.height * bytesPerSample
      }
      self.planes = planes
      memory = .allocate(byteCount: max(size, 1), alignment: 64)
      for (view, plane) in zip(views, planes) {
        let rowBytes = view.width * bytesPerSample
        for row in 0..<view.height {
          (memory + plane.offset + row * rowBytes).copyMemory(
            from: view.baseAddress + row * view.bytesPerRow, byteCount: rowBytes)
        }
      }
    }

    deinit { memory.deallocate() }

    /// Returns the mean squared errors of Y, Cb and Cr at the bit depth of the stream.
    /// - Parameters:
    ///   - coded: the reconstruction.
    ///   - depth: its bit depth, 8 or 10.
    /// - Returns: nil if a plane is missing.
    func errors(of coded: x265_picture, depth: Int) -> (y: Double, cb: Double, cr: Double)? {
      let bases = [coded.planes.0, coded.planes.1, coded.planes.2]
      let strides = [coded.stride.0, coded.stride.1, coded.stride.2]
      var errors: [Double] = []
      for (index, plane) in planes.enumerated() {
        guard let base = bases[index] else { return nil }
        let start = UnsafeRawPointer(base)
        let own = UnsafeRawPointer(memory) + plane.offset
        let sum =
          switch (isWide, depth > 8) {
          case (false, false): Self.sum(plane, own, UInt8.self, 0, start, Int(strides[index]), UInt8.self)
          case (false, true):
            Self.sum(plane, own, UInt8.self, depth - 8, start, Int(strides[index]), UInt16.self)
          case (true, false): Self.sum(plane, own, UInt16.self, -8, start, Int(strides[index]), UInt8.self)
          case (true, true):
            Self.sum(plane, own, UInt16.self, depth - 16, start, Int(strides[index]), UInt16.self)
          }
        errors.append(Double(sum) / Double(max(plane.width * plane.height, 1)))
      }
      guard errors.count == 3 else { return nil }
      return (errors[0], errors[1], errors[2])
    }

    /// Returns the sum of squared differences of a plane. Samples of the source are first shifted
    /// to the left by `shift` bits, or to the right where it is negative.
    private static func sum<Source: FixedWidthInteger, Coded: FixedWidthInteger>(
      _ plane: Plane, _ source: UnsafeRawPointer, _: Source.Type, _ shift: Int, _ coded: UnsafeRawPointer,
      _ codedRowBytes: Int, _: Coded.Type
    ) -> UInt64 {
      var sum: UInt64 = 0
      for row in 0..<plane.height {
        let a = (source + row * plane.width * MemoryLayout<Source>.size).assumingMemoryBound(to: Source.self)
        let b = (coded + row * codedRowBytes).assumingMemoryBound(to: Coded.self)
        for x in 0..<plane.width {
          let value = shift < 0 ? Int32(a[x]) >> Int32(-shift) : Int32(a[x]) << Int32(shift)
          let difference = Int64(value - Int32(b[x]))
          sum += UInt64(difference * difference)
        }
      }
      return sum
    }
  }
#endif
