// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A key of the settings for the conversion of captions.
public struct AVCaptionSettingsKey: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  /// An `AVMediaType`, or its raw value: `.text` or `.subtitle`.
  public static let mediaType = AVCaptionSettingsKey(rawValue: "AVCaptionMediaTypeKey")
  /// An `NSNumber` with a four-character code: `kCMTextFormatType_3GText`.
  public static let mediaSubType = AVCaptionSettingsKey(rawValue: "AVCaptionMediaSubTypeKey")
  /// An `NSValue` with a `CMTime`: the frame duration, at multiples of which captions begin and
  /// end.
  public static let timeCodeFrameDuration = AVCaptionSettingsKey(
    rawValue: "AVCaptionTimeCodeFrameDurationKey")
  /// A Boolean `NSNumber`: whether drop-frame time codes are used. True is not supported, since no
  /// supported format has time codes.
  public static let useDropFrameTimeCode = AVCaptionSettingsKey(rawValue: "AVCaptionUseDropFrameTimeCodeKey")
}

/// The format to which captions are converted.
struct CaptionConversion: Sendable {
  let frame: CMTime?

  /// Parses the settings.
  /// - Throws: `AVError.Code.unsupportedOutputSettings` for formats other than 3GPP timed text,
  ///   such as closed captions and iTunes Timed Text, for time codes, and for an invalid frame
  ///   duration.
  init(_ settings: [AVCaptionSettingsKey: Any]) throws {
    func invalid(_ reason: String) -> AVError {
      AVError(
        .unsupportedOutputSettings, reason: reason,
        advice: "Use .text or .subtitle with kCMTextFormatType_3GText.")
    }
    let type = settings[.mediaType]
    let name = (type as? AVMediaType)?.rawValue ?? type as? String
    guard let name, AVMediaType(name).isText else {
      throw invalid("Captions cannot be converted to media of type \(name ?? "none").")
    }
    if let code = settings[.mediaSubType] {
      guard (code as? NSNumber)?.uint32Value ?? (code as? UInt32) == kCMTextFormatType_3GText else {
        throw invalid("Captions are written as 3GPP timed text ('tx3g') alone.")
      }
    }
    if (settings[.useDropFrameTimeCode] as? NSNumber)?.boolValue == true {
      throw invalid("3GPP timed text has no time codes.")
    }
    frame = (settings[.timeCodeFrameDuration] as? NSValue)?.timeValue
    if let frame, !(frame.isNumeric && frame > .zero) { throw invalid("The frame duration is none.") }
  }

  /// Rounds a time range to frames; the result has at least one frame.
  func range(_ range: CMTimeRange) -> CMTimeRange {
    guard let frame, range.start.isNumeric, range.duration.isNumeric else { return range }
    func rounded(_ time: CMTime) -> CMTime {
      let count = (time.seconds / frame.seconds).rounded()
      return TimeGrid.multiple(frame, Int64(clamping: count))
    }
    let start = rounded(range.start)
    return CMTimeRange(start: start, end: max(start + frame, rounded(range.end)))
  }
}

/// Removes the attributes of captions that a format does not support.
open class AVCaptionFormatConformer: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let conversion: Result<CaptionConversion, AVError>
  private let lock = Lock()
  private var conformsTimes = false

  /// Creates a conformer.
  /// - Parameter conversionSettings: The format, with at least `AVCaptionSettingsKey.mediaType`.
  ///   Unsupported settings are reported by `conformedCaption(for:)`.
  public init(conversionSettings: [AVCaptionSettingsKey: Any]) {
    conversion = Result { try CaptionConversion(conversionSettings) }.mapError { AVError.writing($0) }
    super.init()
  }

  /// Whether the times of captions are rounded to frames, if the settings have a frame duration.
  open var conformsCaptionsToTimeRange: Bool {
    get { lock.withLock { conformsTimes } }
    set { lock.withLock { conformsTimes = newValue } }
  }

  /// Returns the caption without attributes that the format does not support.
  /// - Throws: `AVError.Code.unsupportedOutputSettings` if the settings are not supported.
  open func conformedCaption(for caption: AVCaption) throws -> AVCaption {
    let conversion = try conversion.get()
    let made = TimedTextCaptions.conformed(caption)
    guard conformsCaptionsToTimeRange else { return made }
    var content = made.content
    content.range = conversion.range(content.range)
    return AVCaption(content)
  }
}

