// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A key of the settings that say what captions are converted to.
public struct AVCaptionSettingsKey: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  /// An `AVMediaType`, or its raw value: `.text` or `.subtitle`.
  public static let mediaType = AVCaptionSettingsKey(rawValue: "AVCaptionMediaTypeKey")
  /// A four-character code, as `NSNumber`: `kCMTextFormatType_3GText`.
  public static let mediaSubType = AVCaptionSettingsKey(rawValue: "AVCaptionMediaSubTypeKey")
  /// A `CMTime` in an `NSValue`: captions begin and end at multiples of it.
  public static let timeCodeFrameDuration = AVCaptionSettingsKey(
    rawValue: "AVCaptionTimeCodeFrameDurationKey")
  /// A Boolean `NSNumber`: of formats with time codes, of which there is none here.
  public static let useDropFrameTimeCode = AVCaptionSettingsKey(rawValue: "AVCaptionUseDropFrameTimeCodeKey")
}

/// What captions are converted to.
struct CaptionConversion: Sendable {
  let frame: CMTime?

  /// - Throws: `AVError.unsupportedOutputSettings` for other formats than 3GPP timed text, such as closed captions and iTunes
  ///   Timed Text, and for time codes.
  init(_ settings: [AVCaptionSettingsKey: Any]) throws {
    func refusal(_ reason: String) -> AVError {
      AVError(
        .unsupportedOutputSettings, reason: reason,
        advice: "Use .text or .subtitle with kCMTextFormatType_3GText.")
    }
    let type = settings[.mediaType]
    let name = (type as? AVMediaType)?.rawValue ?? type as? String
    guard let name, AVMediaType(name).isText else {
      throw refusal("Captions cannot be converted to media of type \(name ?? "none").")
    }
    if let code = settings[.mediaSubType] {
      guard (code as? NSNumber)?.uint32Value ?? (code as? UInt32) == kCMTextFormatType_3GText else {
        throw refusal("Captions are written as 3GPP timed text ('tx3g') alone.")
      }
    }
    if (settings[.useDropFrameTimeCode] as? NSNumber)?.boolValue == true {
      throw refusal("3GPP timed text has no time codes.")
    }
    frame = (settings[.timeCodeFrameDuration] as? NSValue)?.timeValue
    if let frame, !(frame.isNumeric && frame > .zero) { throw refusal("The frame duration is none.") }
  }

  /// A time range from frame to frame, one frame long at least.
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

/// Makes captions such that a format can say all of them: what it cannot is taken away.
open class AVCaptionFormatConformer: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let conversion: Result<CaptionConversion, AVError>
  private let lock = Lock()
  private var conformsTimes = false

  /// - Parameter conversionSettings: `AVCaptionSettingsKey.mediaType` and what belongs to it.
  public init(conversionSettings: [AVCaptionSettingsKey: Any]) {
    conversion = Result { try CaptionConversion(conversionSettings) }.mapError { AVError.writing($0) }
    super.init()
  }

  /// Whether captions are to begin and end with a frame, where the settings have a frame duration.
  open var conformsCaptionsToTimeRange: Bool {
    get { lock.withLock { conformsTimes } }
    set { lock.withLock { conformsTimes = newValue } }
  }

  /// The caption as the format can say it.
  /// - Throws: `AVError.unsupportedOutputSettings` for settings of a format that there is none of here.
  open func conformedCaption(for caption: AVCaption) throws -> AVCaption {
    let conversion = try conversion.get()
    let made = TimedTextCaptions.conformed(caption)
    guard conformsCaptionsToTimeRange else { return made }
    var content = made.content
    content.range = conversion.range(content.range)
    return AVCaption(content)
  }
}

/// Something that captions lose when they are converted.
open class AVCaptionConversionWarning: NSObject, @unchecked Sendable {
  // Sendable: immutable.
  public struct WarningType: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// There is more than the format has room for.
    public static let excessMediaData = WarningType(
      rawValue: "AVCaptionConversionWarningTypeExcessMediaData")
  }

  public let warningType: WarningType
  /// Places in the list of captions.
  public let rangeOfCaptions: NSRange
  /// What would help; nil: nothing is known.
  public let adjustment: AVCaptionConversionAdjustment?

  init(_ type: WarningType, _ range: NSRange, _ adjustment: AVCaptionConversionAdjustment? = nil) {
    warningType = type
    rangeOfCaptions = range
    self.adjustment = adjustment
    super.init()
  }
}

/// What would make captions such that they can be converted.
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

/// Another time that would do.
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

/// Looks whether captions can be converted without a loss of text.
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

  /// - Parameters:
  ///   - captions: In the order in which they begin.
  ///   - timeRange: Of the media that they belong to; what lies outside would be lost.
  ///   - conversionSettings: As `AVCaptionFormatConformer` takes them. With others the validation is stopped when it begins.
  public init(
    captions: [AVCaption], timeRange: CMTimeRange, conversionSettings: [AVCaptionSettingsKey: Any]
  ) {
    self.captions = captions.compactMap { $0.copy() as? AVCaption }
    self.timeRange = timeRange
    conversion = try? CaptionConversion(conversionSettings)
    super.init()
  }

  open var status: Status { lock.withLock { state } }
  /// What was found up to now.
  open var warnings: [AVCaptionConversionWarning] { lock.withLock { found } }

  /// Validates, once: of a validator that has begun nothing becomes of it.
  /// - Parameter handler: Called on any thread with each warning, and with nil at the end, also where the validation was
  ///   stopped.
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
      for (place, caption) in captions.enumerated() where status == .validating {
        guard let warning = warning(caption, place) else { continue }
        lock.withLock { found.append(warning) }
        handler(warning)
      }
      lock.withLock { if state == .validating { state = .completed } }
      handler(nil)
    }
  }

  private func warning(_ caption: AVCaption, _ place: Int) -> AVCaptionConversionWarning? {
    let range = NSRange(location: place, length: 1)
    if caption.text.utf8.count > TimedTextCaptions.mostBytes {
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

  /// Ends the validation.
  open func stopValidating() { lock.withLock { if state != .completed { state = .stopped } } }
}
