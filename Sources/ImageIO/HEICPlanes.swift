// SPDX-License-Identifier: Apache-2.0
#if HEVC
  import HEVCEncoder

  /// A picture in YCbCr 4:2:0 with the full range of 8 bits.
  final class HEICPlanes {
    /// Where samples of chroma lie (chroma_sample_loc_type of ITU-T H.265, E.3.1): in the middle of
    /// four samples of luma, as in JPEG files, and as decoders of still pictures assume.
    static let chromaLocation = 1

    private let width: Int
    private let height: Int
    private let luma: UnsafeMutablePointer<UInt8>
    private let cb: UnsafeMutablePointer<UInt8>
    private let cr: UnsafeMutablePointer<UInt8>

    /// Creates a gray picture with an even width and height.
    init(width: Int, height: Int) {
      (self.width, self.height) = (width, height)
      func plane(_ count: Int) -> UnsafeMutablePointer<UInt8> {
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: count)
        memory.initialize(repeating: 128, count: count)
        return memory
      }
      luma = plane(width * height)
      cb = plane(width * height / 4)
      cr = plane(width * height / 4)
    }

    deinit {
      for plane in [luma, cb, cr] { plane.deallocate() }
    }

    /// The picture, which is valid as long as this object.
    var picture: SourcePicture {
      SourcePicture(
        width: width, height: height, luma: luma, lumaBytesPerRow: width,
        chroma: .planar(cb: cb, cbBytesPerRow: width / 2, cr: cr, crBytesPerRow: width / 2))
    }

    /// Fills luma with the alpha of a part of an image.
    /// - Parameters:
    ///   - source: The image. Its last column and its last row are repeated beyond its edges.
    ///   - x: The first column of the part.
    ///   - y: The first row of the part.
    func fillAlpha(_ source: HEICSource, x: Int, y: Int) {
      source.pixels.withUnsafeBufferPointer { pixels in
        for row in 0..<height {
          let line = min(y + row, source.height - 1) * source.width
          for column in 0..<width {
            luma[row * width + column] = pixels[4 * (line + min(x + column, source.width - 1)) + 3]
          }
        }
      }
    }

    /// Fills all planes with a part of an image.
    ///
    /// A sample of chroma is the mean of the four pixels around it, as `chromaLocation` says.
    /// - Parameters:
    ///   - source: The image. Its last column and its last row are repeated beyond its edges.
    ///   - x: The first column of the part.
    ///   - y: The first row of the part.
    ///   - matrix: The matrix as a code point of ITU-T H.273.
    func fill(_ source: HEICSource, x: Int, y: Int, matrix: UInt8) {
      let conversion = Conversion(matrix: matrix)
      source.pixels.withUnsafeBufferPointer { pixels in
        for row in 0..<height {
          let line = min(y + row, source.height - 1) * source.width
          for column in 0..<width {
            let place = 4 * (line + min(x + column, source.width - 1))
            luma[row * width + column] = conversion.luma(
              Int32(pixels[place]), Int32(pixels[place + 1]), Int32(pixels[place + 2]))
          }
        }
        for row in 0..<height / 2 {
          let upper = min(y + 2 * row, source.height - 1) * source.width
          let lower = min(y + 2 * row + 1, source.height - 1) * source.width
          for column in 0..<width / 2 {
            let left = min(x + 2 * column, source.width - 1)
            let right = min(x + 2 * column + 1, source.width - 1)
            func sum(_ channel: Int) -> Int32 {
              func value(_ place: Int) -> Int32 { Int32(pixels[4 * place + channel]) }
              return value(upper + left) + value(upper + right) + value(lower + left)
                + value(lower + right)
            }
            let chroma = conversion.chroma(sum(0), sum(1), sum(2))
            cb[row * (width / 2) + column] = chroma.cb
            cr[row * (width / 2) + column] = chroma.cr
          }
        }
      }
    }

    /// The conversion of red, green and blue with a full range (ITU-T H.273, 8.3), in fixed point
    /// with 16 bits.
    private struct Conversion {
      private let luma: (r: Int32, g: Int32, b: Int32)
      private let cb: (r: Int32, g: Int32)
      private let cr: (g: Int32, b: Int32)
      /// Half of the mean of four pixels, of their sum.
      private static let half: Int32 = 65536 / 8

      init(matrix: UInt8) {
        let (red, blue) = HEIFColor.lumaWeights(matrix: matrix)
        func fixed(_ value: Double) -> Int32 { Int32((value * 65536).rounded()) }
        luma = (fixed(red), 65536 - fixed(red) - fixed(blue), fixed(blue))
        // The weights of a colour difference add up to 0, so that gray stays gray.
        let (cbRed, crBlue) = (fixed(-red / (1 - blue) / 8), fixed(-blue / (1 - red) / 8))
        cb = (cbRed, -Self.half - cbRed)
        cr = (-Self.half - crBlue, crBlue)
      }

      func luma(_ r: Int32, _ g: Int32, _ b: Int32) -> UInt8 {
        Self.byte(luma.r * r + luma.g * g + luma.b * b)
      }

      /// Converts the sum of four pixels.
      func chroma(_ r: Int32, _ g: Int32, _ b: Int32) -> (cb: UInt8, cr: UInt8) {
        let middle: Int32 = 128 << 16
        return (
          Self.byte(cb.r * r + cb.g * g + Self.half * b + middle),
          Self.byte(Self.half * r + cr.g * g + cr.b * b + middle)
        )
      }

      private static func byte(_ value: Int32) -> UInt8 { UInt8(max(0, min(255, (value + 32768) >> 16))) }
    }
  }
#endif
