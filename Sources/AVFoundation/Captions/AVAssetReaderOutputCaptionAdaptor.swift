// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Is told what of a text an adaptor leaves out.
public protocol AVAssetReaderCaptionValidationHandling: NSObjectProtocol {
  /// A caption was given out without something that the file says of it.
  /// - Parameters:
  ///   - adaptor: The adaptor that has given the caption out.
  ///   - caption: The caption.
  ///   - syntaxElements: The types of the boxes that were left out (3GPP TS 26.245, 5.17), such as "krok".
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

/// Gives the texts of a track as captions.
open class AVAssetReaderOutputCaptionAdaptor: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  public let assetReaderTrackOutput: AVAssetReaderTrackOutput
  private let lock = Lock()
  private weak var delegate: (any AVAssetReaderCaptionValidationHandling)?

  /// - Parameter trackOutput: Of a track of text, without output settings. Take its samples from here alone.
  public init(assetReaderTrackOutput trackOutput: AVAssetReaderTrackOutput) {
    assetReaderTrackOutput = trackOutput
    super.init()
  }

  /// Not retained.
  open weak var validationDelegate: (any AVAssetReaderCaptionValidationHandling)? {
    get { lock.withLock { delegate } }
    set { lock.withLock { delegate = newValue } }
  }

  /// The next group, waiting for it if need be: a caption for what is shown over a range of time, however many texts that is
  /// made of, or none where the file says that nothing is. nil at the end, and after a failure: see `AVAssetReader.status`. A
  /// sample that is no 3GPP timed text makes the reader fail with `AVError.fileFailedToParse`.
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
          .fileFailedToParse, reason: "A sample is no timed text that captions can be made of.",
          advice: "Read the track's samples as they are."))
      return nil
    }
    if let caption, !unknown.isEmpty {
      validationDelegate?.captionAdaptor(
        self, didVend: caption, skippingUnsupportedSourceSyntaxElements: unknown)
    }
    return AVCaptionGroup(captions: caption.map { [$0] } ?? [], timeRange: range)
  }

  /// Those captions of a group that no group before it had: all that begin with it.
  open func captionsNotPresentInPreviousGroups(in captionGroup: AVCaptionGroup) -> [AVCaption] {
    captionGroup.captions.filter { $0.timeRange.start >= captionGroup.timeRange.start }
  }
}
