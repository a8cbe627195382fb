// SPDX-License-Identifier: Apache-2.0
import AudioToolbox
import Foundation

/// A buffer for frames of linear PCM.
open class AVAudioPCMBuffer: AVAudioBuffer, @unchecked Sendable {
  // Sendable: for the same reason as the base class.
  /// The largest number of frames that the buffer can hold.
  public let frameCapacity: AVAudioFrameCount
  /// The size of a frame in each of the buffers, in bytes.
  let frameSize: Int
  private let channels: [UnsafeMutableRawPointer]
  private var length: AVAudioFrameCount = 0
  private let pointers: UnsafeMutablePointer<UnsafeMutableRawPointer>

  /// Creates an empty buffer, whose memory is zero.
  /// - Parameters:
  ///   - format: A format of linear PCM.
  ///   - frameCapacity: The largest number of frames that the buffer can hold.
  /// - Returns: Nil for another format, if there is not enough memory, or if one of the buffers
  ///   would exceed 4 GiB.
  public convenience init?(pcmFormat format: AVAudioFormat, frameCapacity: AVAudioFrameCount) {
    let frameSize = Int(format.basic.mBytesPerFrame)
    let count = format.isInterleaved ? 1 : Int(format.channelCount)
    let (size, overflow) = frameSize.multipliedReportingOverflow(by: Int(frameCapacity))
    guard format.isPCM, frameSize > 0, format.channelCount > 0, count > 0, !overflow,
      let bytes = UInt32(exactly: size)
    else {
      return nil
    }
    // Channels begin at multiples of 64 bytes, as vector instructions prefer.
    let channelStride = (size + 63) & ~63
    guard let memory = Self.memory(channelStride * count) else { return nil }
    let buffers = (0..<count).map {
      AudioBuffer(
        mNumberChannels: format.isInterleaved ? format.channelCount : 1, mDataByteSize: bytes,
        mData: memory + $0 * channelStride)
    }
    self.init(format, buffers, frameCapacity) { free(memory) }
  }

  /// Creates a buffer that uses existing memory, all of which contains frames.
  /// - Parameters:
  ///   - format: A format of linear PCM.
  ///   - bufferList: One buffer of interleaved audio, or one buffer for each channel, all of the
  ///     same size.
  ///   - deallocator: Called when the memory is no longer needed. If nil, the memory must stay
  ///     valid as long as this object exists.
  /// - Returns: Nil for another format or another buffer list.
  public convenience init?(
    pcmFormat format: AVAudioFormat, bufferListNoCopy bufferList: UnsafePointer<AudioBufferList>,
    deallocator: ((UnsafePointer<AudioBufferList>) -> Void)? = nil
  ) {
    let list = UnsafeMutableAudioBufferListPointer(UnsafeMutablePointer(mutating: bufferList))
    let frameSize = Int(format.basic.mBytesPerFrame)
    let buffers = (0..<list.count).map { list[$0] }
    guard format.isPCM, frameSize > 0, format.channelCount > 0, let size = buffers.first?.mDataByteSize,
      buffers.count == (format.isInterleaved ? 1 : Int(format.channelCount)),
      buffers.allSatisfy({ $0.mDataByteSize == size && $0.mData != nil })
    else { return nil }
    self.init(format, buffers, size / UInt32(frameSize)) { deallocator?(bufferList) }
    frameLength = frameCapacity
  }

  private init(
    _ format: AVAudioFormat, _ buffers: [AudioBuffer], _ capacity: AVAudioFrameCount,
    release: @escaping () -> Void
  ) {
    frameCapacity = capacity
    frameSize = Int(format.basic.mBytesPerFrame)
    let width = frameSize / (format.isInterleaved ? Int(format.channelCount) : 1)
    let memory = buffers.compactMap(\.mData)
    let isInterleaved = format.isInterleaved
    channels = (0..<Int(format.channelCount)).compactMap { channel in
      isInterleaved ? memory.first.map { $0 + channel * width } : memory[channel]
    }
    pointers = .allocate(capacity: max(1, channels.count))
    for (index, channel) in channels.enumerated() { (pointers + index).initialize(to: channel) }
    super.init(format, buffers, release: release)
  }

  deinit { pointers.deallocate() }

  /// The number of frames in the buffer. Larger values are limited to `frameCapacity`.
  open var frameLength: AVAudioFrameCount {
    get { length }
    set {
      length = min(newValue, frameCapacity)
      for index in used.indices { used[index].mDataByteSize = UInt32(Int(length) * frameSize) }
    }
  }

  /// The distance between consecutive samples of a channel: the number of channels if they are
  /// interleaved, otherwise 1.
  open var stride: Int { format.isInterleaved ? Int(format.channelCount) : 1 }

  /// Pointers to the first sample of each channel; nil unless the samples are 32-bit floating-point
  /// numbers.
  open var floatChannelData: UnsafePointer<UnsafeMutablePointer<Float>>? {
    format.commonFormat == .pcmFormatFloat32 ? samples() : nil
  }

  /// Pointers to the first sample of each channel; nil unless the samples are 16-bit integers.
  open var int16ChannelData: UnsafePointer<UnsafeMutablePointer<Int16>>? {
    format.commonFormat == .pcmFormatInt16 ? samples() : nil
  }

  /// Pointers to the first sample of each channel; nil unless the samples are 32-bit integers.
  open var int32ChannelData: UnsafePointer<UnsafeMutablePointer<Int32>>? {
    format.commonFormat == .pcmFormatInt32 ? samples() : nil
  }

  private func samples<T>() -> UnsafePointer<UnsafeMutablePointer<T>> {
    // All pointers have the same representation.
    UnsafePointer(UnsafeMutableRawPointer(pointers).assumingMemoryBound(to: UnsafeMutablePointer<T>.self))
  }

  /// The bytes of the frames in the buffer, in one plane of interleaved samples or one for each
  /// channel.
  var planes: [UnsafeRawBufferPointer] {
    used.map { UnsafeRawBufferPointer(start: $0.mData, count: Int($0.mDataByteSize)) }
  }

  /// Returns a buffer of the same capacity with a copy of the frames.
  open override func copy(with zone: NSZone? = nil) -> Any {
    guard let copy = AVAudioPCMBuffer(pcmFormat: format, frameCapacity: frameCapacity) else {
      preconditionFailure("No memory for a copy of \(frameCapacity) frames")
    }
    copy.frameLength = frameLength
    for (index, plane) in planes.enumerated() {
      if let from = plane.baseAddress {
        copy.used[index].mData?.copyMemory(from: from, byteCount: plane.count)
      }
    }
    return copy
  }
}
