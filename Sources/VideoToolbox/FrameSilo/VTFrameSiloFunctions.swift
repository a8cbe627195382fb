// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// The type id of `VTFrameSilo`.
@discardableResult
public func VTFrameSiloGetTypeID() -> CFTypeID { VTFrameSilo.cfTypeID }

/// Creates a silo for the frames of a movie that is encoded in several passes.
///
/// Of the parameters:
///
/// - `fileURL`: Where to keep the frames; nil takes a file without a name, which is gone with the silo or the process. A
///   silo that is there is written over; any other file that has content is left alone.
/// - `timeRange`: What the movie's decode times cover; an invalid range is unknown, and the first pass then has no
///   progress.
/// - `options`: Nil, or `kOVTFrameSiloCreationOption_DoNotDelete`, `kOVTFrameSiloCreationOption_OpenExisting`.
/// - Returns: `kVTParameterErr` for a URL that is no file's, a file that is no silo and not empty, an option of another
///   type, a range of which a part is no number; fBsyErr (-47) for a silo that is open already; dskFulErr (-34); ioErr
///   (-36) for a damaged silo, and where there can be no file.
@discardableResult
public func VTFrameSiloCreate(
  allocator: CFAllocator?, fileURL: CFURL?, timeRange: CMTimeRange, options: CFDictionary?,
  frameSiloOut: UnsafeMutablePointer<VTFrameSilo?>
) -> OSStatus {
  frameSiloOut.pointee = nil
  guard let isKept = flag(kOVTFrameSiloCreationOption_DoNotDelete, in: options),
    let opens = flag(kOVTFrameSiloCreationOption_OpenExisting, in: options)
  else { return kVTParameterErr }
  let range = DecodeTimeRange(timeRange)
  if !timeRange.isUnknown && range == nil { return kVTParameterErr }
  return status { () throws(SiloError) in
    let first = SiloPass(ranges: range.map { [$0] } ?? [])
    guard let fileURL else {
      guard !opens else { throw SiloError(kVTParameterErr) }
      frameSiloOut.pointee = VTFrameSilo(file: try SiloFile(), pass: first, isKept: false)
      return
    }
    guard fileURL.isFileURL, let path = fileURL.path, !path.isEmpty else { throw SiloError(kVTParameterErr) }
    let place = SiloPlace(path)
    let file =
      opens
      ? try SiloFile(openingAt: place, isKept: isKept) : try SiloFile(creatingAt: place, isKept: isKept)
    if !opens { try file.save(first) }
    frameSiloOut.pointee = VTFrameSilo(
      file: file, pass: opens ? try file.savedPass() ?? first : first, isKept: isKept)
  }
}

/// - Returns: False where the option is not given; nil for a value of another type.
private func flag(_ key: CFString, in options: CFDictionary?) -> Bool? {
  guard let value = options?[key] else { return false }
  return PropertyType.boolean.parse(value as AnyObject)?.boolean
}

extension CMTimeRange {
  /// `CMTimeRange.invalid`, and the like of it; not one that has a time and is none.
  fileprivate var isUnknown: Bool { !start.isValid || !duration.isValid }
}

/// Adds a sample buffer with compressed video.
///
/// In a pass, sample buffers come in decode order. In a pass after the first their decode times lie in its time ranges.
/// - Returns: `kVTFrameSiloInvalidTimeStampErr` for a decode time that is no number, not after the last one's, or outside
///   of the ranges; `kVTParameterErr` for what is not compressed video whose data is there, or has an attachment that is
///   no property list; dskFulErr (-34); ioErr (-36). After the last two nothing more can be added if frames were lost
///   beside this one: `lastDecodeTimeStamp` tells what is there.
@discardableResult
public func VTFrameSiloAddSampleBuffer(_ silo: VTFrameSilo, sampleBuffer: CMSampleBuffer) -> OSStatus {
  status { () throws(SiloError) in try silo.add(try SiloFrame(sampleBuffer)) }
}

/// Begins a pass after the first: removes the sample buffers whose decode times lie in the ranges.
///
/// Of the parameters:
///
/// - `timeRangeArray`: In ascending order, without overlap; each begins with its start and ends before its end.
/// - Returns: `kVTFrameSiloInvalidTimeRangeErr` for other ranges, and such of which a part is no number;
///   `kVTParameterErr` for none; dskFulErr (-34); ioErr (-36).
@discardableResult
public func VTFrameSiloSetTimeRangesForNextPass(
  _ silo: VTFrameSilo, timeRangeCount: CMItemCount, timeRangeArray: UnsafePointer<CMTimeRange>
) -> OSStatus {
  guard timeRangeCount > 0 else { return kVTParameterErr }
  let given = UnsafeBufferPointer(start: timeRangeArray, count: timeRangeCount)
  guard let ranges = DecodeTimeRange.ascending(given) else { return kVTFrameSiloInvalidTimeRangeErr }
  return status { () throws(SiloError) in try silo.beginPass(ranges) }
}

/// How much of the pass's time ranges has been added, from 0 to 1, by the end of the sample buffer that came last.
/// - Returns: `kVTFrameSiloInvalidTimeRangeErr` if the silo was created without a range and this is the first pass.
@discardableResult
public func VTFrameSiloGetProgressOfCurrentPass(
  _ silo: VTFrameSilo, progressOut: UnsafeMutablePointer<Float32>
) -> OSStatus {
  guard let progress = silo.progress() else { return kVTFrameSiloInvalidTimeRangeErr }
  progressOut.pointee = progress
  return noErr
}

/// Calls a function with each sample buffer, in decode order.
///
/// Of the parameters:
///
/// - `timeRange`: Of decode times; `CMTimeRange.invalid` for all.
/// - `callback`: Gets `refcon` and the sample buffer. Anything but `noErr` from it ends the calls and is returned. It may
///   use the silo.
/// - Returns: `kVTFrameSiloInvalidTimeRangeErr` for a range of which a part is no number; ioErr (-36) for a damaged file.
@discardableResult
public func VTFrameSiloCallFunctionForEachSampleBuffer(
  _ silo: VTFrameSilo, in timeRange: CMTimeRange, refcon: UnsafeMutableRawPointer?,
  callback: (UnsafeMutableRawPointer?, CMSampleBuffer) -> OSStatus
) -> OSStatus {
  VTFrameSiloCallBlockForEachSampleBuffer(silo, in: timeRange) { callback(refcon, $0) }
}

/// Calls a block with each sample buffer, in decode order: as `VTFrameSiloCallFunctionForEachSampleBuffer`.
@discardableResult
public func VTFrameSiloCallBlockForEachSampleBuffer(
  _ silo: VTFrameSilo, in timeRange: CMTimeRange, handler: (CMSampleBuffer) -> OSStatus
) -> OSStatus {
  let range = DecodeTimeRange(timeRange)
  if !timeRange.isUnknown && range == nil { return kVTFrameSiloInvalidTimeRangeErr }
  return status { () throws(SiloError) in try silo.forEach(in: range, handler) }
}

private func status(_ body: () throws(SiloError) -> Void) -> OSStatus {
  do throws(SiloError) {
    try body()
    return noErr
  } catch {
    return error.status
  }
}
