// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The last object of `--progress json`.
protocol LastEvent: Encodable {}

/// The last object of a run that encodes, with the contents of the summary.
struct RunEvent: LastEvent {
  var event = "finished"
  var output: String
  var codec: String
  var encoder: String
  var width: Int
  var height: Int
  var frames: Int
  var droppedFrames: Int
  var keyFrames: Int
  /// The duration of the pictures in seconds.
  var seconds: Double
  var bitsPerSecond: Double
  var targetBitsPerSecond: Int?
  /// The constant quality, 0 to 1; nil if the movie was encoded at a bit rate.
  var constantQuality: Double?
  /// The highest average bit rate of a movie for which the user gave neither a rate nor a quality.
  var highestBitsPerSecond: Int?
  var fileBytes: Int
  var wallSeconds: Double
  var runs: Int
  /// The number of passes over the movie.
  var passes: Int
  var soundTracksCopied: Int
  var soundTracksEncoded: Int
  var notices: [String]
  /// The PSNR in decibels, of the luma and over all samples; nil if it was not measured.
  var psnrLuma: Double?
  var psnr: Double?
  var isInterrupted: Bool
  /// The number of the source's pictures that were concealed in part, and of those that could not
  /// be decoded.
  var damagedPictures: Int
  var lostPictures: Int
  /// A description of the damage in the source.
  var damage: String?
  /// The reports about the servers; nil without servers.
  var servers: [ServerReport]?
  /// The further files of the same encoding, and why further outputs have failed; nil if there was
  /// one output.
  var furtherOutputs: [String]?
  var failures: [String]?
  /// The further renditions of the same pictures; nil if there were none.
  var renditions: [RenditionReport]?

  init(_ report: RunReport, destination: Destination, isInterrupted: Bool) {
    output = report.written.path ?? destination.name
    damagedPictures = report.damage.concealed
    if !report.written.servers.isEmpty { servers = report.written.servers }
    if !destination.further.isEmpty {
      furtherOutputs = report.written.others.map { $0.path ?? destination.all[$0.number].name }
      failures = report.written.failures.map(\.message)
    }
    if !report.renditions.isEmpty { renditions = report.renditions }
    lostPictures = report.damage.lost
    damage = report.damage.summary
    codec = report.plan.codec.rawValue
    encoder = report.encoderID
    width = report.plan.width
    height = report.plan.height
    frames = report.frames
    droppedFrames = report.dropped
    keyFrames = report.keyFrames
    seconds = report.videoSeconds
    bitsPerSecond = report.bitRate
    if report.plan.quality == nil { targetBitsPerSecond = report.plan.bitRate }
    constantQuality = report.plan.quality
    highestBitsPerSecond = report.plan.ceiling
    fileBytes = report.written.fileBytes
    wallSeconds = report.wallSeconds
    runs = report.runs
    passes = report.passes
    soundTracksCopied = report.written.audio.copied
    soundTracksEncoded = report.written.audio.encoded
    notices = report.plan.notices + report.written.audio.mixedDown + report.written.audio.leftOut
    if let quality = report.quality, quality.luma.isFinite { psnrLuma = quality.luma }
    if let quality = report.quality, quality.all.isFinite { psnr = quality.all }
    self.isInterrupted = isInterrupted
  }
}

/// The last object of `export`.
struct ExportEvent: LastEvent {
  var event = "finished"
  var output: String
  var preset: String
  var fileBytes: Int
  var passes: Int
  var wallSeconds: Double
  var notices: [String]
  /// A description of the damage in the source.
  var damage: String?
}

/// The last object of `split`.
struct SplitEvent: LastEvent {
  var event = "finished"
  /// The path of the plan.
  var output: String
  var encoder: String
  var segments: Int
  var frames: Int
  /// The duration of the pictures in seconds.
  var seconds: Double
  var wallSeconds: Double
}

/// The last object of `encode-segment`.
struct SegmentEvent: LastEvent {
  var event = "finished"
  var output: String
  var segment: Int
  var frames: Int
  /// The duration of the pictures in seconds.
  var seconds: Double
  var bitsPerSecond: Double
  var targetBitsPerSecond: Int?
  var fileBytes: Int
  var passes: Int
  /// How long the encoding took, in seconds.
  var wallSeconds: Double
  /// Whether the segment had already been encoded.
  var wasFinished: Bool

  init(_ record: SegmentRecord, of segment: PlannedSegment, output: String, wasFinished: Bool) {
    self.output = output
    self.segment = segment.index
    frames = record.frames
    seconds = segment.seconds
    bitsPerSecond = Double(record.videoBytes) * 8 / segment.seconds
    targetBitsPerSecond = segment.bitRate
    fileBytes = record.fileBytes
    passes = record.passes
    wallSeconds = record.wallSeconds
    self.wasFinished = wasFinished
  }
}

/// The last object of a run that fails, in addition to the error message.
struct FailureEvent: LastEvent {
  var event = "failed"
  /// The error message.
  var message: String
  /// The exit status.
  var status: Int32
}
