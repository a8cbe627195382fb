// SPDX-License-Identifier: Apache-2.0
import AudioToolbox
import Foundation

/// A buffer for packets of compressed audio.
open class AVAudioCompressedBuffer: AVAudioBuffer, @unchecked Sendable {
  // Sendable: for the same reason as the base class.
  /// The largest number of packets that the buffer can hold.
  public let packetCapacity: AVAudioPacketCount
  /// The largest size of a packet, in bytes.
  public let maximumPacketSize: Int
  /// The memory for the packets. Valid as long as this object exists.
  public let data: UnsafeMutableRawPointer
  /// The size of the memory in bytes.
  public let byteCapacity: UInt32
  /// The position and size of each packet; nil if all packets have the same size and duration.
  /// Valid as long as this object exists.
  public let packetDescriptions: UnsafeMutablePointer<AudioStreamPacketDescription>?
  private var packets: AVAudioPacketCount = 0
  private var bytes: UInt32 = 0

  /// Creates an empty buffer.
  /// - Parameters:
  ///   - format: A format of compressed audio.
  ///   - packetCapacity: The largest number of packets that the buffer can hold.
  ///   - maximumPacketSize: The largest size of a packet, in bytes. If the buffer would need more
  ///     than 4 GiB, or more than the available memory, its capacity is 0.
  public init(format: AVAudioFormat, packetCapacity: AVAudioPacketCount, maximumPacketSize: Int) {
    let (size, overflow) = max(0, maximumPacketSize).multipliedReportingOverflow(by: Int(packetCapacity))
    let wanted = overflow ? nil : UInt32(exactly: size)
    let hasDescriptions = format.basic.mBytesPerPacket == 0 || format.basic.mFramesPerPacket == 0
    let table = hasDescriptions ? MemoryLayout<AudioStreamPacketDescription>.stride * Int(packetCapacity) : 0
    // One block of memory, which contains the packets and then their descriptions.
    let tableOffset = (Int(wanted ?? 0) + 63) & ~63
    let whole = wanted.flatMap { _ in Self.memory(tableOffset + table) }
    guard let memory = whole ?? Self.memory(1) else { preconditionFailure("No memory for a byte") }
    let isThere = whole != nil
    byteCapacity = isThere ? wanted ?? 0 : 0
    self.packetCapacity = isThere ? packetCapacity : 0
    self.maximumPacketSize = maximumPacketSize
    data = memory
    packetDescriptions =
      hasDescriptions && isThere && packetCapacity > 0
      ? (memory + tableOffset).bindMemory(
        to: AudioStreamPacketDescription.self, capacity: Int(packetCapacity))
      : nil
    super.init(
      format,
      [AudioBuffer(mNumberChannels: format.channelCount, mDataByteSize: byteCapacity, mData: memory)],
      release: { free(memory) })
  }

  /// Creates an empty buffer for packets of the format's constant size. For a format without a
  /// constant packet size, the byte capacity is 0.
  /// - Parameters:
  ///   - format: A format of compressed audio.
  ///   - packetCapacity: The largest number of packets that the buffer can hold.
  public convenience init(format: AVAudioFormat, packetCapacity: AVAudioPacketCount) {
    self.init(
      format: format, packetCapacity: packetCapacity, maximumPacketSize: Int(format.basic.mBytesPerPacket))
  }

  /// The number of packets in the buffer. Larger values are limited to `packetCapacity`.
  open var packetCount: AVAudioPacketCount {
    get { packets }
    set { packets = min(newValue, packetCapacity) }
  }

  /// The size of the packets in the buffer, in bytes. Larger values are limited to `byteCapacity`.
  open var byteLength: UInt32 {
    get { bytes }
    set {
      bytes = min(newValue, byteCapacity)
      used[0].mDataByteSize = bytes
    }
  }

  /// The bytes of each packet; nil if a packet description exceeds the buffer's contents.
  var packetBytes: [UnsafeRawBufferPointer]? {
    let size = Int64(format.basic.mBytesPerPacket)
    var found: [UnsafeRawBufferPointer] = []
    for index in 0..<Int(packetCount) {
      let description = packetDescriptions?[index]
      let start = description?.mStartOffset ?? Int64(index) * size
      let length = description.map { Int64($0.mDataByteSize) } ?? size
      guard start >= 0, length >= 0, start <= Int64(byteLength), length <= Int64(byteLength) - start else {
        return nil
      }
      found.append(UnsafeRawBufferPointer(start: data + Int(start), count: Int(length)))
    }
    return found
  }

  /// Appends a packet.
  /// - Parameters:
  ///   - packet: The bytes of the packet.
  ///   - frames: The number of frames, or 0 if it is the format's.
  /// - Returns: False if the packet does not fit into the buffer.
  func append(_ packet: [UInt8], frames: UInt32) -> Bool {
    guard packetCount < packetCapacity, packet.count <= Int(byteCapacity - byteLength) else { return false }
    packet.withUnsafeBytes { bytes in
      if let base = bytes.baseAddress {
        (data + Int(byteLength)).copyMemory(from: base, byteCount: bytes.count)
      }
    }
    packetDescriptions?[Int(packetCount)] = AudioStreamPacketDescription(
      mStartOffset: Int64(byteLength), mVariableFramesInPacket: frames, mDataByteSize: UInt32(packet.count))
    byteLength += UInt32(packet.count)
    packetCount += 1
    return true
  }

  /// Returns a buffer with a copy of the packets.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = AVAudioCompressedBuffer(
      format: format, packetCapacity: packetCapacity, maximumPacketSize: maximumPacketSize)
    copy.byteLength = byteLength
    copy.packetCount = packetCount
    copy.data.copyMemory(from: data, byteCount: Int(copy.byteLength))
    if let from = packetDescriptions, let to = copy.packetDescriptions {
      to.update(from: from, count: Int(copy.packetCount))
    }
    return copy
  }
}
