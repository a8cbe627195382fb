// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

/// Converts what the encoder reports about a frame to the attachments of its sample. They stay
/// plain values; the dictionary is made only when a program asks for it.
enum SampleAttachments {
  static func values(of facts: CompressedFrame.Facts, codec: CodecType) -> SampleAttachmentValues {
    var values = SampleAttachmentValues()
    // In H.264 a key frame that begins an open GOP is a partial sync sample; in HEVC it is a sync
    // sample.
    let isSync = facts.isKeyFrame && !(facts.isOpenGOP && codec == .h264)
    if !isSync { values.append(kCMSampleAttachmentKey_NotSync, .flag(true)) }
    if facts.isKeyFrame, !isSync { values.append(kCMSampleAttachmentKey_PartialSync, .flag(true)) }
    values.append(kCMSampleAttachmentKey_DependsOnOthers, .flag(!facts.isIntra))
    values.append(kCMSampleAttachmentKey_IsDependedOnByOthers, .flag(facts.isReference))
    if let token = facts.longTermToken {
      values.append(kVTSampleAttachmentKey_RequireLTRAcknowledgementToken, .integer(token))
    }
    if let qp = facts.averageQP { values.append(kOVTSampleAttachmentKey_AverageQP, .real(qp)) }
    if let qp = facts.highestQP { values.append(kOVTSampleAttachmentKey_HighestQP, .integer(Int64(qp))) }
    if facts.temporalLayer > 0 {
      values.append(kOVTSampleAttachmentKey_TemporalLayer, .integer(Int64(facts.temporalLayer)))
    }
    if let error = facts.meanSquaredError {
      values.append(kVTSampleAttachmentKey_QualityMetrics, .object(metrics(error)))
    }
    return values
  }

  private static func metrics(_ error: (y: Double, cb: Double, cr: Double)) -> NSDictionary {
    NSDictionary(dictionary: [
      kVTSampleAttachmentQualityMetricsKey_LumaMeanSquaredError as String: NSNumber(value: error.y),
      kVTSampleAttachmentQualityMetricsKey_ChromaBlueMeanSquaredError as String: NSNumber(value: error.cb),
      kVTSampleAttachmentQualityMetricsKey_ChromaRedMeanSquaredError as String: NSNumber(value: error.cr),
    ])
  }
}
