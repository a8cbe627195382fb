// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// The file that `vtencode split` writes. It describes the segments in which a movie is encoded by
/// `vtencode encode-segment`, on any machine. docs/parts.md describes the format, and
/// docs/parts.schema.json is its schema.
struct EncodingPlanFile: Codable, Sendable {
  static let format = "vtencode encoding plan"
  static let version = 1

  /// The largest number of frames, as for `--frames`.
  static let maxFrames = Int(Int32.max)
  /// The longest duration in seconds that sessions take as a time, 2283 years.
  static let maxSeconds = 7.2e10

  /// The largest size of a plan in bytes; a segment takes some 400.
  static let maxBytes = PartFolder.maxSegments * 1024

  var format = Self.format
  var version = Self.version
  var source: SourceIdentity
  var settings: PlanSettings
  /// The number of pictures of the whole movie, as it is encoded.
  var frames: Int
  /// The duration of the pictures in seconds.
  var seconds: Double
  var segments: [PlannedSegment]
  /// The MD5 of the rest of the plan. The records of segments carry it too, so that segments of
  /// another plan are not joined.
  var checksum = ""
}

/// A segment of the movie: consecutive pictures in presentation order.
struct PlannedSegment: Codable, Sendable {
  /// The segment's index, from 0.
  var index: Int
  /// The index of its first picture in the movie, from 0.
  var firstFrame: Int
  var frames: Int
  /// The presentation time of its first picture.
  var start: PlannedTime
  /// The presentation time of the next segment's first picture, or the end of the last picture.
  var end: PlannedTime
  /// The segment's share of the bits that the analysis took at constant quality, 0 to 1.
  var complexity: Double
  /// The bit rate to aim at, in bits a second; nil if the movie is encoded at constant quality.
  var bitRate: Int?
  /// The MD5 of the analysis's statistics of its pictures, which are stored in the plan's folder;
  /// nil if the encoder collects them itself.
  var statistics: String?

  var seconds: Double { (end.time - start.time).seconds }
  /// The indices of its frames in the movie.
  var range: Range<Int> { firstFrame..<firstFrame + frames }
}

/// A rational time, as a `CMTime`.
struct PlannedTime: Codable, Sendable {
  var value: Int64
  /// Units per second.
  var timescale: Int32

  init(_ time: CMTime) { (value, timescale) = (time.value, time.timescale) }

  var time: CMTime { CMTime(value: value, timescale: timescale) }
}

extension EncodingPlanFile {
  /// Reads a plan.
  /// - Throws: a `Failure` if the file is not a plan, is damaged, or has another version.
  static func read(_ path: String) throws -> EncodingPlanFile {
    let data: Data
    do {
      data = try RegularFile.contents(path, maximum: maxBytes)
    } catch {
      throw Failure("cannot read the plan: \(RegularFile.failure(error, path).message)")
    }
    struct Kind: Decodable {
      var format: String
      var version: Int
    }
    guard let kind = try? JSONDecoder().decode(Kind.self, from: data), kind.format == format else {
      throw Failure("'\(path)' is not a plan of vtencode split, or is damaged; make it again")
    }
    guard kind.version == version else {
      throw Failure(
        "the plan '\(path)' has version \(kind.version), and this vtencode reads \(version); make it again")
    }
    guard let plan = try? JSONDecoder().decode(EncodingPlanFile.self, from: data),
      try plan.computedChecksum() == plan.checksum, plan.isConsistent
    else {
      throw Failure(
        "the plan '\(path)' is damaged or was changed (its checksum does not match); make it "
          + "again")
    }
    return plan
  }

  /// The plan as it is stored, with its checksum.
  func encoded() throws -> Data {
    var plan = self
    plan.checksum = try computedChecksum()
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    return try encoder.encode(plan)
  }

  func computedChecksum() throws -> String {
    var plan = self
    plan.checksum = ""
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return FileDigest.md5(try encoder.encode(plan))
  }

  /// Whether the numbers are consistent and in their ranges, which a checksum does not ensure.
  private var isConsistent: Bool {
    // The sums of frames below cannot overflow, since each summand is bounded.
    guard !segments.isEmpty, (1...Self.maxFrames).contains(frames), seconds > 0,
      seconds <= 2 * Self.maxSeconds,
      segments.count <= PartFolder.maxSegments
    else {
      return false
    }
    var next = 0
    for (number, segment) in segments.enumerated() {
      guard segment.index == number, segment.firstFrame == next, (1...frames).contains(segment.frames),
        segment.start.timescale > 0, segment.end.timescale > 0, segment.end.time > segment.start.time,
        abs(segment.start.time.seconds) <= Self.maxSeconds,
        abs(segment.end.time.seconds) <= Self.maxSeconds,
        segment.bitRate.map({ BitRate.segments.contains($0) }) ?? (settings.quality != nil)
      else { return false }
      next += segment.frames
      if number > 0, segments[number - 1].end.time != segment.start.time { return false }
    }
    return next == frames
  }
}

extension BitRate {
  /// The bit rates that a segment may have: one with little motion takes very few bits.
  static let segments = 1...allowed.upperBound
}
