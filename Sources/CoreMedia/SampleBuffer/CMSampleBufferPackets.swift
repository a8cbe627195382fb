// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

// Sample buffers with audio whose packets have individual descriptions.

/// Creates a sample buffer with audio.
///
/// - Parameters:
///   - allocator: Not used.
///   - dataBuffer: The data of all samples, one after the other.
///   - dataReady: Whether the data is ready.
///   - makeDataReadyCallback: Called by `CMSampleBufferMakeDataReady`.
///   - makeDataReadyRefcon: A context pointer that is passed to the callback.
///   - formatDescription: The format of the audio.
///   - numSamples: The number of frames of uncompressed audio, or of packets of compressed audio.
///   - presentationTimeStamp: The presentation time of the first sample. The distance of the others
///     follows from the format.
///   - packetDescriptions: One for each packet; nil if all have the size that the format states.
///     Packets must follow each other without gaps.
///   - sampleBufferOut: Receives the sample buffer.
/// - Returns: `kCMSampleBufferError_InvalidMediaTypeForOperation` for other media,
///   `kCMSampleBufferError_RequiredParameterMissing` if required descriptions are missing,
///   `kCMSampleBufferError_InvalidSampleData` for packets with gaps between them.
@discardableResult
@preconcurrency public func CMAudioSampleBufferCreateWithPacketDescriptions(
  allocator: CFAllocator?, dataBuffer: CMBlockBuffer?, dataReady: Bool,
  makeDataReadyCallback: CMSampleBufferMakeDataReadyCallback?,
  refcon makeDataReadyRefcon: UnsafeMutableRawPointer?, formatDescription: CMFormatDescription,
  sampleCount numSamples: CMItemCount, presentationTimeStamp: CMTime,
  packetDescriptions: UnsafePointer<AudioStreamPacketDescription>?,
  sampleBufferOut: UnsafeMutablePointer<CMSampleBuffer?>
) -> OSStatus {
  CMAudioSampleBufferCreateWithPacketDescriptionsAndMakeDataReadyHandler(
    allocator, dataBuffer, dataReady, formatDescription, numSamples, presentationTimeStamp,
    packetDescriptions, sampleBufferOut,
    makeDataReadyCallback.map { callback in { callback($0, makeDataReadyRefcon) } })
}

/// Creates a sample buffer with audio; see `CMAudioSampleBufferCreateWithPacketDescriptions`.
@discardableResult
public func CMAudioSampleBufferCreateWithPacketDescriptionsAndMakeDataReadyHandler(
  _ allocator: CFAllocator?, _ dataBuffer: CMBlockBuffer?, _ dataReady: Bool,
  _ formatDescription: CMFormatDescription, _ numSamples: CMItemCount, _ presentationTimeStamp: CMTime,
  _ packetDescriptions: UnsafePointer<AudioStreamPacketDescription>?,
  _ sampleBufferOut: UnsafeMutablePointer<CMSampleBuffer?>,
  _ makeDataReadyHandler: CMSampleBufferMakeDataReadyHandler?
) -> OSStatus {
  sampleBufferOut.pointee = nil
  guard let basic = formatDescription.audio?.basic else {
    return kCMSampleBufferError_InvalidMediaTypeForOperation
  }
  guard numSamples > 0 else { return kCMSampleBufferError_InvalidEntryCount }
  let packets = packetDescriptions.map { Array(UnsafeBufferPointer(start: $0, count: numSamples)) }
  do {
    sampleBufferOut.pointee = CMSampleBuffer(
      data: dataBuffer, image: nil, isReady: dataReady, format: formatDescription, sampleCount: numSamples,
      timings: try PacketTable.timings(basic, packets, start: presentationTimeStamp, count: numSamples),
      sizes: try PacketTable.sizes(basic, packets), makeReady: makeDataReadyHandler)
    return noErr
  } catch {
    return OSStatus(truncatingIfNeeded: (error as NSError).code)
  }
}

/// Creates a sample buffer with audio that is ready; see
/// `CMAudioSampleBufferCreateWithPacketDescriptions`.
@discardableResult
public func CMAudioSampleBufferCreateReadyWithPacketDescriptions(
  allocator: CFAllocator?, dataBuffer: CMBlockBuffer, formatDescription: CMFormatDescription,
  sampleCount numSamples: CMItemCount, presentationTimeStamp: CMTime,
  packetDescriptions: UnsafePointer<AudioStreamPacketDescription>?,
  sampleBufferOut: UnsafeMutablePointer<CMSampleBuffer?>
) -> OSStatus {
  CMAudioSampleBufferCreateWithPacketDescriptionsAndMakeDataReadyHandler(
    allocator, dataBuffer, true, formatDescription, numSamples, presentationTimeStamp, packetDescriptions,
    sampleBufferOut, nil)
}

