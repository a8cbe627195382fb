// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// A description of time codes or counters.
public typealias CMTimeCodeFormatDescription = CMFormatDescription

/// The storage format of time codes, a four-character code.
public typealias CMTimeCodeFormatType = FourCharCode
/// Samples are 32-bit frame numbers.
public let kCMTimeCodeFormatType_TimeCode32: CMTimeCodeFormatType = 0x746D6364  // 'tmcd'
/// Samples are 64-bit frame numbers.
public let kCMTimeCodeFormatType_TimeCode64: CMTimeCodeFormatType = 0x74633634  // 'tc64'
/// Samples are 32-bit counters.
public let kCMTimeCodeFormatType_Counter32: CMTimeCodeFormatType = 0x636E3332  // 'cn32'
/// Samples are 64-bit counters.
public let kCMTimeCodeFormatType_Counter64: CMTimeCodeFormatType = 0x636E3634  // 'cn64'

/// Frame numbers are dropped so that time codes at 29.97 frames per second match the clock
/// (drop-frame time code).
public let kCMTimeCodeFlag_DropFrame: UInt32 = 1 << 0
/// Time codes wrap around after 24 hours.
public let kCMTimeCodeFlag_24HourMax: UInt32 = 1 << 1
/// Time codes may be negative.
public let kCMTimeCodeFlag_NegTimesOK: UInt32 = 1 << 2

/// The source of the time code, for example a tape: a dictionary with a name and its language.
nonisolated(unsafe) public let kCMTimeCodeFormatDescriptionExtension_SourceReferenceName: CFString =
  "SourceReferenceName"
/// In the dictionary of the source: the name.
nonisolated(unsafe) public let kCMTimeCodeFormatDescriptionKey_Value: CFString = "Value"
/// In the dictionary of the source: the language of the name, as a QuickTime language code.
nonisolated(unsafe) public let kCMTimeCodeFormatDescriptionKey_LangCode: CFString = "LangCode"

/// The properties of time codes in a format description.
struct TimeCodeFormat: Equatable {
  let frameDuration: CMTime
  /// The number of frames per second, rounded up; for a counter, the number of ticks.
  let frameQuanta: UInt32
  let flags: UInt32

  static let types = [
    kCMTimeCodeFormatType_TimeCode32, kCMTimeCodeFormatType_TimeCode64, kCMTimeCodeFormatType_Counter32,
    kCMTimeCodeFormatType_Counter64,
  ]
}

/// Creates a description of time codes.
///
/// - Parameters:
///   - allocator: Not used.
///   - timeCodeFormatType: The storage format.
///   - frameDuration: The duration of a frame, for example 1001/30000 s.
///   - frameQuanta: The number of frames per second, rounded up, for example 30.
///   - flags: `kCMTimeCodeFlag_*`.
///   - extensions: Property list values by key.
///   - formatDescriptionOut: Receives the description.
/// - Returns: `kCMFormatDescriptionError_InvalidParameter` if the duration is not a positive
///   number.
@discardableResult
public func CMTimeCodeFormatDescriptionCreate(
  allocator: CFAllocator?, timeCodeFormatType: CMTimeCodeFormatType, frameDuration: CMTime,
  frameQuanta: UInt32, flags: UInt32, extensions: CFDictionary?,
  formatDescriptionOut: UnsafeMutablePointer<CMTimeCodeFormatDescription?>
) -> OSStatus {
  formatDescriptionOut.pointee = nil
  guard frameDuration.isNumeric, frameDuration > .zero else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  formatDescriptionOut.pointee = CMFormatDescription(
    mediaType: kCMMediaType_TimeCode, mediaSubType: timeCodeFormatType, extensions: extensions,
    timeCode: TimeCodeFormat(frameDuration: frameDuration, frameQuanta: frameQuanta, flags: flags))
  return noErr
}

/// Returns the duration of a frame; invalid for other media.
@discardableResult
public func CMTimeCodeFormatDescriptionGetFrameDuration(
  _ timeCodeFormatDescription: CMTimeCodeFormatDescription
) -> CMTime { timeCodeFormatDescription.timeCode?.frameDuration ?? .invalid }

/// Returns the number of frames per second, rounded up; 0 for other media.
@discardableResult
public func CMTimeCodeFormatDescriptionGetFrameQuanta(
  _ timeCodeFormatDescription: CMTimeCodeFormatDescription
) -> UInt32 { timeCodeFormatDescription.timeCode?.frameQuanta ?? 0 }

/// Returns the flags, `kCMTimeCodeFlag_*`; 0 for other media.
@discardableResult
public func CMTimeCodeFormatDescriptionGetTimeCodeFlags(_ desc: CMTimeCodeFormatDescription) -> UInt32 {
  desc.timeCode?.flags ?? 0
}

extension CMFormatDescription {
  /// A namespace for the flags of time codes.
  public struct TimeCode {
    public struct Flag: OptionSet, Sendable {
      public let rawValue: UInt32
      public init(rawValue: UInt32) { self.rawValue = rawValue }

      /// Frame numbers are dropped so that time codes at 29.97 frames per second match the clock
      /// (drop-frame time code).
      public static let dropFrame = Flag(rawValue: kCMTimeCodeFlag_DropFrame)
      /// Time codes wrap around after 24 hours.
      public static let twentyFourHourMax = Flag(rawValue: kCMTimeCodeFlag_24HourMax)
      /// Time codes may be negative.
      public static let negTimesOK = Flag(rawValue: kCMTimeCodeFlag_NegTimesOK)
    }
  }

  /// Creates a description of time codes; see `CMTimeCodeFormatDescriptionCreate`.
  /// - Throws: `CMFormatDescription.Error`.
  public convenience init(
    timeCodeFormatType: MediaSubType, frameDuration: CMTime, frameQuanta: UInt32, flags: TimeCode.Flag,
    extensions: Extensions? = nil
  ) throws {
    guard frameDuration.isNumeric, frameDuration > .zero else { throw Error.invalidParameter }
    self.init(
      mediaType: kCMMediaType_TimeCode, mediaSubType: timeCodeFormatType.rawValue,
      extensions: extensions?.dictionary,
      timeCode: TimeCodeFormat(
        frameDuration: frameDuration, frameQuanta: frameQuanta, flags: flags.rawValue))
  }

  /// The duration of a frame, for time codes; invalid for other media.
  public var frameDuration: CMTime { CMTimeCodeFormatDescriptionGetFrameDuration(self) }
  /// The number of frames per second, rounded up, for time codes; 0 for other media.
  public var frameQuanta: UInt32 { CMTimeCodeFormatDescriptionGetFrameQuanta(self) }
  /// The flags of time codes; empty for other media.
  public var timeCodeFlags: TimeCode.Flag {
    TimeCode.Flag(rawValue: CMTimeCodeFormatDescriptionGetTimeCodeFlags(self))
  }
}
