import Foundation

/// Pictures in memory, NV12 without padding.
final class Clip {
  let name: String
  let width: Int
  let height: Int
  let frameRate: Double
  private let pictures: [UInt8]
  let count: Int

  private init(name: String, width: Int, height: Int, frameRate: Double, pictures: [UInt8]) {
    self.name = name
    self.width = width
    self.height = height
    self.frameRate = frameRate
    self.pictures = pictures
    count = pictures.count / (width * height * 3 / 2)
  }

  /// Calls `body` with a picture; numbers beyond the end run back and forth, so that there is no cut.
  func withPicture<R>(_ number: Int, _ body: (UnsafePointer<UInt8>) throws -> R) rethrows -> R {
    let lap = max(2 * (count - 1), 1)
    let place = number % lap
    let index = place < count ? place : lap - place
    return try pictures.withUnsafeBufferPointer { try body($0.baseAddress! + index * width * height * 3 / 2) }
  }

  // MARK: - Movies, through ffmpeg

  static func movie(_ path: String, maximumFrames: Int, halves: Int) throws -> Clip {
    let facts = try run(
      "ffprobe",
      [
        "-v", "error", "-select_streams", "v:0", "-show_entries", "stream=width,height,r_frame_rate", "-of",
        "default=nk=1:nw=1", path,
      ])
    let lines = String(decoding: facts, as: UTF8.self).split(whereSeparator: \.isNewline)
    guard lines.count >= 3, var width = Int(lines[0]), var height = Int(lines[1]) else {
      throw BenchError(text: "\(path) is no movie")
    }
    let ratio = lines[2].split(separator: "/").compactMap { Double($0) }
    let rate = ratio.count == 2 && ratio[1] > 0 ? ratio[0] / ratio[1] : 30
    width = width >> halves & ~1
    height = height >> halves & ~1
    let data = try run(
      "ffmpeg",
      [
        "-v", "error", "-i", path, "-vf", "scale=\(width):\(height)", "-frames:v", "\(maximumFrames)", "-f",
        "rawvideo", "-pix_fmt", "nv12", "-",
      ])
    let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
    return Clip(name: name, width: width, height: height, frameRate: rate, pictures: [UInt8](data))
  }

  private static func run(_ tool: String, _ arguments: [String]) throws -> Data {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [tool] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw BenchError(text: "\(tool) failed") }
    return data
  }

  // MARK: - Made up

  /// Ten seconds of what rate controls hate: stillness, cuts, flashes, noise that comes and goes, fast motion.
  static func torture(width: Int = 640, height: Int = 360) -> Clip {
    let frames = 300
    let size = width * height
    var pictures = [UInt8](repeating: 128, count: frames * size * 3 / 2)
    var state: UInt32 = 7
    let side = 1024
    // Two octaves of value noise.
    var texture = [UInt8](repeating: 0, count: side * side)
    var grid = [Int](repeating: 0, count: 128 * 128)
    for i in grid.indices {
      state = state &* 1_664_525 &+ 1_013_904_223
      grid[i] = Int(state >> 24)
    }
    for y in 0..<side {
      for x in 0..<side {
        let coarse = grid[(y / 32) * 128 + x / 32]
        let fine = grid[(y / 8 % 128) * 128 + x / 8 % 128]
        texture[y * side + x] = UInt8((coarse * 3 + fine) / 4)
      }
    }
    for n in 0..<frames {
      let second = n / 30
      let isNoisy = second == 4 || second == 7
      let moves = second >= 1 && second != 9
      // Cuts at 2 s and 3 s, and four in the sixth second.
      let scene = second < 2 ? 0 : second < 3 ? 1 : second < 6 ? 2 : second == 6 ? 3 + n % 30 / 8 : 7
      let speed = second == 5 ? 11 : 2
      let left = (scene * 137 + (moves ? n * speed : 30 * speed)) % (side - width)
      let top = (scene * 71 + (moves ? n : 30)) % (side - height)
      let flash = second == 8 && n % 10 == 3 ? 60 : 0
      for y in 0..<height {
        for x in 0..<width {
          var value = Int(texture[(y + top) * side + x + left]) + flash
          if isNoisy {
            state = state &* 1_664_525 &+ 1_013_904_223
            value += Int(state >> 26) - 32
          }
          pictures[n * size * 3 / 2 + y * width + x] = UInt8(max(0, min(255, value)))
        }
      }
    }
    return Clip(name: "torture", width: width, height: height, frameRate: 30, pictures: pictures)
  }
}

struct BenchError: Error, CustomStringConvertible {
  var text: String
  var description: String { text }
}