/// Determines the sizes and times of packets from their descriptions.
private enum PacketTable {
  static func sizes(_ basic: AudioStreamBasicDescription, _ packets: [AudioStreamPacketDescription]?) throws
    -> SampleSizes
  {
    guard let packets else {
      // In uncompressed audio a sample is a frame of all channels.
      let channels = basic.isNonInterleavedPCM ? max(1, Int(basic.mChannelsPerFrame)) : 1
      let isPCM = basic.mFormatID == kAudioFormatLinearPCM
      let size =
        isPCM ? Int(basic.mBytesPerFrame).multipliedClamped(by: channels) : Int(basic.mBytesPerPacket)
      guard size > 0 else { throw osStatusError(kCMSampleBufferError_RequiredParameterMissing) }
      return .uniform(size)
    }
    for (a, b) in zip(packets, packets.dropFirst()) {
      let (end, overflow) = a.mStartOffset.addingReportingOverflow(Int64(a.mDataByteSize))
      guard !overflow, end == b.mStartOffset else {
        throw osStatusError(kCMSampleBufferError_InvalidSampleData)
      }
    }
    let sizes = packets.map { Int($0.mDataByteSize) }
    return Set(sizes).count == 1 ? .uniform(sizes[0]) : .each(sizes)
  }

  static func timings(
    _ basic: AudioStreamBasicDescription, _ packets: [AudioStreamPacketDescription]?, start: CMTime,
    count: Int
  ) throws -> SampleTimings {
    guard basic.mSampleRate >= 1, let rate = CMTimeScale(exactly: basic.mSampleRate.rounded()) else {
      throw osStatusError(kCMSampleBufferError_InvalidMediaFormat)
    }
    func timing(_ frames: UInt32, at time: CMTime) -> CMSampleTimingInfo {
      CMSampleTimingInfo(
        duration: CMTime(value: CMTimeValue(frames), timescale: rate), presentationTimeStamp: time,
        decodeTimeStamp: .invalid)
    }
    if let packets, packets.contains(where: { $0.mVariableFramesInPacket > 0 }) {
      var time = start
      return .each(
        packets.map { packet in
          let entry = timing(packet.mVariableFramesInPacket, at: time)
          time = CMTimeAdd(time, entry.duration)
          return entry
        })
    }
    let frames = basic.mFormatID == kAudioFormatLinearPCM ? 1 : basic.mFramesPerPacket
    guard frames > 0 else { throw osStatusError(kCMSampleBufferError_InvalidMediaFormat) }
    return .uniform(timing(frames, at: start))
  }
}

// MARK: - Reading

/// Copies the packet descriptions of a sample buffer.
///
/// - Parameters:
///   - sbuf: The sample buffer.
///   - packetDescriptionsSize: The size of the memory at `packetDescriptionsOut` in bytes.
///   - packetDescriptionsOut: Receives the descriptions; nil to get their size only.
///   - packetDescriptionsSizeNeededOut: Receives the size of all descriptions in bytes; 0 if all
///     packets have the size that the format states.
/// - Returns: `kCMSampleBufferError_ArrayTooSmall` if there is not enough space.
@discardableResult
public func CMSampleBufferGetAudioStreamPacketDescriptions(
  _ sbuf: CMSampleBuffer, allocatedSize packetDescriptionsSize: Int,
  packetDescriptionsOut: UnsafeMutablePointer<AudioStreamPacketDescription>?,
  packetDescriptionsSizeNeededOut: UnsafeMutablePointer<Int>?
) -> OSStatus {
  if sbuf.isInvalidated { return kCMSampleBufferError_Invalidated }
  let packets: [AudioStreamPacketDescription]
  do { packets = try sbuf.audioStreamPacketDescriptions() } catch {
    return OSStatus(truncatingIfNeeded: (error as NSError).code)
  }
  let needed = packets.count * MemoryLayout<AudioStreamPacketDescription>.stride
  packetDescriptionsSizeNeededOut?.pointee = needed
  guard let packetDescriptionsOut, needed > 0 else { return noErr }
  guard packetDescriptionsSize >= needed else { return kCMSampleBufferError_ArrayTooSmall }
  packetDescriptionsOut.update(from: packets, count: packets.count)
  return noErr
}

