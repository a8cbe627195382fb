// SPDX-License-Identifier: Apache-2.0
import Foundation
import VideoBitstream

/// An H.264 movie of ffmpeg's whose parameter set says something else of the order of its pictures,
/// or nothing, and whose order counts may be others.
struct OrderedStream {
  /// The reordering that the sequence parameter set declares.
  enum Statement: String, CaseIterable {
    case encoders, nothing, noReordering
  }

  /// In which order the pictures are shown.
  enum Order: Equatable {
    /// As libx264 does it.
    case encoder
    /// With order counts in steps of 1 instead of 2.
    case halfSteps
    /// Each group of so many pictures backwards: the counts after an IDR picture are negative.
    case backwards(Int)
  }

  /// libx264's options.
  let options: String
  let order: Order
  let statement: Statement
  static let count = 60

  /// Writes the movie as `name.mov`, `name.mkv`, `name.ts` and `name.264`.
  /// - Returns: The sums of its pictures, as they are shown.
  func write(_ scratch: Scratch, _ name: String) throws -> [String] {
    let plain = scratch.file("plain-\(name).mov")
    try Tool.run(
      [
        "ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i",
        "testsrc2=size=160x128:rate=25", "-frames:v", "\(Self.count)", "-pix_fmt", "yuv420p", "-c:v",
        "libx264",
        "-profile:v", "main", "-x264-params", "weightp=0:slices=1:threads=1:scenecut=0:\(options)", plain,
      ])
    let sums = try ReaderTests.frameMD5s(plain, ["-pix_fmt", "yuv420p"])
    let raw = scratch.file("plain-\(name).264")
    try Tool.run(["ffmpeg", "-v", "error", "-y", "-i", plain, "-c", "copy", "-f", "h264", raw])
    let stream = scratch.file(name + ".264")
    try rewritten(Data(contentsOf: URL(fileURLWithPath: raw))).write(to: URL(fileURLWithPath: stream))
    // Times of the plain movie, or those that the other order has.
    var times = "pts='\(Self.times(try Self.ranks(plain)))':dts=N-16:time_base=1/25:duration=1"
    var edits: [String] = []
    if case .backwards(let group) = order {
      // The muxer would have the movie begin with the first picture that is stored, though others
      // are shown before it.
      edits = ["-use_editlist", "0"]
      times =
        "pts='floor(N/\(group))*\(group)+\(group - 1)-mod(N\\,\(group))':dts=N-16:time_base=1/25:duration=1"
    }
    for ending in ["mov", "mkv", "ts"] {
      try Tool.run(
        [
          "ffmpeg", "-v", "error", "-y", "-f", "h264", "-r", "25", "-i", stream, "-c", "copy", "-bsf:v",
          "setts=\(times)", "-video_track_timescale", "25",
        ] + (ending == "mov" ? edits : []) + [scratch.file("\(name).\(ending)")])
    }
    guard case .backwards(let group) = order else { return sums }
    return sums.indices.map { sums[$0 / group * group + group - 1 - $0 % group] }
  }

  /// The place in the order of presentation of each picture of a movie, in decode order.
  private static func ranks(_ path: String) throws -> [Int] {
    let text = try Tool.run(
      [
        "ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts", "-of", "csv=p=0",
        path,
      ])
    let times = text.split(separator: "\n").compactMap { Int($0.prefix { $0 != "," }) }
    let sorted = times.sorted()
    return times.map { time in sorted.firstIndex(of: time) ?? 0 }
  }

  /// As an expression of N.
  private static func times(_ ranks: [Int]) -> String {
    ranks.enumerated().map { "eq(N\\,\($0))*\($1)" }.joined(separator: "+")
  }

  // MARK: The stream

  private func rewritten(_ data: Data) throws -> Data {
    var result = Data()
    var frameNumBits = 4
    var countBits = 4
    var last = 0
    var place = 0
    for unit in Self.units(data) {
      var out = unit
      switch unit[0] & 31 {
      case 6, 9: continue
      case 7:
        var set = try H264SequenceParameterSet(nalUnit: unit)
        guard set.pictureOrderCountType == 0 else { throw Tool.Failure(description: "no order counts") }
        (frameNumBits, countBits) = (set.log2MaxFrameNum, set.log2MaxPictureOrderCountLSB)
        switch statement {
        case .encoders: break
        case .nothing: set.vui = nil
        case .noReordering: set.vui?.restriction?.maxReorderFrames = 0
        }
        out = set.nalUnit
      case 1, 5:
        var bits = Bits(payload: Self.unescaped(unit.dropFirst()))
        _ = (bits.ue(), bits.ue(), bits.ue())
        bits.place += frameNumBits
        if unit[0] & 31 == 5 {
          _ = bits.ue()
          (last, place) = (0, 0)
        }
        let (range, stored) = (1 << countBits, bits.peek(countBits))
        let difference = ((stored - last + range / 2) % range + range) % range - range / 2
        let count = last + difference
        if unit[0] & 0x60 != 0 { last = count }
        switch order {
        case .encoder: break
        case .halfSteps: bits.put((count / 2 + range) % range, countBits)
        case .backwards: bits.put((range - 2 * place) % range, countBits)
        }
        place += 1
        out = [unit[0]] + Self.escaped(bits.bytes)
      default: break
      }
      result += [0, 0, 0, 1] + out
    }
    return result
  }

  private static func units(_ data: Data) -> [[UInt8]] {
    let bytes = [UInt8](data)
    var starts: [Int] = []
    for at in 0..<max(0, bytes.count - 3) where bytes[at] == 0 && bytes[at + 1] == 0 && bytes[at + 2] == 1 {
      starts.append(at + 3)
    }
    return starts.indices.map { index in
      var unit = bytes[starts[index]..<(index + 1 < starts.count ? starts[index + 1] - 3 : bytes.count)]
      while unit.last == 0 { unit.removeLast() }
      return Array(unit)
    }
  }

  private static func unescaped(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var (result, zeros) = ([UInt8](), 0)
    for byte in bytes {
      if zeros >= 2, byte == 3 {
        zeros = 0
      } else {
        result.append(byte)
        zeros = byte == 0 ? zeros + 1 : 0
      }
    }
    return result
  }

  private static func escaped(_ bytes: [UInt8]) -> [UInt8] {
    var (result, zeros) = ([UInt8](), 0)
    for byte in bytes {
      if zeros >= 2, byte <= 3 {
        result.append(3)
        zeros = 0
      }
      result.append(byte)
      zeros = byte == 0 ? zeros + 1 : 0
    }
    return result
  }

  private struct Bits {
    var bytes: [UInt8]
    var place = 0

    init(payload: [UInt8]) { bytes = payload }

    func bit(_ at: Int) -> Int { Int(bytes[at / 8] >> (7 - UInt8(at % 8)) & 1) }
    func peek(_ count: Int) -> Int { (0..<count).reduce(0) { $0 << 1 | bit(place + $1) } }

    mutating func ue() -> Int {
      var zeros = 0
      while bit(place) == 0 {
        place += 1
        zeros += 1
      }
      defer { place += zeros + 1 }
      return peek(zeros + 1) - 1
    }

    mutating func put(_ value: Int, _ count: Int) {
      for index in 0..<count {
        let at = place + index
        let mask = UInt8(0x80) >> UInt8(at % 8)
        let isSet = value >> (count - 1 - index) & 1 == 1
        bytes[at / 8] = isSet ? bytes[at / 8] | mask : bytes[at / 8] & ~mask
      }
    }
  }
}
