// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

// The keys of the dictionary of a time.
public nonisolated(unsafe) let kCMTimeValueKey: CFString = "value"
public nonisolated(unsafe) let kCMTimeScaleKey: CFString = "timescale"
public nonisolated(unsafe) let kCMTimeEpochKey: CFString = "epoch"
public nonisolated(unsafe) let kCMTimeFlagsKey: CFString = "flags"

/// Returns a time as a dictionary of numbers, for attachments and property lists.
@discardableResult
public func CMTimeCopyAsDictionary(_ time: CMTime, allocator: CFAllocator?) -> CFDictionary? {
  [
    kCMTimeValueKey: NSNumber(value: time.value), kCMTimeScaleKey: NSNumber(value: time.timescale),
    kCMTimeEpochKey: NSNumber(value: time.epoch), kCMTimeFlagsKey: NSNumber(value: time.flags.rawValue),
  ] as NSDictionary
}

/// Returns the time in a dictionary that `CMTimeCopyAsDictionary` made; invalid if it contains
/// none.
@discardableResult
public func CMTimeMakeFromDictionary(_ dictionaryRepresentation: CFDictionary?) -> CMTime {
  guard let dictionary = dictionaryRepresentation,
    let value = dictionary[kCMTimeValueKey] as? NSNumber,
    let scale = dictionary[kCMTimeScaleKey] as? NSNumber,
    let flags = dictionary[kCMTimeFlagsKey] as? NSNumber
  else { return .invalid }
  let epoch = dictionary[kCMTimeEpochKey] as? NSNumber
  return CMTime(
    value: value.int64Value, timescale: scale.int32Value, flags: CMTimeFlags(rawValue: flags.uint32Value),
    epoch: epoch?.int64Value ?? 0)
}

/// Returns a description of a time, such as `{3000/600 = 5.000}`.
@discardableResult
public func CMTimeCopyDescription(allocator: CFAllocator?, time: CMTime) -> CFString? {
  time.text as CFString
}

/// Writes a time to the standard error stream.
public func CMTimeShow(_ time: CMTime) { writeLine(time.text) }

extension CMTime {
  var text: String {
    guard isValid else { return "{INVALID}" }
    if isPositiveInfinity { return "{+INFINITY}" }
    if isNegativeInfinity { return "{-INFINITY}" }
    if isIndefinite { return "{INDEFINITE}" }
    var text = "{\(value)/\(timescale) = \(String(format: "%.3f", CMTimeGetSeconds(self)))"
    if epoch != 0 { text += ", e=\(epoch)" }
    if flags.contains(.hasBeenRounded) { text += ", rounded" }
    return text + "}"
  }
}

func writeLine(_ text: String) {
  FileHandle.standardError.write(Data((text + "\n").utf8))
}
