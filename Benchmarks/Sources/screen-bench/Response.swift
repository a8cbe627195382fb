// SPDX-License-Identifier: Apache-2.0
import BenchmarkSupport
import CClipMedia
import Foundation

/// How an encoder answers the events of a desktop, as a viewer sees it behind a link of the bit
/// rate.
struct Response {
  /// The answer to one event.
  struct Answer {
    var event: String
    /// The seconds from the capture of the change until the viewer has a picture whose changed part
    /// is sharp; until the next event where that does not happen.
    var seconds: Double
    /// Whether it becomes sharp before the next event.
    var isSharp: Bool
    /// The mean luma PSNR in dB of the changed part in the first half second.
    var firstQuality: Double
  }

  var answers: [Answer] = []
  /// The bits per second of the clip.
  var rate: Double
  /// The most seconds from the capture of a frame until its last bit is sent.
  var longestWait = 0.0
  /// The mean luma PSNR of all frames in dB, none counted as more than 50 dB.
  var quality = 0.0
  /// For each frame its bits, the seconds that it waits, and the luma PSNR of the whole picture.
  var trace: [(bits: Int, wait: Double, quality: Double)] = []

  /// The luma PSNR in dB from which on a part of a picture counts as sharp.
  static let sharp = 38.0
  /// The PSNR in dB beyond which a picture counts as no better.
  private static let maximum = 50.0
  /// The seconds after an event that `Answer.firstQuality` is the mean of.
  private static let first = 0.5

  /// Decodes a stream with libavcodec and compares it with its source.
  /// - Parameters:
  ///   - units: the access unit of each frame; an empty one repeats the picture before.
  ///   - desktop: the source.
  ///   - rate: the bit rate of the link in bits per second.
  init(_ units: [[UInt8]], of desktop: Desktop, rate: Int) throws {
    let clip = desktop.pictures
    let decoder = try StreamDecoding()
    self.rate = Double(units.reduce(0) { $0 + $1.count } * 8) * clip.frameRate / Double(units.count)
    var wait = 0.0
    for unit in units {
      wait = max(wait - 1 / clip.frameRate, 0) + Double(unit.count * 8) / Double(rate)
      longestWait = max(longestWait, wait)
      trace.append((unit.count * 8, wait, 0))
    }
    var shown = [UInt8](repeating: 0, count: clip.width * clip.height)
    var parts: [[Double]] = Array(repeating: [], count: desktop.events.count)
    var measured = 0
    func measure() {
      let n = measured
      measured += 1
      trace[n].quality = Self.quality(shown, clip, n, 0, 0, clip.width, clip.height)
      quality += min(trace[n].quality, Self.maximum) / Double(units.count)
      guard let i = desktop.events.lastIndex(where: { $0.frame <= n }) else { return }
      let e = desktop.events[i]
      parts[i].append(Self.quality(shown, clip, n, e.x, e.y, e.width, e.height))
    }
    func receive() throws {
      while let picture = try decoder.receive() {
        guard (measured..<units.count).contains(picture.index) else {
          throw BenchmarkError(description: "\(desktop.name): the pictures are not in order")
        }
        while measured < picture.index { measure() }
        shown.withUnsafeMutableBufferPointer { memory in
          guard let base = memory.baseAddress else { return }
          for y in 0..<clip.height {
            (base + y * clip.width).update(
              from: picture.planes[0] + y * picture.bytesPerRow[0], count: clip.width)
          }
        }
        measure()
      }
    }
    for (n, unit) in units.enumerated() where !unit.isEmpty {
      try unit.withUnsafeBufferPointer { try decoder.send($0, index: n) }
      try receive()
    }
    decoder.finish()
    try receive()
    while measured < units.count { measure() }
    for (i, event) in desktop.events.enumerated() {
      let early = parts[i].prefix(max(Int(Self.first * clip.frameRate), 1)).map { min($0, Self.maximum) }
      let sharp = parts[i].firstIndex { $0 >= Self.sharp }
      let frames = sharp ?? desktop.end(of: i) - event.frame
      let last = sharp.map { trace[event.frame + $0].wait } ?? 0
      answers.append(
        Answer(
          event: event.name, seconds: Double(frames) / clip.frameRate + last, isSharp: sharp != nil,
          firstQuality: early.reduce(0, +) / Double(max(early.count, 1))))
    }
  }

  /// The luma PSNR in dB of a rectangle; without error that of a mean squared error of 0.01.
  private static func quality(
    _ shown: [UInt8], _ clip: ClipPictures, _ n: Int, _ x: Int, _ y: Int, _ width: Int, _ height: Int
  ) -> Double {
    let at = y * clip.width + x
    let error = shown.withUnsafeBufferPointer { memory in
      memory.baseAddress.map {
        plane_squared_error(
          clip.picture(n) + at, Int32(clip.width), $0 + at, Int32(clip.width), Int32(width), Int32(height))
      }
    }
    return 10 * log10(255 * 255 / max(Double(error ?? 0) / Double(width * height), 0.01))
  }
}
