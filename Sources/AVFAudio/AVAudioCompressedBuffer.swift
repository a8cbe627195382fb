// SPDX-License-Identifier: Apache-2.0
import AudioToolbox
import Foundation

/// Packets of compressed sound.
open class AVAudioCompressedBuffer: AVAudioBuffer, @unchecked Sendable {
  // Sendable: as the base class.
  /// Packets that there is room for.
  public let packetCapacity: AVAudioPacketCount
  /// In bytes.
  public let maximumPacketSize: Int
  /// The packets' bytes. Valid as long as this object.
  public let data: UnsafeMutableRawPointer
  /// Bytes that there is room for.
  public let byteCapacity: UInt32
  /// Where each packet is; nil where all have the same size and duration. Valid as long as this object.
  public let packetDescriptions: UnsafeMutablePointer<AudioStreamPacketDescription>?
  private var packets: AVAudioPacketCount = 0
  private var bytes: UInt32 = 0

  /// A buffer for packets.
  /// - Parameters:
  ///   - format: Of compressed sound.
  ///   - packetCapacity: Packets that there is room for.
  ///   - maximumPacketSize: Of one of them, in bytes. Where 4 GiB, or the memory, are not enough, there is room for none.
  public init(format: AVAudioFormat, packetCapacity: AVAudioPacketCount, maximumPacketSize: Int) {
    let (size, overflow) = max(0, maximumPacketSize).multipliedReportingOverflow(by: Int(packetCapacity))
    let wanted = overflow ? nil : UInt32(exactly: size)
    let hasDescriptions = format.basic.mBytesPerPacket == 0 || format.basic.mFramesPerPacket == 0
    let table = hasDescriptions ? MemoryLayout<AudioStreamPacketDescription>.stride * Int(packetCapacity) : 0
    // A single piece: the bytes, and then the table.
    let place = (Int(wanted ?? 0) + 63) & ~63
    let whole = wanted.flatMap { _ in Self.memory(place + table) }
    guard let memory = whole ?? Self.memory(1) else { preconditionFailure("No memory for a byte") }
    let isThere = whole != nil
    byteCapacity = isThere ? wanted ?? 0 : 0
    self.packetCapacity = isThere ? packetCapacity : 0
    self.maximumPacketSize = maximumPacketSize
    data = memory
    packetDescriptions =
      hasDescriptions && isThere && packetCapacity > 0
      ? (memory + place).bindMemory(to: AudioStreamPacketDescription.self, capacity: Int(packetCapacity))
      : nil
    super.init(
      format,
      [AudioBuffer(mNumberChannels: format.channelCount, mDataByteSize: byteCapacity, mData: memory)],
      release: { free(memory) })
  }

  /// A buffer for packets of the size that the format says. Of formats whose packets differ there is room for none.
  public convenience init(format: AVAudioFormat, packetCapacity: AVAudioPacketCount) {
    self.init(
      format: format, packetCapacity: packetCapacity, maximumPacketSize: Int(format.basic.mBytesPerPacket))
  }

  /// Packets in use. More than there is room for are taken for as many as that.
  open var packetCount: AVAudioPacketCount {
    get { packets }
    set { packets = min(newValue, packetCapacity) }
  }

  /// Bytes in use. More than there is room for are taken for as many as that.
  open var byteLength: UInt32 {
    get { bytes }
    set {
      bytes = min(newValue, byteCapacity)
      used[0].mDataByteSize = bytes
    }
  }

  /// The bytes of each packet in use; nil if descriptions are beyond the bytes.
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

  /// Adds a packet; false if there is no room for it.
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

  /// Another buffer with the same content.
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
