// SPDX-License-Identifier: Apache-2.0
import CClipMedia
import Foundation

/// Decodes a stream with libavcodec and compares it with the source. A missing frame is compared as
/// a repetition of the frame before it.
public struct StreamQuality {
  /// The mean of the luma PSNR of all frames in dB, as in the common test conditions of the JVET. A
  /// frame without error is counted with a mean squared error of 0.01.
  public private(set) var psnr: Double
  /// The luma PSNR in dB, calculated from the squared errors of all frames together, as ffmpeg's
  /// psnr filter does for its summary. Short passages of poor quality have more weight here than in
  /// ``psnr``.
  public private(set) var psnrWhole: Double
  /// The mean PSNR of Cb and of Cr of all frames.
  public private(set) var psnrChroma: (cb: Double, cr: Double)
  /// The PSNR calculated from the squared errors of all luma and chroma samples together.
  public private(set) var psnrAll: Double
  /// The mean luma SSIM of all frames.
  public private(set) var ssim: Double
  /// The values of each frame.
  public private(set) var frames: [(psnr: Double, ssim: Double)] = []

  /// - Parameters:
  ///   - stream: the access units, one after another.
  ///   - sizes: the size of each unit in bytes, 0 for a dropped frame.
  ///   - order: the index of the source frame that each unit shows. Nil means that the units are in
  ///     the order of the source.
  ///   - source: the frames, as planar 4:2:0 without padding.
  ///   - name: the name of the stream in error messages.
  public init(
    of stream: [UInt8], sizes: [Int], order: [Int]? = nil, source: UnsafePointer<UInt8>, width: Int,
    height: Int, name: String
  ) throws {
    let decoder = try StreamDecoding()
    let frameSize = width * height * 3 / 2
    var measured: [(psnr: Double, ssim: Double)] = []
    var (cb, cr, all, luma) = (0.0, 0.0, 0.0, 0.0)
    var last = [UInt8](repeating: 0, count: frameSize)

    func decibels(_ error: Double, _ samples: Int) -> Double {
      10 * log10(255 * 255 / max(error / Double(samples), 0.01))
    }
    func compare(_ index: Int, _ planes: [UnsafePointer<UInt8>], _ strides: [Int]) {
      let original = source + index * frameSize
      let (size, rows) = (Int32(width), Int32(height))
      let samples = width * height
      func error(_ plane: Int) -> Double {
        if plane == 0 {
          return Double(plane_squared_error(original, size, planes[0], Int32(strides[0]), size, rows))
        }
        return Double(
          plane_squared_error(
            original + samples + (plane - 1) * (samples / 4), size / 2, planes[plane], Int32(strides[plane]),
            size / 2, rows / 2))
      }
      let errors = (error(0), error(1), error(2))
      luma += errors.0
      cb += decibels(errors.1, samples / 4)
      cr += decibels(errors.2, samples / 4)
      all += decibels(errors.0 + errors.1 + errors.2, frameSize)
      measured.append(
        (
          decibels(errors.0, samples),
          plane_similarity(original, size, planes[0], Int32(strides[0]), size, rows)
        ))
    }
    func compareLast() {
      last.withUnsafeBufferPointer {
        guard let base = $0.baseAddress else { return }
        compare(
          measured.count, [base, base + width * height, base + width * height / 4 * 5],
          [width, width / 2, width / 2])
      }
    }
    func receive() throws {
      while let picture = try decoder.receive() {
        while measured.count < picture.index { compareLast() }
        compare(picture.index, picture.planes, picture.bytesPerRow)
        last = picture.samples(width: width, height: height)
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
    while measured.count < sizes.count { compareLast() }
    psnr = measured.reduce(0) { $0 + $1.psnr } / Double(sizes.count)
    psnrWhole = decibels(luma, width * height * sizes.count)
    psnrChroma = (cb / Double(sizes.count), cr / Double(sizes.count))
    psnrAll = all / Double(sizes.count)
    ssim = measured.reduce(0) { $0 + $1.ssim } / Double(sizes.count)
    frames = measured
  }
}
