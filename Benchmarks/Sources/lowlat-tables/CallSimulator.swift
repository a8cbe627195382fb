// SPDX-License-Identifier: Apache-2.0
import BenchmarkSupport
import Foundation

/// Runs `vtencode call` as a user would, with a clip as the input file, and reads its record.
struct CallSimulator {
  let program: String

  /// Runs a call with the first pictures of a clip, played forwards and backwards.
  func call(_ movie: LoopedMovie, _ arguments: [String]) throws -> CallRecord {
    let path = "\(TemporaryFiles.folder)/bench-\(getpid())-record.json"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = ["call", movie.path, "--record", path] + arguments
    process.standardOutput = FileHandle.nullDevice
    do { try process.run() } catch {
      throw BenchmarkError(
        description: "cannot run '\(program)'; build it, or name it with --vtencode")
    }
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw BenchmarkError(description: "vtencode call \(arguments.joined(separator: " ")) failed")
    }
    return try JSONDecoder().decode(CallRecord.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
  }
}

/// A clip played forwards and backwards, as a file of raw frames (Y4M) that is deleted with this
/// object.
final class LoopedMovie {
  let path: String

  init(_ clip: TableClip, seconds: Double) throws {
    path = "\(TemporaryFiles.folder)/bench-\(getpid())-\(UUID().uuidString).y4m"
    let pictures = clip.pictures
    guard let file = fopen(path, "w") else { throw BenchmarkError(description: "cannot write \(path)") }
    var isWhole = true
    let rate = Int((clip.frameRate * 1000).rounded())
    let header = "YUV4MPEG2 W\(pictures.width) H\(pictures.height) F\(rate):1000 Ip C420jpeg\n"
    isWhole = fputs(header, file) >= 0
    for number in 0..<Int(clip.frameRate * seconds) where isWhole {
      isWhole =
        fputs("FRAME\n", file) >= 0
        && fwrite(pictures.picture(number), 1, pictures.pictureSize, file) == pictures.pictureSize
    }
    guard fclose(file) == 0, isWhole else {
      try? FileManager.default.removeItem(atPath: path)
      throw BenchmarkError(description: "cannot write \(path)")
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// The parts of the output of `vtencode call --record` that the tables need.
struct CallRecord: Decodable {
  struct Frame: Decodable {
    var time: Double
    var rate: Int
    var bytes: Int
    var isDropped: Bool
    var isKeyFrame: Bool
    var isRepair: Bool
  }
  struct Shown: Decodable {
    var time: Double?
    var quality: Double?
    var isDamaged: Bool
    var queueingDelay: Double
  }
  struct Freeze: Decodable { var length: Double }
  struct Receiver: Decodable {
    var decodeErrors: Int
    var freezes: [Freeze]
    var shown: [Shown]
  }

  var duration: Double
  var frames: [Frame]
  var receivers: [Receiver]

  var bits: Int { frames.reduce(0) { $0 + $1.bytes } * 8 }
  var repairs: [Frame] { frames.filter(\.isRepair) }

  /// The mean size in bytes of the frames that are neither key frames nor repairs.
  var typicalSize: Double {
    let others = frames.filter { !$0.isDropped && !$0.isKeyFrame && !$0.isRepair }
    return others.isEmpty ? 0 : Double(others.reduce(0) { $0 + $1.bytes }) / Double(others.count)
  }

  /// The times in seconds from the capture of a picture until the first receiver showed it.
  var delays: [Double] {
    zip(frames, receivers[0].shown).compactMap { frame, shown in shown.time.map { $0 - frame.time } }
  }

  /// The mean PSNR of the pictures that the first receiver shows.
  var quality: Double? {
    let all = receivers[0].shown.compactMap(\.quality)
    return all.isEmpty ? nil : all.reduce(0, +) / Double(all.count)
  }
}
