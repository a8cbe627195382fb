// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// Appends captions to an input for text. They are stored as 3GPP timed text, with times in
/// milliseconds.
///
/// Bold, italic, underlined and coloured parts are stored. If several captions are shown at the
/// same time, they become one text without these attributes, each on lines of its own.
open class AVAssetWriterInputCaptionAdaptor: NSObject, @unchecked Sendable {
  // Sendable: immutable; the queue has its own lock.
  public let assetWriterInput: AVAssetWriterInput
  private let queue: CaptionQueue

  /// Creates an adaptor.
  /// - Parameter input: An input of media type `.text` or `.subtitle` without output settings.
  ///   Captions cannot be appended to other inputs.
  public init(assetWriterInput input: AVAssetWriterInput) {
    assetWriterInput = input
    queue = CaptionQueue(input)
    super.init()
    input.lock.withLock { input.beforeFinish = { [queue] in queue.finish() } }
  }

  /// Appends a caption, which must not begin before the previous one.
  /// - Returns: False after a failure; see `AVAssetWriter.error`. It is `invalidSourceMedia` if the
  ///   caption has no time, begins too early, or has an attribute that 3GPP timed text does not
  ///   support; `AVCaptionFormatConformer` removes such attributes.
  @discardableResult
  open func append(_ caption: AVCaption) -> Bool { queue.append([caption], nil) }

  /// Appends the captions of a group for the group's time range. During a group without captions
  /// nothing is shown.
  /// - Returns: False after a failure, as for a single caption.
  @discardableResult
  open func append(_ captionGroup: AVCaptionGroup) -> Bool {
    queue.append(captionGroup.captions, captionGroup.timeRange)
  }
}

/// Holds captions until it is certain which of them are shown together, and then appends samples
/// for them to an input.
final class CaptionQueue: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private weak var input: AVAssetWriterInput?
  private let lock = Lock()
  private var timeline = TimedTextTimeline()
  private var last = CMTime.negativeInfinity
  private static let scale: CMTimeScale = 1000

  init(_ input: AVAssetWriterInput) { self.input = input }

  func append(_ captions: [AVCaption], _ group: CMTimeRange?) -> Bool {
    guard let input, let writer = input.writer else { return false }
    do {
      guard input.mediaType.isText else {
        throw AVError(
          .operationNotAllowed,
          reason: "Captions cannot be appended to an input of type \(input.mediaType.rawValue).",
          advice: "Use an input of type .text or .subtitle.")
      }
      let buffers = try lock.withLock { try samples(captions, group) }
      return buffers.allSatisfy { input.append($0) }
    } catch {
      writer.fail(AVError.writing(error))
      return false
    }
  }

  private func samples(_ captions: [AVCaption], _ group: CMTimeRange?) throws -> [CMSampleBuffer] {
    func invalid(_ reason: String) -> AVError {
      AVError(
        .invalidSourceMedia, reason: reason,
        advice:
          "Append captions with times, in order; AVCaptionFormatConformer removes attributes that the format does not support."
      )
    }
    var made: [TimedText] = []
    for caption in captions {
      let range = group ?? caption.timeRange
      guard range.start.isNumeric, range.duration.isNumeric, range.duration > .zero else {
        throw invalid("The caption has no time.")
      }
      guard range.start >= last else { throw invalid("The caption begins before the one appended last.") }
      if let obstacle = TimedTextCaptions.obstacle(caption) {
        throw invalid("3GPP timed text cannot say this of a caption: \(obstacle).")
      }
      let start = units(range.start)
      made += timeline.add(
        TimedText(
          start: start, end: max(start.addingClamped(1), units(range.end)),
          sample: TimedTextCaptions.sample(caption)))
      last = range.start
    }
    if let group, captions.isEmpty, group.start.isNumeric {
      guard group.start >= last else { throw invalid("The group begins before what was appended last.") }
      made += timeline.add(TimedText(start: units(group.start), end: nil, sample: []))
      last = group.start
    }
    return try made.map(buffer)
  }

  /// Appends the remaining captions, since no more will follow.
  func finish() {
    guard let input, let writer = input.writer, writer.status == .writing else { return }
    do {
      for buffer in try lock.withLock({ try timeline.finish().map(buffer) }) where !input.append(buffer) {
        return
      }
    } catch { writer.fail(AVError.writing(error)) }
  }

  private func units(_ time: CMTime) -> Int64 {
    CMTimeConvertScale(time, timescale: Self.scale, method: .roundHalfAwayFromZero).value
  }

  private func buffer(_ text: TimedText) throws -> CMSampleBuffer {
    let block = try CMBlockBuffer(length: text.sample.count, flags: .assureMemoryNow)
    try text.sample.withUnsafeBytes { try block.replaceDataBytes(with: $0) }
    let isText = input?.mediaType == .text
    func time(_ value: Int64) -> CMTime { CMTime(value: value, timescale: Self.scale) }
    return try CMSampleBuffer(
      dataBuffer: block,
      formatDescription: try CMFormatDescription(
        mediaType: isText ? .text : .subtitle, mediaSubType: .mobile3GPP),
      numSamples: 1,
      sampleTimings: [
        CMSampleTimingInfo(
          duration: text.end.map { time($0.subtractingClamped(text.start)) } ?? .invalid,
          presentationTimeStamp: time(text.start), decodeTimeStamp: .invalid)
      ], sampleSizes: [text.sample.count])
  }
}

