// SPDX-License-Identifier: Apache-2.0
import CoreVideo

extension CMSampleBuffer {
  /// Options of the functions for lists of audio buffers.
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

  /// Sets the data, which can be done once. The sample buffer does not become ready by it.
  public func setDataBuffer(_ dataBuffer: CMBlockBuffer) throws { try check(setBlockBuffer(dataBuffer)) }

  /// The data of all samples, one after the other; nil if there is none.
  public var dataBuffer: CMBlockBuffer? { blockBuffer }

  /// The image; nil if there is none.
  public var imageBuffer: CVImageBuffer? { CMSampleBufferGetImageBuffer(self) }

  /// The format of all samples; nil if there is none.
  public var formatDescription: CMFormatDescription? { format }

  // MARK: - State

  /// Whether the data is ready.
  public var dataReadiness: DataReadiness { currentReadiness }

  /// Sets whether the data is ready.
  public func setDataReadiness(_ newValue: DataReadiness) throws { try check(setReadiness(newValue)) }

  /// Makes the data ready by calling the function that was given for it.
  public func makeDataReady() throws { try check(makeReadyNow()) }

  /// Makes this sample buffer ready whenever another one is ready.
  public func trackDataReadiness(_ sampleBufferToTrack: CMSampleBuffer) throws {
    try check(track(sampleBufferToTrack))
  }

  /// Makes the sample buffer unusable, releases its data and calls its invalidation handler.
  public func invalidate() throws { try check(invalidateNow()) }

  /// Sets the handler that is called when the sample buffer is invalidated. Errors that it throws
  /// are ignored.
  public func setInvalidateHandler(_ body: @escaping (CMSampleBuffer) throws -> Void) throws {
    try check(setOnInvalidate { try? body($0) })
  }

  /// Whether the sample buffer has not been invalidated.
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

  /// The duration after trimming, divided by the speed.
  public var outputDuration: CMTime { CMSampleBufferGetOutputDuration(self) }

  /// The output presentation time that was set, or the one that follows from the presentation time
  /// and the trimmed duration.
  public var outputPresentationTimeStamp: CMTime { CMSampleBufferGetOutputPresentationTimeStamp(self) }

  /// Sets the output presentation time. After an invalid time it follows from the samples again.
  public func setOutputPresentationTimeStamp(_ pts: CMTime) throws {
    try check(CMSampleBufferSetOutputPresentationTimeStamp(self, newValue: pts))
  }

  /// The decode time, moved by the difference between the output presentation time and the
  /// presentation time.
  public var outputDecodeTimeStamp: CMTime { CMSampleBufferGetOutputDecodeTimeStamp(self) }

  /// Returns the timing entries as they were given: one that applies to all samples, or one for
  /// each.
  public func sampleTimingInfos() throws -> [CMSampleTimingInfo] {
    if isInvalidated { throw Error.invalidated }
    let entries = timings.entries
    if entries.isEmpty { throw Error.bufferHasNoSampleTimingInfo }
    return entries
  }

  /// Returns the timing entries after trimming, change of speed and reversal.
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

  /// Returns the timing of one sample, even if a single entry was given for all samples.
  public func sampleTimingInfo(at sampleIndex: CMItemIndex) throws -> CMSampleTimingInfo {
    var timing = CMSampleTimingInfo.invalid
    try check(CMSampleBufferGetSampleTimingInfo(self, at: sampleIndex, timingInfoOut: &timing))
    return timing
  }

  // MARK: - Size

  /// Returns the size entries as they were given, in bytes: one that applies to all samples, or one
  /// for each.
  public func sampleSizes() throws -> [Int] {
    if isInvalidated { throw Error.invalidated }
    let entries = sizes.entries
    if entries.isEmpty { throw Error.bufferHasNoSampleSizes }
    return entries
  }

  /// Returns the size of one sample in bytes; 0 if it is unknown or there is no such sample.
  public func sampleSize(at sampleIndex: Int) -> Int { CMSampleBufferGetSampleSize(self, at: sampleIndex) }

  /// The size of all samples in bytes; 0 if it is unknown.
  public var totalSampleSize: Int { CMSampleBufferGetTotalSampleSize(self) }

  // MARK: - Each sample

  /// A sequence of sample buffers with one sample each, which are created when they are requested.
  public struct SingleSampleBuffers: Sequence {
    let owner: CMSampleBuffer

    public func makeIterator() -> AnyIterator<CMSampleBuffer> {
      var index = 0
      // The offset of the data of the sample, which is summed incrementally.
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

  /// Returns a sequence of sample buffers with one sample each.
  /// - Throws: `CMSampleBuffer.Error.invalidEntryCount` if there are more than 2^20 samples without
  ///   individual entries or bytes.
  public func singleSampleBuffers() throws -> SingleSampleBuffers {
    if isInvalidated { throw Error.invalidated }
    guard canBeListed else { throw Error.invalidEntryCount }
    if sampleCount > 0, case .failure(let error) = subdivide(sampleCount - 1..<sampleCount) {
      throw osStatusError(error.status)
    }
    return SingleSampleBuffers(owner: self)
  }
}
