// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

/// The attachments of a coded frame's sample.
///
/// Made for every frame: numbers that come again and again are made once, and the dictionary in one go, since setting
/// a value allocates for its key.
enum SampleAttachments {
  static func dictionary(of facts: CompressedFrame.Facts, codec: CodecType) -> NSMutableDictionary {
    withUnsafeTemporaryAllocation(of: AnyObject.self, capacity: capacity) { objects in
      withUnsafeTemporaryAllocation(of: NSObject.self, capacity: capacity) { keys in
        var count = 0
        func add(_ key: CFString, _ value: NSObject) {
          objects.initializeElement(at: count, to: value)
          keys.initializeElement(at: count, to: key)
          count += 1
        }
        defer {
          objects[..<count].deinitialize()
          keys[..<count].deinitialize()
        }
        // In H.264 a key frame that leading frames reach across is a partial sync sample; in HEVC it is a sync sample.
        let isSync = facts.isKeyFrame && !(facts.isOpenGOP && codec == .h264)
        if !isSync { add(kCMSampleAttachmentKey_NotSync, yes) }
        if facts.isKeyFrame, !isSync { add(kCMSampleAttachmentKey_PartialSync, yes) }
        add(kCMSampleAttachmentKey_DependsOnOthers, facts.isIntra ? no : yes)
        add(kCMSampleAttachmentKey_IsDependedOnByOthers, facts.isReference ? yes : no)
        if let token = facts.longTermToken {
          add(kVTSampleAttachmentKey_RequireLTRAcknowledgementToken, NSNumber(value: token))
        }
        if let qp = facts.averageQP { add(kOVTSampleAttachmentKey_AverageQP, NSNumber(value: qp)) }
        if let qp = facts.highestQP { add(kOVTSampleAttachmentKey_HighestQP, number(qp)) }
        if facts.temporalLayer > 0 {
          add(kOVTSampleAttachmentKey_TemporalLayer, number(facts.temporalLayer))
        }
        if let error = facts.meanSquaredError {
          add(kVTSampleAttachmentKey_QualityMetrics, metrics(error))
        }
        return NSMutableDictionary(objects: objects.baseAddress, forKeys: keys.baseAddress, count: count)
      }
    }
  }

  /// As many as there can be.
  private static let capacity = 9

  private static func metrics(_ error: (y: Double, cb: Double, cr: Double)) -> NSDictionary {
    NSDictionary(dictionary: [
      kVTSampleAttachmentQualityMetricsKey_LumaMeanSquaredError as String: NSNumber(value: error.y),
      kVTSampleAttachmentQualityMetricsKey_ChromaBlueMeanSquaredError as String: NSNumber(value: error.cb),
      kVTSampleAttachmentQualityMetricsKey_ChromaRedMeanSquaredError as String: NSNumber(value: error.cr),
    ])
  }

  private static let yes = NSNumber(value: true)
  private static let no = NSNumber(value: false)
  private static let small = (0..<64).map { NSNumber(value: $0) }

  private static func number(_ value: Int) -> NSNumber {
    small.indices.contains(value) ? small[value] : NSNumber(value: value)
  }
}
