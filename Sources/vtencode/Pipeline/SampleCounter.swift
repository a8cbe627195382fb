// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import VideoToolbox

/// Counts the frames and bytes that the session outputs. The session's threads call it.
final class SampleCounter: @unchecked Sendable {
  // Sendable: `lock` guards the mutable state.
  private let lock = Lock()
  private var frameCount = 0
  private var droppedCount = 0
  private var keyFrameCount = 0
  private var byteCount = 0
  private var start = CMTime.positiveInfinity
  private var end = CMTime.negativeInfinity

  var frames: Int { lock.withLock { frameCount } }

  func add(_ sample: CMSampleBuffer, isVerbose: Bool) {
    let time = sample.presentationTimeStamp
    let size = CMSampleBufferGetTotalSampleSize(sample)
    let properties = SampleAttributes(sample)
    let number = lock.withLock {
      frameCount += 1
      byteCount += size
      if properties.isKeyFrame { keyFrameCount += 1 }
      start = min(start, time)
      end = max(end, sample.duration.isNumeric ? time + sample.duration : time)
      return frameCount
    }
    guard isVerbose else { return }
    Console.note(
      "frame \(number)  pts \(TextFormat.fixed(time.seconds, 3))  dts "
        + "\(TextFormat.fixed(sample.decodeTimeStamp.isNumeric ? sample.decodeTimeStamp.seconds : time.seconds, 3))  "
        + "\(TextFormat.grouped(size)) bytes  \(properties.kind)")
  }

  func addDropped() { lock.withLock { droppedCount += 1 } }

  func report(seconds: Double, plan: EncodingPlan, written: OutputReport, encoderID: String) -> RunReport {
    lock.withLock {
      RunReport(
        plan: plan, encoderID: encoderID, written: written, frames: frameCount, dropped: droppedCount,
        keyFrames: keyFrameCount, videoBytes: byteCount,
        videoSeconds: end.isNumeric && start.isNumeric ? (end - start).seconds : 0, wallSeconds: seconds)
    }
  }
}

/// The attachments of an encoded sample that describe its role in the stream.
struct SampleAttributes: Sendable {
  let isKeyFrame: Bool
  let isReference: Bool
  /// The mean squared error of the luma samples; nil if the session does not compute it.
  let meanSquaredError: Double?

  init(_ sample: CMSampleBuffer) {
    let attachments =
      CMSampleBufferGetSampleAttachmentsArray(sample, createIfNecessary: false) as? [[CFString: Any]]
    let first = attachments?.first ?? [:]
    isKeyFrame = !((first[kCMSampleAttachmentKey_NotSync] as? Bool) ?? false)
    isReference = (first[kCMSampleAttachmentKey_IsDependedOnByOthers] as? Bool) ?? true
    let metrics = first[kVTSampleAttachmentKey_QualityMetrics] as? [CFString: Any]
    meanSquaredError =
      (metrics?[kVTSampleAttachmentQualityMetricsKey_LumaMeanSquaredError] as? NSNumber)?.doubleValue
  }

  var kind: String {
    if isKeyFrame { return "key frame" }
    return isReference ? "reference" : "not a reference"
  }
}
