// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The last object of `--progress json`: what came of the run.
protocol LastEvent: Encodable {}

/// What `--progress json` writes at the end of a run: what the summary says, for programs.
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
  /// Of the pictures.
  var seconds: Double
  var bitsPerSecond: Double
  var targetBitsPerSecond: Int?
  var fileBytes: Int
  var wallSeconds: Double
  var runs: Int
  /// Over the movie.
  var passes: Int
  var soundTracksCopied: Int
  var soundTracksEncoded: Int
  var notices: [String]
  /// Decibels, luma and over all samples, if they were measured.
  var psnrLuma: Double?
  var psnr: Double?
  var isInterrupted: Bool
  /// Of the source: pictures of which a part was made up, pictures that could not be decoded.
  var damagedPictures: Int
  var lostPictures: Int
  /// What was wrong with the source, in words.
  var damage: String?

  init(_ report: RunReport, destination: Destination, isInterrupted: Bool) {
    output = report.written.path ?? destination.name
    damagedPictures = report.damage.concealed
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
    fileBytes = report.written.fileBytes
    wallSeconds = report.wallSeconds
    runs = report.runs
    passes = report.passes
    soundTracksCopied = report.written.sound.copied
    soundTracksEncoded = report.written.sound.encoded
    notices = report.plan.notices + report.written.sound.leftOut
    if let quality = report.quality, quality.luma.isFinite { psnrLuma = quality.luma }
    if let quality = report.quality, quality.all.isFinite { psnr = quality.all }
    self.isInterrupted = isInterrupted
  }
}

/// The same of `export`.
struct ExportEvent: LastEvent {
  var event = "finished"
  var output: String
  var preset: String
  var fileBytes: Int
  var passes: Int
  var wallSeconds: Double
  var notices: [String]
  /// What was wrong with the source, in words.
  var damage: String?
}

/// The same of `split`.
struct SplitEvent: LastEvent {
  var event = "finished"
  /// The plan.
  var output: String
  var encoder: String
  var segments: Int
  var frames: Int
  /// Of the pictures.
  var seconds: Double
  var wallSeconds: Double
}

/// The same of `encode-segment`.
struct SegmentEvent: LastEvent {
  var event = "finished"
  var output: String
  var segment: Int
  var frames: Int
  /// Of the pictures.
  var seconds: Double
  var bitsPerSecond: Double
  var targetBitsPerSecond: Int?
  var fileBytes: Int
  var passes: Int
  /// That it took when it was encoded.
  var wallSeconds: Double
  /// It was there already.
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

/// The same of a run that fails, beside its line of complaint.
struct FailureEvent: LastEvent {
  var event = "failed"
  /// What the complaint says.
  var message: String
  /// With which the run ends.
  var status: Int32
}
