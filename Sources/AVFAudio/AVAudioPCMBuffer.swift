// SPDX-License-Identifier: Apache-2.0
import AudioToolbox
import Foundation

/// Frames of linear PCM.
open class AVAudioPCMBuffer: AVAudioBuffer, @unchecked Sendable {
  // Sendable: as the base class.
  /// Frames that there is room for.
  public let frameCapacity: AVAudioFrameCount
  /// In bytes, in each of the buffers.
  let frameSize: Int
  private let channels: [UnsafeMutableRawPointer]
  private var length: AVAudioFrameCount = 0
  private let pointers: UnsafeMutablePointer<UnsafeMutableRawPointer>

  /// A buffer of silence.
  /// - Parameters:
  ///   - format: Linear PCM; nil is returned for others.
  ///   - frameCapacity: Frames that there is room for; nil is returned where there is no memory, or more than 4 GiB
  ///     would have to be in one buffer.
  public convenience init?(pcmFormat format: AVAudioFormat, frameCapacity: AVAudioFrameCount) {
    let frameSize = Int(format.basic.mBytesPerFrame)
    let count = format.isInterleaved ? 1 : Int(format.channelCount)
    let (size, overflow) = frameSize.multipliedReportingOverflow(by: Int(frameCapacity))
    guard format.isPCM, frameSize > 0, format.channelCount > 0, count > 0, !overflow,
      let bytes = UInt32(exactly: size)
    else {
      return nil
    }
    // Each channel begins where vector instructions like to.
    let room = (size + 63) & ~63
    guard let memory = Self.memory(room * count) else { return nil }
    let buffers = (0..<count).map {
      AudioBuffer(
        mNumberChannels: format.isInterleaved ? format.channelCount : 1, mDataByteSize: bytes,
        mData: memory + $0 * room)
    }
    self.init(format, buffers, frameCapacity) { free(memory) }
  }

  /// A buffer of memory that somebody else has; all of it holds frames.
  /// - Parameters:
  ///   - format: Linear PCM; nil is returned for others.
  ///   - bufferList: One buffer of interleaved sound, or one for each channel, of the same size; nil is returned for
  ///     other lists.
  ///   - deallocator: Called when the memory is no longer needed. nil: the memory stays longer than this object.
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

  /// Frames in use. More than there is room for are taken for as many as that.
  open var frameLength: AVAudioFrameCount {
    get { length }
    set {
      length = min(newValue, frameCapacity)
      for index in used.indices { used[index].mDataByteSize = UInt32(Int(length) * frameSize) }
    }
  }

  /// The distance between two samples of a channel: 1, or the number of channels where they are interleaved.
  open var stride: Int { format.isInterleaved ? Int(format.channelCount) : 1 }

  /// The first sample of each channel; nil unless samples are floating-point numbers of 32 bits.
  open var floatChannelData: UnsafePointer<UnsafeMutablePointer<Float>>? {
    format.commonFormat == .pcmFormatFloat32 ? samples() : nil
  }

  /// The first sample of each channel; nil unless samples are integers of 16 bits.
  open var int16ChannelData: UnsafePointer<UnsafeMutablePointer<Int16>>? {
    format.commonFormat == .pcmFormatInt16 ? samples() : nil
  }

  /// The first sample of each channel; nil unless samples are integers of 32 bits.
  open var int32ChannelData: UnsafePointer<UnsafeMutablePointer<Int32>>? {
    format.commonFormat == .pcmFormatInt32 ? samples() : nil
  }

  private func samples<T>() -> UnsafePointer<UnsafeMutablePointer<T>> {
    // A pointer is a pointer, whatever it points to.
    UnsafePointer(UnsafeMutableRawPointer(pointers).assumingMemoryBound(to: UnsafeMutablePointer<T>.self))
  }

  /// The frames in use, one plane of interleaved samples or one for each channel.
  var planes: [UnsafeRawBufferPointer] {
    used.map { UnsafeRawBufferPointer(start: $0.mData, count: Int($0.mDataByteSize)) }
  }

  /// Another buffer of as many frames, with the same content.
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