extension AVAssetWriterInput {
  /// Appends captions to an input asynchronously.
  public final class CaptionReceiver: @unchecked Sendable {
    // Sendable: immutable; the adaptor's input has its own lock.
    private let adaptor: AVAssetWriterInputCaptionAdaptor
    private let writer: AVAssetWriter

    init(_ input: AVAssetWriterInput, of writer: AVAssetWriter) {
      adaptor = AVAssetWriterInputCaptionAdaptor(assetWriterInput: input)
      self.writer = writer
    }

    /// Waits until the input is ready for more media data, and then appends the caption.
    /// - Throws: `AVError` if writing has failed or is not in progress; `CancellationError` if the
    ///   task is cancelled.
    public func append(_ caption: AVCaption) async throws {
      while try !appendImmediately(caption) { try await Task.sleep(for: .milliseconds(2)) }
    }

    /// Waits until the input is ready for more media data, and then appends the group.
    /// - Throws: `AVError` if writing has failed or is not in progress; `CancellationError` if the
    ///   task is cancelled.
    public func append(_ captionGroup: AVCaptionGroup) async throws {
      while try !appendImmediately(captionGroup) { try await Task.sleep(for: .milliseconds(2)) }
    }

    /// Appends the caption if the input is ready for more media data.
    /// - Returns: False if it is not ready; the caption is then not appended.
    /// - Throws: `AVError` if writing has failed or is not in progress.
    public func appendImmediately(_ caption: AVCaption) throws -> Bool {
      guard try writer.wantsMore(of: adaptor.assetWriterInput) else { return false }
      guard adaptor.append(caption) else { throw writer.reason }
      return true
    }

    /// Appends the group if the input is ready for more media data.
    /// - Returns: False if it is not ready; the group is then not appended.
    /// - Throws: `AVError` if writing has failed or is not in progress.
    public func appendImmediately(_ captionGroup: AVCaptionGroup) throws -> Bool {
      guard try writer.wantsMore(of: adaptor.assetWriterInput) else { return false }
      guard adaptor.append(captionGroup) else { throw writer.reason }
      return true
    }

    /// Ends the input, since no more captions will follow.
    public func finish() { adaptor.assetWriterInput.markAsFinished() }
  }
}

extension AVAssetWriter {
  /// Adds an input and returns a receiver for its captions. If the input cannot be added, the
  /// writer fails.
  public func inputCaptionReceiver(
    for input: AVAssetWriterInput
  ) -> sending AVAssetWriterInput.CaptionReceiver {
    add(input)
    return AVAssetWriterInput.CaptionReceiver(input, of: self)
  }
}
