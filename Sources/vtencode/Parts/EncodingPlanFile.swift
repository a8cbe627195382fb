// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// What `vtencode split` writes: how a movie is encoded in segments, by whatever runs `vtencode encode-segment` for each
/// of them. docs/parts.md describes it, docs/parts.schema.json is its schema.
struct EncodingPlanFile: Codable, Sendable {
  static let format = "vtencode encoding plan"
  static let version = 1

  /// As many as `--frames` takes.
  static let mostFrames = Int(Int32.max)
  /// That sessions take as a time, 2283 years.
  static let mostSeconds = 7.2e10

  /// A segment takes some 400.
  static let mostBytes = PartFolder.mostSegments * 1024

  var format = Self.format
  var version = Self.version
  var source: SourceIdentity
  var settings: PlanSettings
  /// Of the movie, as it is encoded.
  var frames: Int
  /// Of the pictures.
  var seconds: Double
  var segments: [PlannedSegment]
  /// MD5 of the rest. Segments carry it too: those of another plan are not joined.
  var checksum = ""
}

/// A part of the movie: consecutive pictures, in the order in which they are shown.
struct PlannedSegment: Codable, Sendable {
  /// From 0.
  var index: Int
  /// Of its first picture, from 0.
  var firstFrame: Int
  var frames: Int
  /// When its first picture is shown.
  var start: PlannedTime
  /// When the next segment's first picture is shown, or its last one is no longer.
  var end: PlannedTime
  /// Bits that the analysis took for it at constant quality, as a share of all.
  var complexity: Double
  /// Bits a second to aim at; none where a quality is.
  var bitRate: Int?
  /// MD5 of what the analysis learnt of its pictures, which lies in the plan's folder; none where the encoder has to
  /// learn it by itself.
  var statistics: String?

  var seconds: Double { (end.time - start.time).seconds }
  /// Its frames among the movie's.
  var range: Range<Int> { firstFrame..<firstFrame + frames }
}

/// A time that is exact.
struct PlannedTime: Codable, Sendable {
  var value: Int64
  /// Units a second.
  var timescale: Int32

  init(_ time: CMTime) { (value, timescale) = (time.value, time.timescale) }

  var time: CMTime { CMTime(value: value, timescale: timescale) }
}

extension EncodingPlanFile {
  /// - Throws: a `Failure` for what is no plan, is damaged, or of another version.
  static func read(_ path: String) throws -> EncodingPlanFile {
    let data: Data
    do {
      data = try RegularFile.contents(path, most: mostBytes)
    } catch {
      throw Failure("cannot read the plan: \(RegularFile.failure(error, path).message)")
    }
    struct Kind: Decodable {
      var format: String
      var version: Int
    }
    guard let kind = try? JSONDecoder().decode(Kind.self, from: data), kind.format == format else {
      throw Failure("'\(path)' is no plan of vtencode split, or is damaged; make it again")
    }
    guard kind.version == version else {
      throw Failure(
        "the plan '\(path)' has version \(kind.version), and this vtencode knows \(version); make it again")
    }
    guard let plan = try? JSONDecoder().decode(EncodingPlanFile.self, from: data),
      try plan.computedChecksum() == plan.checksum, plan.isConsistent
    else {
      throw Failure("the plan '\(path)' is damaged or was changed (its checksum is another); make it again")
    }
    return plan
  }

  /// As it is stored, with its checksum.
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

  /// What a checksum does not tell: numbers that could not be worked with.
  private var isConsistent: Bool {
    // Sums of frames below are of few and bounded numbers.
    guard !segments.isEmpty, (1...Self.mostFrames).contains(frames), seconds > 0,
      seconds <= 2 * Self.mostSeconds,
      segments.count <= PartFolder.mostSegments
    else {
      return false
    }
    var next = 0
    for (number, segment) in segments.enumerated() {
      guard segment.index == number, segment.firstFrame == next, (1...frames).contains(segment.frames),
        segment.start.timescale > 0, segment.end.timescale > 0, segment.end.time > segment.start.time,
        abs(segment.start.time.seconds) <= Self.mostSeconds,
        abs(segment.end.time.seconds) <= Self.mostSeconds,
        segment.bitRate.map({ BitRate.segments.contains($0) }) ?? (settings.quality != nil)
      else { return false }
      next += segment.frames
      if number > 0, segments[number - 1].end.time != segment.start.time { return false }
    }
    return next == frames
  }
}

extension BitRate {
  /// Of a segment: one where little happens takes little.
  static let segments = 1...allowed.upperBound
}
