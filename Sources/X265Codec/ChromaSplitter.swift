// SPDX-License-Identifier: Apache-2.0
#if X265
  import CodecInterface
  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// Splits a plane of interleaved Cb and Cr samples into two planes, in memory that is reused for
  /// each frame.
  final class ChromaSplitter {
    /// The memory of both planes; nil before the first call.
    private var memory: UnsafeMutableRawPointer?
    /// The size of `memory` in bytes.
    private var capacity = 0

    deinit { free(memory) }

    /// Splits a plane.
    /// - Parameters:
    ///   - plane: the interleaved plane; its width counts pairs of samples.
    ///   - bytesPerSample: 1 or 2.
    /// - Returns: the planes of Cb and Cr, valid until the next call.
    /// - Throws: `CodecError.outOfMemory`.
    func split(_ plane: PlaneView, bytesPerSample: Int) throws(CodecError) -> (cb: PlaneView, cr: PlaneView) {
      let rowBytes = (plane.width * bytesPerSample + 63) & ~63
      let planeBytes = rowBytes * plane.height
      if capacity < planeBytes * 2 {
        free(memory)
        memory = nil
        capacity = 0
        var aligned: UnsafeMutableRawPointer?
        guard posix_memalign(&aligned, 64, planeBytes * 2) == 0 else { throw .outOfMemory }
        memory = aligned
        capacity = planeBytes * 2
      }
      guard let memory else { throw .outOfMemory }
      let first = memory
      let second = memory + planeBytes
      for row in 0..<plane.height {
        let source = plane.baseAddress + row * plane.bytesPerRow
        let cb = first + row * rowBytes
        let cr = second + row * rowBytes
        if bytesPerSample == 1 {
          splitBytes(source, cb, cr, count: plane.width)
        } else {
          splitWords(source, cb, cr, count: plane.width)
        }
      }
      func view(_ base: UnsafeMutableRawPointer) -> PlaneView {
        PlaneView(baseAddress: base, bytesPerRow: rowBytes, width: plane.width, height: plane.height)
      }
      return (view(first), view(second))
    }

    /// Splits sixteen pairs at a time, since SIMD types compile to shuffles.
    private func splitBytes(
      _ source: UnsafeRawPointer, _ cb: UnsafeMutableRawPointer, _ cr: UnsafeMutableRawPointer, count: Int
    ) {
      var x = 0
      while x + 16 <= count {
        let pairs = source.loadUnaligned(fromByteOffset: 2 * x, as: SIMD32<UInt8>.self)
        cb.storeBytes(of: pairs.evenHalf, toByteOffset: x, as: SIMD16<UInt8>.self)
        cr.storeBytes(of: pairs.oddHalf, toByteOffset: x, as: SIMD16<UInt8>.self)
        x += 16
      }
      while x < count {
        cb.storeBytes(of: source.load(fromByteOffset: 2 * x, as: UInt8.self), toByteOffset: x, as: UInt8.self)
        cr.storeBytes(
          of: source.load(fromByteOffset: 2 * x + 1, as: UInt8.self), toByteOffset: x, as: UInt8.self)
        x += 1
      }
    }

    private func splitWords(
      _ source: UnsafeRawPointer, _ cb: UnsafeMutableRawPointer, _ cr: UnsafeMutableRawPointer, count: Int
    ) {
      var x = 0
      while x + 8 <= count {
        let pairs = source.loadUnaligned(fromByteOffset: 4 * x, as: SIMD16<UInt16>.self)
        cb.storeBytes(of: pairs.evenHalf, toByteOffset: 2 * x, as: SIMD8<UInt16>.self)
        cr.storeBytes(of: pairs.oddHalf, toByteOffset: 2 * x, as: SIMD8<UInt16>.self)
        x += 8
      }
      while x < count {
        let cbValue = source.loadUnaligned(fromByteOffset: 4 * x, as: UInt16.self)
        let crValue = source.loadUnaligned(fromByteOffset: 4 * x + 2, as: UInt16.self)
        cb.storeBytes(of: cbValue, toByteOffset: 2 * x, as: UInt16.self)
        cr.storeBytes(of: crValue, toByteOffset: 2 * x, as: UInt16.self)
        x += 1
      }
    }
  }
#endif
