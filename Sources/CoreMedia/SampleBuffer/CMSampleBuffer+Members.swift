// SPDX-License-Identifier: Apache-2.0
import CoreVideo

extension CMSampleBuffer {
  /// Options of the functions that deal with lists of audio buffers.
  public struct Flags: OptionSet, Sendable, Hashable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Data begins at addresses that are multiples of 16 bytes.
    public static let audioBufferListAssure16ByteAlignment = Flags(
      rawValue: kCMSampleBufferFlag_AudioBufferList_Assure16ByteAlignment)
  }

  /// The type identifier of sample buffers.
  public static var typeID: CFTypeID { cfTypeID }

  // MARK: - Data

  /// Gives the sample buffer its data, once. It does not become ready by that.
  public func setDataBuffer(_ dataBuffer: CMBlockBuffer) throws { try check(setBlockBuffer(dataBuffer)) }

  /// The data of all samples, one after the other.
  public var dataBuffer: CMBlockBuffer? { blockBuffer }

  /// The image.
  public var imageBuffer: CVImageBuffer? { CMSampleBufferGetImageBuffer(self) }

  /// The format of all samples.
  public var formatDescription: CMFormatDescription? { format }

  // MARK: - State

  /// Whether the data can be used.
  public var dataReadiness: DataReadiness { currentReadiness }

  /// Says whether the data can be used.
  public func setDataReadiness(_ newValue: DataReadiness) throws { try check(setReadiness(newValue)) }

  /// Has the data made ready by the function that was given for it.
  public func makeDataReady() throws { try check(makeReadyNow()) }

  /// Makes this sample buffer ready whenever another one is.
  public func trackDataReadiness(_ sampleBufferToTrack: CMSampleBuffer) throws {
    try check(track(sampleBufferToTrack))
  }

  /// Makes the sample buffer unusable, releases its data and calls its invalidation function.
  public func invalidate() throws { try check(invalidateNow()) }

  /// Sets the function to call when the sample buffer is invalidated. What it throws is dropped.
  public func setInvalidateHandler(_ body: @escaping (CMSampleBuffer) throws -> Void) throws {
    try check(setOnInvalidate { try? body($0) })
  }

  /// Whether the sample buffer was not invalidated.
  public var isValid: Bool { !isInvalidated }

  // MARK: - Time

  /// The number of samples.
  public var numSamples: Int { sampleCount }

  /// The sum of the durations of all samples.
  public var duration: CMTime { CMSampleBufferGetDuration(self) }

  /// The earliest presentation time of all samples.
  public var presentationTimeStamp: CMTime { CMSampleBufferGetPresentationTimeStamp(self) }

  /// The earliest decode time of all samples; invalid if they are in presentation order.
  public var decodeTimeStamp: CMTime { CMSampleBufferGetDecodeTimeStamp(self) }

  /// The duration less what is trimmed, divided by the speed.
  public var outputDuration: CMTime { CMSampleBufferGetOutputDuration(self) }

  /// The output time that was set, or the one that follows from the presentation time and what is
  /// trimmed.
  public var outputPresentationTimeStamp: CMTime { CMSampleBufferGetOutputPresentationTimeStamp(self) }

  /// Sets the output time; an invalid time has it derived again.
  public func setOutputPresentationTimeStamp(_ pts: CMTime) throws {
    try check(CMSampleBufferSetOutputPresentationTimeStamp(self, newValue: pts))
  }

  /// The decode time, moved by as much as the output time is from the presentation time.
  public var outputDecodeTimeStamp: CMTime { CMSampleBufferGetOutputDecodeTimeStamp(self) }

  /// The timing entries as they were given: one that applies to all samples, or one for each.
  public func sampleTimingInfos() throws -> [CMSampleTimingInfo] {
    if isInvalidated { throw Error.invalidated }
    let entries = timings.entries
    if entries.isEmpty { throw Error.bufferHasNoSampleTimingInfo }
    return entries
  }

  /// The timing entries after trimming, speed and reversal.
  public func outputSampleTimingInfos() throws -> [CMSampleTimingInfo] {
    var count = 0
    try check(
      CMSampleBufferGetOutputSampleTimingInfoArray(
        self, entryCount: 0, arrayToFill: nil, entriesNeededOut: &count))
    var entries = [CMSampleTimingInfo](repeating: .invalid, count: count)
    try check(
      CMSampleBufferGetOutputSampleTimingInfoArray(
        self, entryCount: count, arrayToFill: &entries, entriesNeededOut: nil))
    return entries
  }

  /// The timing of one sample, also where only one entry for all was given.
  public func sampleTimingInfo(at sampleIndex: CMItemIndex) throws -> CMSampleTimingInfo {
    var timing = CMSampleTimingInfo.invalid
    try check(CMSampleBufferGetSampleTimingInfo(self, at: sampleIndex, timingInfoOut: &timing))
    return timing
  }

  // MARK: - Size

  /// The size entries as they were given, in bytes: one that applies to all samples, or one for
  /// each.
  public func sampleSizes() throws -> [Int] {
    if isInvalidated { throw Error.invalidated }
    let entries = sizes.entries
    if entries.isEmpty { throw Error.bufferHasNoSampleSizes }
    return entries
  }

  /// The size of one sample in bytes; 0 if it is unknown or there is no such sample.
  public func sampleSize(at sampleIndex: Int) -> Int { CMSampleBufferGetSampleSize(self, at: sampleIndex) }

  /// The size of all samples in bytes; 0 if it is unknown.
  public var totalSampleSize: Int { CMSampleBufferGetTotalSampleSize(self) }

  // MARK: - Each sample

  /// A sample buffer for each sample, made when it is asked for.
  public struct SingleSampleBuffers: Sequence {
    let owner: CMSampleBuffer

    public func makeIterator() -> AnyIterator<CMSampleBuffer> {
      var index = 0
      // Of the sample's data, summed up as we go.
      var offset = 0
      return AnyIterator { [owner] in
        guard index < owner.sampleCount,
          let part = try? owner.part(index..<index + 1, offset: offset).get()
        else { return nil }
        offset = offset.addingClamped(owner.dataSize(at: index))
        index += 1
        return part
      }
    }
  }

  /// A sample buffer for each sample.
  /// - Throws: `CMSampleBuffer.Error.invalidEntryCount` for more than 2^20 samples that have
  ///   neither bytes nor entries of their own.
  public func singleSampleBuffers() throws -> SingleSampleBuffers {
    if isInvalidated { throw Error.invalidated }
    guard canBeListed else { throw Error.invalidEntryCount }
    if sampleCount > 0, case .failure(let error) = subdivide(sampleCount - 1..<sampleCount) {
      throw osStatusError(error.status)
    }
    return SingleSampleBuffers(owner: self)
  }
}
