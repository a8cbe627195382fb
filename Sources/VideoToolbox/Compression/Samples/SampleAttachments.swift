// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

/// Converts what the encoder reports about a frame to the attachments of its sample. They stay
/// plain values; the dictionary is made only when a program asks for it.
enum SampleAttachments {
  static func values(of properties: CompressedFrame.Properties, codec: CodecType) -> SampleAttachmentValues {
    var values = SampleAttachmentValues()
    // In H.264 a key frame that begins an open GOP is a partial sync sample; in HEVC it is a sync
    // sample.
    let isSync = properties.isKeyFrame && !(properties.isOpenGOP && codec == .h264)
    if !isSync { values.append(kCMSampleAttachmentKey_NotSync, .flag(true)) }
    if properties.isKeyFrame, !isSync { values.append(kCMSampleAttachmentKey_PartialSync, .flag(true)) }
    values.append(kCMSampleAttachmentKey_DependsOnOthers, .flag(!properties.isIntra))
    values.append(kCMSampleAttachmentKey_IsDependedOnByOthers, .flag(properties.isReference))
    if let token = properties.longTermToken {
      values.append(kVTSampleAttachmentKey_RequireLTRAcknowledgementToken, .integer(token))
    }
    if let qp = properties.averageQP { values.append(kOVTSampleAttachmentKey_AverageQP, .real(qp)) }
    if let qp = properties.highestQP { values.append(kOVTSampleAttachmentKey_HighestQP, .integer(Int64(qp))) }
    if properties.temporalLayer > 0 {
      values.append(kOVTSampleAttachmentKey_TemporalLayer, .integer(Int64(properties.temporalLayer)))
    }
    if let error = properties.meanSquaredError {
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
