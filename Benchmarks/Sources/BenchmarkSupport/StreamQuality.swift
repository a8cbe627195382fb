// SPDX-License-Identifier: Apache-2.0
import CClipMedia
import Foundation

/// Decodes a stream with libavcodec and compares it with the source. A frame that is missing shows the one
/// before it.
public struct StreamQuality {
  /// Mean of the frames' PSNR of luma in dB, as the JVET's common test conditions have it; a frame without
  /// error counts as one whose mean squared error is 0.01.
  public private(set) var psnr: Double
  /// Mean of the frames' SSIM of luma.
  public private(set) var ssim: Double
  /// Of each frame.
  public private(set) var frames: [(psnr: Double, ssim: Double)] = []

  /// - Parameters:
  ///   - stream: access units, one after another.
  ///   - sizes: bytes of each unit, 0 for a frame that was dropped.
  ///   - order: of each unit the source frame that it shows; nil: one after the other.
  ///   - source: the frames, planar 4:2:0 without padding.
  ///   - name: what an error calls the stream.
  public init(
    of stream: [UInt8], sizes: [Int], order: [Int]? = nil, source: UnsafePointer<UInt8>, width: Int,
    height: Int, name: String
  ) throws {
    let decoder = try StreamDecoding()
    let frameSize = width * height * 3 / 2
    var measured: [(psnr: Double, ssim: Double)] = []
    var last = [UInt8](repeating: 0, count: width * height)

    func compare(_ index: Int, _ luma: UnsafePointer<UInt8>, _ stride: Int) {
      let original = source + index * frameSize
      let (size, rows) = (Int32(width), Int32(height))
      let error = Double(plane_squared_error(original, size, luma, Int32(stride), size, rows))
      measured.append(
        (
          10 * log10(255 * 255 / max(error / Double(width * height), 0.01)),
          plane_similarity(original, size, luma, Int32(stride), size, rows)
        ))
    }
    func receive() throws {
      while let picture = try decoder.receive() {
        while measured.count < picture.index { compare(measured.count, last, width) }
        let luma = picture.planes[0]
        let stride = picture.bytesPerRow[0]
        compare(picture.index, luma, stride)
        last.withUnsafeMutableBufferPointer {
          guard let base = $0.baseAddress else { return }
          for row in 0..<height { (base + row * width).update(from: luma + row * stride, count: width) }
        }
      }
    }
    do {
      try stream.withUnsafeBufferPointer { bytes in
        var position = 0
        for (i, size) in sizes.enumerated() where size > 0 {
          try decoder.send(
            UnsafeBufferPointer(rebasing: bytes[position..<(position + size)]), index: order?[i] ?? i)
          position += size
          try receive()
        }
      }
      decoder.finish()
      try receive()
    } catch let error as BenchmarkError {
      throw BenchmarkError(description: "\(name): \(error.description)")
    }
    while measured.count < sizes.count { compare(measured.count, last, width) }
    psnr = measured.reduce(0) { $0 + $1.psnr } / Double(sizes.count)
    ssim = measured.reduce(0) { $0 + $1.ssim } / Double(sizes.count)
    frames = measured
  }
}
