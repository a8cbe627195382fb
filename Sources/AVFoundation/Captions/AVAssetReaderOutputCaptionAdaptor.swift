// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Receives the parts of a text that an adaptor does not support.
public protocol AVAssetReaderCaptionValidationHandling: NSObjectProtocol {
  /// Tells the delegate that parts of a sample were left out of a caption.
  /// - Parameters:
  ///   - adaptor: The adaptor that delivered the caption.
  ///   - caption: The caption.
  ///   - syntaxElements: The types of the boxes that were left out (3GPP TS 26.245, 5.17), such as
  ///     "krok".
  func captionAdaptor(
    _ adaptor: AVAssetReaderOutputCaptionAdaptor, didVend caption: AVCaption,
    skippingUnsupportedSourceSyntaxElements syntaxElements: [String])
}

extension AVAssetReaderCaptionValidationHandling {
  public func captionAdaptor(
    _ adaptor: AVAssetReaderOutputCaptionAdaptor, didVend caption: AVCaption,
    skippingUnsupportedSourceSyntaxElements syntaxElements: [String]
  ) {}
}

/// Delivers the texts of a track as captions.
open class AVAssetReaderOutputCaptionAdaptor: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  public let assetReaderTrackOutput: AVAssetReaderTrackOutput
  private let lock = Lock()
  private weak var delegate: (any AVAssetReaderCaptionValidationHandling)?

  /// Creates an adaptor.
  /// - Parameter trackOutput: An output of a text track without output settings. Its samples must
  ///   not be read otherwise.
  public init(assetReaderTrackOutput trackOutput: AVAssetReaderTrackOutput) {
    assetReaderTrackOutput = trackOutput
    super.init()
  }

  /// The delegate, which is not retained.
  open weak var validationDelegate: (any AVAssetReaderCaptionValidationHandling)? {
    get { lock.withLock { delegate } }
    set { lock.withLock { delegate = newValue } }
  }

  /// Returns the next group, and waits for it if necessary. It has one caption for the whole text
  /// during a time range, or none if the file states that nothing is shown.
  ///
  /// A sample that is not 3GPP timed text makes the reader fail with
  /// `AVError.Code.fileFailedToParse`.
  /// - Returns: Nil at the end and after a failure; see `AVAssetReader.status`.
  open func nextCaptionGroup() -> AVCaptionGroup? {
    guard let sample = assetReaderTrackOutput.copyNextSampleBuffer() else { return nil }
    let range = CMTimeRange(
      start: CMSampleBufferGetPresentationTimeStamp(sample), duration: CMSampleBufferGetDuration(sample))
    let type = CMSampleBufferGetFormatDescription(sample).map(CMFormatDescriptionGetMediaSubType)
    guard type == kCMTextFormatType_3GText || type == kCMTextFormatType_QTText,
      let bytes = try? CMSampleBufferGetDataBuffer(sample)?.dataBytes(),
      let (caption, unknown) = TimedTextCaptions.caption([UInt8](bytes), range)
    else {
      assetReaderTrackOutput.reader?.fail(
        AVError(
          .fileFailedToParse, reason: "A sample is not valid timed text.",
          advice: "Read the samples of the track without the caption adaptor."))
      return nil
    }
    if let caption, !unknown.isEmpty {
      validationDelegate?.captionAdaptor(
        self, didVend: caption, skippingUnsupportedSourceSyntaxElements: unknown)
    }
    return AVCaptionGroup(captions: caption.map { [$0] } ?? [], timeRange: range)
  }

  /// Returns the captions of a group that were not in earlier groups: those that begin in it.
  open func captionsNotPresentInPreviousGroups(in captionGroup: AVCaptionGroup) -> [AVCaption] {
    captionGroup.captions.filter { $0.timeRange.start >= captionGroup.timeRange.start }
  }
}
