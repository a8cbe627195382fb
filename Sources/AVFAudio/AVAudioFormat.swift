// SPDX-License-Identifier: Apache-2.0
import AudioToolbox
import Foundation

/// Layouts of linear PCM that most programs use: of this machine's byte order, without room between samples.
public enum AVAudioCommonFormat: UInt, Sendable {
  /// None of these.
  case otherFormat = 0
  case pcmFormatFloat32 = 1
  case pcmFormatFloat64 = 2
  case pcmFormatInt16 = 3
  case pcmFormatInt32 = 4
}

/// The format of sound. Never changes, but for the magic cookie.
open class AVAudioFormat: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards the cookie; the rest is constant.
  private let lock = Lock()
  private let description_: CMAudioFormatDescription
  private var cookie: Data?

  /// How the channels are arranged; nil where the format says their number only.
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

  /// Floating-point samples of 32 bits, each channel on its own.
  /// - Parameters:
  ///   - sampleRate: In hertz; above 0.
  ///   - channels: 1 or 2; nil is returned for more, whose arrangement has to be said.
  public convenience init?(standardFormatWithSampleRate sampleRate: Double, channels: AVAudioChannelCount) {
    self.init(
      commonFormat: .pcmFormatFloat32, sampleRate: sampleRate, channels: channels, interleaved: false)
  }

  /// Floating-point samples of 32 bits, each channel on its own.
  public convenience init(
    standardFormatWithSampleRate sampleRate: Double, channelLayout layout: AVAudioChannelLayout
  ) {
    self.init(
      commonFormat: .pcmFormatFloat32, sampleRate: sampleRate, interleaved: false, channelLayout: layout)
  }

  /// One of the common layouts of samples.
  /// - Parameters:
  ///   - format: nil is returned for `otherFormat`.
  ///   - sampleRate: In hertz; above 0.
  ///   - channels: 1 or 2; nil is returned for more, whose arrangement has to be said.
  ///   - interleaved: The channels' samples alternate; otherwise each channel has a buffer of its own.
  public convenience init?(
    commonFormat format: AVAudioCommonFormat, sampleRate: Double, channels: AVAudioChannelCount,
    interleaved: Bool
  ) {
    guard (1...2).contains(channels), sampleRate > 0, sampleRate.isFinite,
      let basic = Self.basic(format, sampleRate, channels, interleaved)
    else { return nil }
    self.init(basic, nil)
  }

  /// One of the common layouts of samples; `otherFormat` is taken for floats of 32 bits.
  public convenience init(
    commonFormat format: AVAudioCommonFormat, sampleRate: Double, interleaved: Bool,
    channelLayout layout: AVAudioChannelLayout
  ) {
    let format = format == .otherFormat ? .pcmFormatFloat32 : format
    self.init(
      Self.basic(format, sampleRate, layout.channelCount, interleaved) ?? AudioStreamBasicDescription(),
      layout)
  }

  /// What a description says.
  /// - Parameter asbd: nil is returned for one of more than two channels, whose arrangement has to be said, and for
  ///   impossible numbers.
  public convenience init?(streamDescription asbd: UnsafePointer<AudioStreamBasicDescription>) {
    self.init(streamDescription: asbd, channelLayout: nil)
  }

  /// What a description says.
  /// - Parameters:
  ///   - asbd: nil is returned for impossible numbers.
  ///   - layout: Has as many channels. It may be nil for one or two.
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

  /// What a format description of Core Media says.
  public convenience init(cmAudioFormatDescription formatDescription: CMAudioFormatDescription) {
    self.init(
      formatDescription.audioStreamBasicDescription ?? AudioStreamBasicDescription(),
      formatDescription.audioChannelLayout.map { AVAudioChannelLayout($0) },
      cookie: formatDescription.magicCookie)
  }

  /// More channels than anybody has.
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

  // MARK: - What it says

  /// Which of the common layouts it is.
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

  /// Whether it is one of floating-point samples of 32 bits, each channel on its own.
  open var isStandard: Bool { commonFormat == .pcmFormatFloat32 && !isInterleaved }
  open var channelCount: AVAudioChannelCount { basic.mChannelsPerFrame }
  /// In hertz.
  open var sampleRate: Double { basic.mSampleRate }

  /// Whether the channels' samples alternate in one buffer. True for compressed sound.
  open var isInterleaved: Bool { basic.mFormatFlags & kAudioFormatFlagIsNonInterleaved == 0 || !isPCM }

  /// Valid as long as this object, and longer while no program has thousands of formats: it is often read of an object that
  /// nobody keeps.
  open var streamDescription: UnsafePointer<AudioStreamBasicDescription> {
    if let shared = SharedDescriptions.pointer(to: basic) { return shared }
    guard let pointer = CMAudioFormatDescriptionGetStreamBasicDescription(description_) else {
      preconditionFailure("A description of sound has this")
    }
    return pointer
  }

  /// What a decoder of compressed sound needs besides.
  open var magicCookie: Data? {
    get { lock.withLock { cookie } }
    set { lock.withLock { cookie = newValue } }
  }

  /// The same for Core Media, with the magic cookie.
  open var formatDescription: CMAudioFormatDescription {
    Self.describe(basic, channelLayout, magicCookie)
  }

  // MARK: - Comparison

  /// Whether two formats are of the same sound. A layout that is not said is that of mono or stereo.
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

  /// "2 ch, 44100 Hz, Float32, deinterleaved".
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

/// Descriptions at addresses that stay.
private enum SharedDescriptions {
  /// As many as are kept, so that files of strangers take no memory without end.
  private static let most = 4096
  private static let lock = Lock()
  // Guarded by `lock`; what the pointers point to is written once.
  nonisolated(unsafe) private static var known:
    [AudioStreamBasicDescription: UnsafePointer<AudioStreamBasicDescription>] = [:]

  static func pointer(
    to basic: AudioStreamBasicDescription
  ) -> UnsafePointer<AudioStreamBasicDescription>? {
    lock.withLock {
      if let pointer = known[basic] { return pointer }
      // Without a rate that is equal to itself it would never be found again.
      guard known.count < most, basic == basic else { return nil }
      let memory = UnsafeMutablePointer<AudioStreamBasicDescription>.allocate(capacity: 1)
      memory.initialize(to: basic)
      known[basic] = UnsafePointer(memory)
      return UnsafePointer(memory)
    }
  }
}

extension Double {
  /// Without ".0".
  fileprivate var formatted: String { self == rounded() && magnitude < 1e15 ? "\(Int64(self))" : "\(self)" }
}
