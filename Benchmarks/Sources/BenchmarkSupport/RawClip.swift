// SPDX-License-Identifier: Apache-2.0
import CClipMedia
import Foundation

/// A clip that has been decoded once to raw frames in a file, which the measuring processes map
/// into memory. The frames are planar 4:2:0 without padding, one after another.
public struct RawClip: Sendable {
  public let name: String
  public let rawPath: String
  public let width: Int
  public let height: Int
  public let frameRate: Double
  public let frames: Int

  /// - Parameters:
  ///   - limit: the maximum number of frames to decode.
  ///   - halves: how often the width and height are halved; 0 keeps the size of the clip.
  public init(path: String, frames limit: Int, halves: Int = 0) throws {
    let file = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
    name = halves == 0 ? file : "\(file)/\(1 << halves)"
    rawPath = "\(TemporaryFiles.folder)/bench-\(getpid())-\(UUID().uuidString).yuv"
    var properties = ClipFacts()
    var text = [CChar](repeating: 0, count: 256)
    guard clip_decode(path, rawPath, Int32(limit), Int32(halves), &properties, &text) == 0 else {
      try? FileManager.default.removeItem(atPath: rawPath)
      throw BenchmarkError(
        description: String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
    width = Int(properties.width)
    height = Int(properties.height)
    frameRate = properties.frameRate
    frames = Int(properties.frames)
  }

  /// Creates a clip with a scene change every half second. It takes 12 frames from each of several
  /// clips in turn, continuing each clip where its last piece ended. All clips are cropped around
  /// the center to the size that they have in common. Returns nil if a clip is smaller than 128x96.
  public init?(cutting paths: [String], name: String, frames limit: Int) throws {
    let piece = 12
    let clips = try paths.map { try RawClip(path: $0, frames: limit) }
    defer { for clip in clips { clip.remove() } }
    guard let least = clips.map(\.width).min(), let lowest = clips.map(\.height).min(), least >= 128,
      lowest >= 96
    else { return nil }
    let (width, height) = (min(least, 640) & ~15, min(lowest, 360) & ~15)
    var frames: [UInt8] = []
    var count = 0
    var round = 0
    while count < limit {
      var isAny = false
      for clip in clips where (round + 1) * piece <= clip.frames && count + piece <= limit {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: clip.rawPath))
        defer { try? file.close() }
        for i in 0..<piece {
          try file.seek(toOffset: UInt64((round * piece + i) * clip.frameSize))
          guard let data = try file.read(upToCount: clip.frameSize), data.count == clip.frameSize else {
            throw BenchmarkError(description: "\(clip.name): cannot read its frames")
          }
          Self.crop([UInt8](data), clip, width, height, into: &frames)
        }
        count += piece
        isAny = true
      }
      if !isAny { break }
      round += 1
    }
    if count == 0 { return nil }
    rawPath = "\(TemporaryFiles.folder)/bench-\(getpid())-\(UUID().uuidString).yuv"
    try Data(frames).write(to: URL(fileURLWithPath: rawPath))
    self.name = name
    self.width = width
    self.height = height
    frameRate = 25
    self.frames = count
  }

  /// Sixteen hexadecimal digits that distinguish these frames from others with the same name (an
  /// FNV-1a hash of every 61st sample).
  public func fingerprint() throws -> String {
    let data = try Data(contentsOf: URL(fileURLWithPath: rawPath), options: .alwaysMapped)
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    data.withUnsafeBytes { bytes in
      for i in stride(from: 0, to: bytes.count, by: 61) {
        hash = (hash ^ UInt64(bytes[i])) &* 0x100_0000_01B3
      }
    }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  private static func crop(
    _ frame: [UInt8], _ clip: RawClip, _ width: Int, _ height: Int, into output: inout [UInt8]
  ) {
    var start = 0
    for plane in 0..<3 {
      let shift = plane == 0 ? 0 : 1
      let (w, h) = (clip.width >> shift, clip.height >> shift)
      let left = ((clip.width - width) / 2 & ~1) >> shift
      let top = ((clip.height - height) / 2 & ~1) >> shift
      for y in 0..<(height >> shift) {
        let at = start + (top + y) * w + left
        output += frame[at..<(at + (width >> shift))]
      }
      start += w * h
    }
  }

  public func remove() { try? FileManager.default.removeItem(atPath: rawPath) }

  /// The size of a frame in bytes.
  public var frameSize: Int { width * height * 3 / 2 }

  /// Bit rates, each twice the previous one, around the rate that a call would use for this picture
  /// size and frame rate: 600 kb/s to 4.8 Mb/s for 720p at 30 frames per second. Smaller pictures
  /// and lower frame rates need more bits per sample.
  public func bitRates(_ count: Int) -> [Int] {
    let size = pow(Double(width * height) / (1280 * 720), 0.75) * pow(frameRate / 30, 0.6)
    return [600.0, 1200, 2400, 4800].prefix(count).map { Int((($0 * size) / 5).rounded() * 5) * 1000 }
  }
}

/// The folder for large temporary files: in memory if the system has such a folder.
public enum TemporaryFiles {
  public static let folder =
    FileManager.default.isWritableFile(atPath: "/dev/shm")
    ? "/dev/shm" : FileManager.default.temporaryDirectory.path
}