/// A warning of a loss in the conversion of captions.
open class AVCaptionConversionWarning: NSObject, @unchecked Sendable {
  // Sendable: immutable.
  public struct WarningType: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// There is more data than the format has room for.
    public static let excessMediaData = WarningType(
      rawValue: "AVCaptionConversionWarningTypeExcessMediaData")
  }

  public let warningType: WarningType
  /// The indices of the affected captions in the list of captions.
  public let rangeOfCaptions: NSRange
  /// The adjustment that would avoid the loss; nil if none is known.
  public let adjustment: AVCaptionConversionAdjustment?

  init(_ type: WarningType, _ range: NSRange, _ adjustment: AVCaptionConversionAdjustment? = nil) {
    warningType = type
    rangeOfCaptions = range
    self.adjustment = adjustment
    super.init()
  }
}

/// An adjustment that would make captions convertible.
open class AVCaptionConversionAdjustment: NSObject, @unchecked Sendable {
  // Sendable: immutable.
  public struct AdjustmentType: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let timeRange = AdjustmentType(rawValue: "AVCaptionConversionAdjustmentTypeTimeRange")
  }

  public let adjustmentType: AdjustmentType

  init(_ type: AdjustmentType) {
    adjustmentType = type
    super.init()
  }
}

/// An adjustment of the time range of captions.
open class AVCaptionConversionTimeRangeAdjustment: AVCaptionConversionAdjustment, @unchecked Sendable {
  // Sendable: immutable.
  public let startTimeOffset: CMTime
  public let durationOffset: CMTime

  init(_ start: CMTime, _ duration: CMTime) {
    startTimeOffset = start
    durationOffset = duration
    super.init(.timeRange)
  }
}

/// Checks whether captions can be converted without loss of text.
open class AVCaptionConversionValidator: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  public enum Status: Int, Sendable {
    case unknown = 0
    case validating = 1
    case completed = 2
    case stopped = 3
  }

  public let captions: [AVCaption]
  public let timeRange: CMTimeRange
  private let conversion: CaptionConversion?
  private let lock = Lock()
  private var state = Status.unknown
  private var found: [AVCaptionConversionWarning] = []

  /// Creates a validator.
  /// - Parameters:
  ///   - captions: The captions, ordered by start.
  ///   - timeRange: The time range of the media. Captions outside it would be lost.
  ///   - conversionSettings: The settings, as for `AVCaptionFormatConformer`. If they are not
  ///     supported, validation is stopped when it begins.
  public init(
    captions: [AVCaption], timeRange: CMTimeRange, conversionSettings: [AVCaptionSettingsKey: Any]
  ) {
    self.captions = captions.compactMap { $0.copy() as? AVCaption }
    self.timeRange = timeRange
    conversion = try? CaptionConversion(conversionSettings)
    super.init()
  }

  open var status: Status { lock.withLock { state } }
  /// The warnings found so far.
  open var warnings: [AVCaptionConversionWarning] { lock.withLock { found } }

  /// Begins validation. It has no effect if validation has begun before.
  /// - Parameter handler: Called on any thread with each warning, and with nil at the end, also if
  ///   validation was stopped.
  open func validateCaptionConversion(
    warningHandler handler: @escaping @Sendable (AVCaptionConversionWarning?) -> Void
  ) {
    let begins = lock.withLock {
      guard state == .unknown else { return false }
      state = conversion == nil ? .stopped : .validating
      return true
    }
    guard begins else { return }
    assetLoadingQueue.async { [self] in
      for (index, caption) in captions.enumerated() where status == .validating {
        guard let warning = warning(caption, index) else { continue }
        lock.withLock { found.append(warning) }
        handler(warning)
      }
      lock.withLock { if state == .validating { state = .completed } }
      handler(nil)
    }
  }

  private func warning(_ caption: AVCaption, _ index: Int) -> AVCaptionConversionWarning? {
    let range = NSRange(location: index, length: 1)
    if caption.text.utf8.count > TimedTextCaptions.maxBytes {
      return AVCaptionConversionWarning(.excessMediaData, range)
    }
    let time = caption.timeRange
    let inside = time.intersection(timeRange)
    guard timeRange.isValid, inside != time else { return nil }
    return AVCaptionConversionWarning(
      .excessMediaData, range,
      inside.duration > .zero
        ? AVCaptionConversionTimeRangeAdjustment(inside.start - time.start, inside.duration - time.duration)
        : nil)
  }

  /// Stops validation.
  open func stopValidating() { lock.withLock { if state != .completed { state = .stopped } } }
}
