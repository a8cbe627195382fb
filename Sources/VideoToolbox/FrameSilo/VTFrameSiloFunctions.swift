// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// The type id of `VTFrameSilo`.
@discardableResult
public func VTFrameSiloGetTypeID() -> CFTypeID { VTFrameSilo.cfTypeID }

/// Creates a silo for the frames of a movie that is encoded in several passes.
///
/// The parameters that need an explanation:
///
/// - `fileURL`: Where to keep the frames; nil takes a file without a name, which disappears with
///   the silo or the process. An existing silo is overwritten; any other file that has content is
///   an error and stays as it is.
/// - `timeRange`: The range of the movie's decode times; an invalid range means that it is unknown,
///   in which case the first pass has no progress.
/// - `options`: Nil, or a dictionary with `kOVTFrameSiloCreationOption_DoNotDelete` and
///   `kOVTFrameSiloCreationOption_OpenExisting`.
/// - Returns: `kVTParameterErr` for a URL that is not a file URL, a file that is neither a silo nor
///   empty, an option of a wrong type, or a range whose start or duration is not a number; fBsyErr
///   (-47) for a silo that is open already; dskFulErr (-34); ioErr (-36) for a damaged silo, and
///   where no file can be created.
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
    let siloPath = SiloPath(path)
    let file =
      opens
      ? try SiloFile(openingAt: siloPath, isKept: isKept) : try SiloFile(creatingAt: siloPath, isKept: isKept)
    if !opens { try file.save(first) }
    frameSiloOut.pointee = VTFrameSilo(
      file: file, pass: opens ? try file.savedPass() ?? first : first, isKept: isKept)
  }
}

/// Reads a Boolean option.
/// - Returns: False where the option is missing; nil for a value of another type.
private func flag(_ key: CFString, in options: CFDictionary?) -> Bool? {
  guard let value = options?[key] else { return false }
  return PropertyType.boolean.parse(value as AnyObject)?.boolean
}

extension CMTimeRange {
  /// Whether the start or the duration is invalid, as in `CMTimeRange.invalid`: such a range means
  /// that it is unknown. A range with valid times that are not numbers is an error instead.
  fileprivate var isUnknown: Bool { !start.isValid || !duration.isValid }
}

/// Adds a sample buffer with compressed video.
///
/// In each pass, sample buffers must come in decode order. In a pass after the first their decode
/// times must lie in its time ranges.
/// - Returns: `kVTFrameSiloInvalidTimeStampErr` for a decode time that is not a number, does not
///   follow that of the last sample buffer, or lies outside the ranges; `kVTParameterErr` for a
///   sample buffer that has no compressed video, whose data is not ready, or that has an attachment
///   that is not a property list; dskFulErr (-34); ioErr (-36). If the last two have lost other
///   frames beside this one, nothing more can be added: `lastDecodeTimeStamp` tells which frames
///   the silo has.
@discardableResult
public func VTFrameSiloAddSampleBuffer(_ silo: VTFrameSilo, sampleBuffer: CMSampleBuffer) -> OSStatus {
  status { () throws(SiloError) in try silo.add(try SiloFrame(sampleBuffer)) }
}

/// Begins a pass after the first: removes the sample buffers whose decode times lie in the ranges.
///
/// The parameters that need an explanation:
///
/// - `timeRangeArray`: Ranges in ascending order, without overlap; each includes its start and
///   excludes its end.
/// - Returns: `kVTFrameSiloInvalidTimeRangeErr` for ranges that are not so, or whose start or
///   duration is not a number; `kVTParameterErr` for no ranges; dskFulErr (-34); ioErr (-36).
@discardableResult
public func VTFrameSiloSetTimeRangesForNextPass(
  _ silo: VTFrameSilo, timeRangeCount: CMItemCount, timeRangeArray: UnsafePointer<CMTimeRange>
) -> OSStatus {
  guard timeRangeCount > 0 else { return kVTParameterErr }
  let given = UnsafeBufferPointer(start: timeRangeArray, count: timeRangeCount)
  guard let ranges = DecodeTimeRange.ascending(given) else { return kVTFrameSiloInvalidTimeRangeErr }
  return status { () throws(SiloError) in try silo.beginPass(ranges) }
}

/// Gets the fraction of the pass's time ranges that precedes the end of the sample buffer that was
/// added last, from 0 to 1.
/// - Returns: `kVTFrameSiloInvalidTimeRangeErr` if the silo was created without a range and this is
///   the first pass.
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
/// The parameters that need an explanation:
///
/// - `timeRange`: The range of decode times; `CMTimeRange.invalid` for all.
/// - `callback`: Receives `refcon` and the sample buffer. A result other than `noErr` ends the
///   calls and is returned. It may use the silo.
/// - Returns: `kVTFrameSiloInvalidTimeRangeErr` for a range whose start or duration is not a
///   number; ioErr (-36) for a damaged file.
@discardableResult
public func VTFrameSiloCallFunctionForEachSampleBuffer(
  _ silo: VTFrameSilo, in timeRange: CMTimeRange, refcon: UnsafeMutableRawPointer?,
  callback: (UnsafeMutableRawPointer?, CMSampleBuffer) -> OSStatus
) -> OSStatus {
  VTFrameSiloCallBlockForEachSampleBuffer(silo, in: timeRange) { callback(refcon, $0) }
}

/// Calls a block with each sample buffer, in decode order, as
/// `VTFrameSiloCallFunctionForEachSampleBuffer` calls a function.
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