/// Gets the packet descriptions of a sample buffer, at an address that is valid as long as the
/// sample buffer.
///
/// - Parameters:
///   - sbuf: The sample buffer.
///   - packetDescriptionsPointerOut: Receives the address; nil if all packets have the size that
///     the format states.
///   - sizeOut: Receives the size of all descriptions in bytes.
@discardableResult
public func CMSampleBufferGetAudioStreamPacketDescriptionsPtr(
  _ sbuf: CMSampleBuffer,
  packetDescriptionsPointerOut: UnsafeMutablePointer<UnsafePointer<AudioStreamPacketDescription>?>?,
  sizeOut: UnsafeMutablePointer<Int>?
) -> OSStatus {
  if sbuf.isInvalidated { return kCMSampleBufferError_Invalidated }
  do {
    let memory = try sbuf.packetMemory()
    packetDescriptionsPointerOut?.pointee =
      memory.packets.isEmpty ? nil : UnsafePointer(memory.packets.baseAddress)
    sizeOut?.pointee = memory.packets.count * MemoryLayout<AudioStreamPacketDescription>.stride
    return noErr
  } catch { return OSStatus(truncatingIfNeeded: (error as NSError).code) }
}

/// Packet descriptions at an address that does not change. They are not changed after creation.
final class PacketMemory: @unchecked Sendable {
  // Sendable: memory that is written in `init` and freed in `deinit`.
  let packets: UnsafeMutableBufferPointer<AudioStreamPacketDescription>

  init(_ descriptions: [AudioStreamPacketDescription]) {
    packets = .allocate(capacity: descriptions.count)
    _ = packets.initialize(from: descriptions)
  }

  deinit { packets.deallocate() }
}

extension CMSampleBuffer {
  /// Calls a closure with the packet descriptions, which are valid during the call only. There are
  /// none if all packets have the size that the format states.
  public func withUnsafeAudioStreamPacketDescriptions<Result>(
    _ body: (UnsafeBufferPointer<AudioStreamPacketDescription>) throws -> Result
  ) throws -> Result {
    let memory = try packetMemory()
    return try withExtendedLifetime(memory) { try body(UnsafeBufferPointer(memory.packets)) }
  }

  /// Creates a sample buffer with audio that is ready; see
  /// `CMAudioSampleBufferCreateWithPacketDescriptions`.
  public convenience init(
    dataBuffer: CMBlockBuffer, formatDescription: CMFormatDescription, numSamples: CMItemCount,
    presentationTimeStamp: CMTime, packetDescriptions: [AudioStreamPacketDescription]
  ) throws {
    try self.init(
      packets: packetDescriptions, data: dataBuffer, isReady: true, format: formatDescription,
      count: numSamples, start: presentationTimeStamp, makeReady: nil)
  }

  /// Creates a sample buffer with audio that may become ready later; see
  /// `CMAudioSampleBufferCreateWithPacketDescriptions`.
  public convenience init(
    dataBuffer: CMBlockBuffer?, dataReady: Bool = false, formatDescription: CMFormatDescription,
    numSamples: CMItemCount, presentationTimeStamp: CMTime,
    packetDescriptions: [AudioStreamPacketDescription],
    makeDataReadyHandler: @escaping CMSampleBufferMakeDataReadyHandler
  ) throws {
    try self.init(
      packets: packetDescriptions, data: dataBuffer, isReady: dataReady, format: formatDescription,
      count: numSamples, start: presentationTimeStamp, makeReady: makeDataReadyHandler)
  }

  private convenience init(
    packets: [AudioStreamPacketDescription], data: CMBlockBuffer?, isReady: Bool, format: CMFormatDescription,
    count: Int, start: CMTime, makeReady: CMSampleBufferMakeDataReadyHandler?
  ) throws {
    guard let basic = format.audio?.basic else { throw Error.invalidMediaTypeForOperation }
    guard count > 0, packets.isEmpty || packets.count == count else { throw Error.invalidEntryCount }
    let described = packets.isEmpty ? nil : packets
    self.init(
      data: data, image: nil, isReady: isReady, format: format, sampleCount: count,
      timings: try PacketTable.timings(basic, described, start: start, count: count),
      sizes: try PacketTable.sizes(basic, described), makeReady: makeReady)
  }
}
