import CClipMedia
import Foundation

/// A clip decoded to raw frames once, in a file that the measuring processes map.
struct RawClip {
  let name: String
  let rawPath: String
  let width: Int
  let height: Int
  let frameRate: Double
  let frames: Int

  init(path: String, frames limit: Int) throws {
    name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
    let folder =
      FileManager.default.isWritableFile(atPath: "/dev/shm")
      ? "/dev/shm" : FileManager.default.temporaryDirectory.path
    rawPath = "\(folder)/bench-\(getpid())-\(UUID().uuidString).yuv"
    var facts = ClipFacts()
    let text = UnsafeMutablePointer<CChar>.allocate(capacity: 256)
    text.initialize(repeating: 0, count: 256)
    defer { text.deallocate() }
    guard clip_decode(path, rawPath, Int32(limit), &facts, text) == 0 else {
      try? FileManager.default.removeItem(atPath: rawPath)
      throw OptionError(description: String(cString: text))
    }
    width = Int(facts.width)
    height = Int(facts.height)
    frameRate = facts.frameRate
    frames = Int(facts.frames)
  }

  func remove() { try? FileManager.default.removeItem(atPath: rawPath) }

  /// Doubling bit rates around what a call would use for this size and frame rate: 600 kb/s to 4.8 Mb/s at
  /// 720p and 30 frames a second; smaller pictures and fewer frames need more bits for each sample.
  func bitRates(_ count: Int) -> [Int] {
    let size = pow(Double(width * height) / (1280 * 720), 0.75) * pow(frameRate / 30, 0.6)
    return [600.0, 1200, 2400, 4800].prefix(count).map { Int((($0 * size) / 5).rounded() * 5) * 1000 }
  }
}
