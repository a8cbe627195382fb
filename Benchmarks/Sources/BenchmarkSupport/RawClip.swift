import CClipMedia
import Foundation

/// A clip decoded to raw frames once, in a file that measuring processes map: planar 4:2:0 without padding, one
/// frame after another.
public struct RawClip: Sendable {
  public let name: String
  public let rawPath: String
  public let width: Int
  public let height: Int
  public let frameRate: Double
  public let frames: Int

  /// - Parameters:
  ///   - limit: the most frames to decode.
  ///   - halves: how often width and height are halved, 0 for the clip's own size.
  public init(path: String, frames limit: Int, halves: Int = 0) throws {
    let file = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
    name = halves == 0 ? file : "\(file)/\(1 << halves)"
    rawPath = "\(TemporaryFiles.folder)/bench-\(getpid())-\(UUID().uuidString).yuv"
    var facts = ClipFacts()
    var text = [CChar](repeating: 0, count: 256)
    guard clip_decode(path, rawPath, Int32(limit), Int32(halves), &facts, &text) == 0 else {
      try? FileManager.default.removeItem(atPath: rawPath)
      throw BenchmarkError(
        description: String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
    width = Int(facts.width)
    height = Int(facts.height)
    frameRate = facts.frameRate
    frames = Int(facts.frames)
  }

  public func remove() { try? FileManager.default.removeItem(atPath: rawPath) }

  /// Bytes of a frame.
  public var frameSize: Int { width * height * 3 / 2 }

  /// Doubling bit rates around what a call would use for this size and frame rate: 600 kb/s to 4.8 Mb/s at
  /// 720p and 30 frames a second; smaller pictures and fewer frames need more bits for each sample.
  public func bitRates(_ count: Int) -> [Int] {
    let size = pow(Double(width * height) / (1280 * 720), 0.75) * pow(frameRate / 30, 0.6)
    return [600.0, 1200, 2400, 4800].prefix(count).map { Int((($0 * size) / 5).rounded() * 5) * 1000 }
  }
}

/// Where large files of a run go: memory, where the system has it.
public enum TemporaryFiles {
  public static let folder =
    FileManager.default.isWritableFile(atPath: "/dev/shm")
    ? "/dev/shm" : FileManager.default.temporaryDirectory.path
}
