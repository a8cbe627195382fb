// SPDX-License-Identifier: Apache-2.0
import AudioToolbox
import Foundation

/// Common formats of linear PCM samples, in native byte order and without padding.
public enum AVAudioCommonFormat: UInt, Sendable {
  /// None of the common formats.
  case otherFormat = 0
  case pcmFormatFloat32 = 1
  case pcmFormatFloat64 = 2
  case pcmFormatInt16 = 3
  case pcmFormatInt32 = 4
}

/// The format of audio. Immutable, except for the magic cookie.
open class AVAudioFormat: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards the cookie; the rest is constant.
  private let lock = Lock()
  private let description_: CMAudioFormatDescription
  private var cookie: Data?

  /// The arrangement of the channels; nil if only their number is known.
  public let channelLayout: AVAudioChannelLayout?
  let basic: AudioStreamBasicDescription

  init(_ basic: AudioStreamBasicDescription, _ channelLayout: AVAudioChannelLayout?, cookie: Data? = nil) {
    self.basic = basic
    self.channelLayout = channelLayout
    self.cookie = cookie
    description_ = Self.describe(basic, channelLayout, cookie)
    super.init()
  }

  private static func describe(
    _ basic: AudioStreamBasicDescription, _ layout: AVAudioChannelLayout?, _ cookie: Data?
  ) -> CMAudioFormatDescription {
    do {
      return try CMAudioFormatDescription(
        audioStreamBasicDescription: basic, layout: layout?.managed, magicCookie: cookie)
    } catch { preconditionFailure("A description of any numbers can be made: \(error)") }
  }

  /// Creates a format of 32-bit floating-point samples with a buffer for each channel.
  /// - Parameters:
  ///   - sampleRate: The sample rate in hertz, above 0.
  ///   - channels: The number of channels, 1 or 2.
  /// - Returns: Nil for invalid values. More channels need a channel layout.
  public convenience init?(standardFormatWithSampleRate sampleRate: Double, channels: AVAudioChannelCount) {
    self.init(
      commonFormat: .pcmFormatFloat32, sampleRate: sampleRate, channels: channels, interleaved: false)
  }

  /// Creates a format of 32-bit floating-point samples with a buffer for each channel.
  public convenience init(
    standardFormatWithSampleRate sampleRate: Double, channelLayout layout: AVAudioChannelLayout
  ) {
    self.init(
      commonFormat: .pcmFormatFloat32, sampleRate: sampleRate, interleaved: false, channelLayout: layout)
  }

  /// Creates a format of one of the common sample formats.
  /// - Parameters:
  ///   - format: The format of the samples.
  ///   - sampleRate: The sample rate in hertz, above 0.
  ///   - channels: The number of channels, 1 or 2.
  ///   - interleaved: Whether the samples of the channels are interleaved in one buffer; otherwise
  ///     each channel has a buffer.
  /// - Returns: Nil for `otherFormat` and for invalid values. More channels need a channel layout.
  public convenience init?(
    commonFormat format: AVAudioCommonFormat, sampleRate: Double, channels: AVAudioChannelCount,
    interleaved: Bool
  ) {
    guard (1...2).contains(channels), sampleRate > 0, sampleRate.isFinite,
      let basic = Self.basic(format, sampleRate, channels, interleaved)
    else { return nil }
    self.init(basic, nil)
  }

  /// Creates a format of one of the common sample formats. `otherFormat` is taken as
  /// `pcmFormatFloat32`.
  public convenience init(
    commonFormat format: AVAudioCommonFormat, sampleRate: Double, interleaved: Bool,
    channelLayout layout: AVAudioChannelLayout
  ) {
    let format = format == .otherFormat ? .pcmFormatFloat32 : format
    self.init(
      Self.basic(format, sampleRate, layout.channelCount, interleaved) ?? AudioStreamBasicDescription(),
      layout)
  }

  /// Creates a format of a stream description.
  /// - Parameter asbd: The stream description.
  /// - Returns: Nil for invalid values, and for more than two channels, which need a channel
  ///   layout.
  public convenience init?(streamDescription asbd: UnsafePointer<AudioStreamBasicDescription>) {
    self.init(streamDescription: asbd, channelLayout: nil)
  }

  /// Creates a format of a stream description and a channel layout.
  /// - Parameters:
  ///   - asbd: The stream description.
  ///   - layout: A layout with the same number of channels. It can be nil for one or two channels.
  /// - Returns: Nil for invalid values.
  public convenience init?(
    streamDescription asbd: UnsafePointer<AudioStreamBasicDescription>,
    channelLayout layout: AVAudioChannelLayout?
  ) {
    let basic = asbd.pointee
    guard Self.isPossible(basic),
      layout.map({ $0.channelCount == basic.mChannelsPerFrame })
        ?? (basic.mChannelsPerFrame <= 2)
    else { return nil }
    self.init(basic, layout)
  }

  /// Creates a format of a Core Media format description.
  public convenience init(cmAudioFormatDescription formatDescription: CMAudioFormatDescription) {
    self.init(
      formatDescription.audioStreamBasicDescription ?? AudioStreamBasicDescription(),
      formatDescription.audioChannelLayout.map { AVAudioChannelLayout($0) },
      cookie: formatDescription.magicCookie)
  }

  /// The valid numbers of channels.
  private static let channels = 1...UInt32(1024)

  private static func isPossible(_ basic: AudioStreamBasicDescription) -> Bool {
    guard basic.mSampleRate.isFinite, basic.mSampleRate >= 0, channels.contains(basic.mChannelsPerFrame)
    else {
      return false
    }
    return basic.mFormatID != kAudioFormatLinearPCM
      || basic.mBytesPerFrame > 0 && (1...64).contains(basic.mBitsPerChannel)
  }

  static func basic(
    _ format: AVAudioCommonFormat, _ rate: Double, _ channels: AVAudioChannelCount, _ isInterleaved: Bool
  ) -> AudioStreamBasicDescription? {
    let (bits, isFloat): (UInt32, Bool)
    switch format {
    case .otherFormat: return nil
    case .pcmFormatFloat32: (bits, isFloat) = (32, true)
    case .pcmFormatFloat64: (bits, isFloat) = (64, true)
    case .pcmFormatInt16: (bits, isFloat) = (16, false)
    case .pcmFormatInt32: (bits, isFloat) = (32, false)
    }
    return basic(bits: bits, isFloat: isFloat, isBigEndian: false, rate, channels, isInterleaved)
  }

  static func basic(
    bits: UInt32, isFloat: Bool, isBigEndian: Bool, _ rate: Double, _ channels: AVAudioChannelCount,
    _ isInterleaved: Bool
  ) -> AudioStreamBasicDescription {
    var flags = kAudioFormatFlagIsPacked | kAudioFormatFlagsNativeEndian
    flags |= isFloat ? kAudioFormatFlagIsFloat : kAudioFormatFlagIsSignedInteger
    if isBigEndian { flags |= kAudioFormatFlagIsBigEndian }
    if !isInterleaved { flags |= kAudioFormatFlagIsNonInterleaved }
    let frame = (bits / 8).multipliedReportingOverflow(by: isInterleaved ? channels : 1).partialValue
    return AudioStreamBasicDescription(
      mSampleRate: rate, mFormatID: kAudioFormatLinearPCM, mFormatFlags: flags, mBytesPerPacket: frame,
      mFramesPerPacket: 1, mBytesPerFrame: frame, mChannelsPerFrame: channels, mBitsPerChannel: bits,
      mReserved: 0)
  }

  // MARK: - Properties

  /// The common format of the samples, or `otherFormat`.
  open var commonFormat: AVAudioCommonFormat {
    guard isPCM, basic.mFormatFlags & kAudioFormatFlagIsBigEndian == kAudioFormatFlagsNativeEndian,
      basic.mBytesPerFrame == basic.mBitsPerChannel / 8 * (isInterleaved ? basic.mChannelsPerFrame : 1)
    else { return .otherFormat }
    let isFloat = basic.mFormatFlags & kAudioFormatFlagIsFloat != 0
    let isSigned = basic.mFormatFlags & kAudioFormatFlagIsSignedInteger != 0
    switch (basic.mBitsPerChannel, isFloat, isSigned) {
    case (32, true, _): return .pcmFormatFloat32
    case (64, true, _): return .pcmFormatFloat64
    case (16, false, true): return .pcmFormatInt16
    case (32, false, true): return .pcmFormatInt32
    default: return .otherFormat
    }
  }

  var isPCM: Bool { basic.mFormatID == kAudioFormatLinearPCM }

  /// Whether the samples are 32-bit floating-point numbers with a buffer for each channel.
  open var isStandard: Bool { commonFormat == .pcmFormatFloat32 && !isInterleaved }
  open var channelCount: AVAudioChannelCount { basic.mChannelsPerFrame }
  /// The sample rate in hertz.
  open var sampleRate: Double { basic.mSampleRate }

  /// Whether the samples of the channels are interleaved in one buffer. True for compressed audio.
  open var isInterleaved: Bool { basic.mFormatFlags & kAudioFormatFlagIsNonInterleaved == 0 || !isPCM }

  /// The stream description. The pointer is valid as long as this object exists, and for the first
  /// 4096 different descriptions of the process forever, since programs often read it from a
  /// temporary object.
  open var streamDescription: UnsafePointer<AudioStreamBasicDescription> {
    if let shared = SharedDescriptions.pointer(to: basic) { return shared }
    guard let pointer = CMAudioFormatDescriptionGetStreamBasicDescription(description_) else {
      preconditionFailure("An audio format description has this")
    }
    return pointer
  }

  /// The decoder configuration of compressed audio.
  open var magicCookie: Data? {
    get { lock.withLock { cookie } }
    set { lock.withLock { cookie = newValue } }
  }

  /// The Core Media format description, which includes the magic cookie.
  open var formatDescription: CMAudioFormatDescription {
    Self.describe(basic, channelLayout, magicCookie)
  }

  // MARK: - Comparison

  /// Whether two formats are equal. A missing channel layout is taken as that of mono or stereo.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? AVAudioFormat else { return false }
    return basic == other.basic && impliedLayout == other.impliedLayout && magicCookie == other.magicCookie
  }

  open override var hash: Int { basic.hashValue }

  private var impliedLayout: ManagedAudioChannelLayout? {
    if let channelLayout { return channelLayout.managed }
    switch basic.mChannelsPerFrame {
    case 1: return ManagedAudioChannelLayout(tag: kAudioChannelLayoutTag_Mono)
    case 2: return ManagedAudioChannelLayout(tag: kAudioChannelLayoutTag_Stereo)
    default: return nil
    }
  }

  /// A description such as "2 ch, 44100 Hz, Float32, deinterleaved".
  open override var description: String {
    let name: String
    switch commonFormat {
    case .pcmFormatFloat32: name = "Float32"
    case .pcmFormatFloat64: name = "Float64"
    case .pcmFormatInt16: name = "Int16"
    case .pcmFormatInt32: name = "Int32"
    case .otherFormat:
      let id = (0..<4).map { UInt8(truncatingIfNeeded: basic.mFormatID >> (24 - 8 * UInt32($0))) }
      name = "'" + String(decoding: id, as: UTF8.self) + "'"
    }
    let order = isPCM && channelCount > 1 ? (isInterleaved ? ", interleaved" : ", deinterleaved") : ""
    return "\(channelCount) ch, \(sampleRate.formatted) Hz, \(name)\(order)"
  }
}

/// Stream descriptions at addresses that stay valid for the lifetime of the process.
private enum SharedDescriptions {
  /// The largest number of descriptions, which bounds the memory that files with many formats can
  /// use.
  private static let maximumCount = 4096
  private static let lock = Lock()
  // Guarded by `lock`. The descriptions that the pointers refer to are written once.
  nonisolated(unsafe) private static var known:
    [AudioStreamBasicDescription: UnsafePointer<AudioStreamBasicDescription>] = [:]

  static func pointer(
    to basic: AudioStreamBasicDescription
  ) -> UnsafePointer<AudioStreamBasicDescription>? {
    lock.withLock {
      if let pointer = known[basic] { return pointer }
      // A description with a NaN sample rate is not equal to itself and would be added at each
      // call.
      guard known.count < maximumCount, basic == basic else { return nil }
      let memory = UnsafeMutablePointer<AudioStreamBasicDescription>.allocate(capacity: 1)
      memory.initialize(to: basic)
      known[basic] = UnsafePointer(memory)
      return UnsafePointer(memory)
    }
  }
}

extension Double {
  /// The number, without ".0" if it is an integer.
  fileprivate var formatted: String { self == rounded() && magnitude < 1e15 ? "\(Int64(self))" : "\(self)" }
}
