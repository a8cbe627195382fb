// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// The position of a packet of compressed audio in its data.
public struct AudioStreamPacketDescription: Sendable, Hashable {
  /// The offset of the first byte of the packet in the data.
  public var mStartOffset: Int64
  /// The number of frames in the packet; 0 unless packets differ in duration.
  public var mVariableFramesInPacket: UInt32
  /// The size of the packet in bytes.
  public var mDataByteSize: UInt32

  public init() { self.init(mStartOffset: 0, mVariableFramesInPacket: 0, mDataByteSize: 0) }

  public init(mStartOffset: Int64, mVariableFramesInPacket: UInt32, mDataByteSize: UInt32) {
    self.mStartOffset = mStartOffset
    self.mVariableFramesInPacket = mVariableFramesInPacket
    self.mDataByteSize = mDataByteSize
  }
}

/// Samples of one channel, or interleaved samples of several channels.
public struct AudioBuffer {
  public var mNumberChannels: UInt32
  /// The size of the data in bytes.
  public var mDataByteSize: UInt32
  public var mData: UnsafeMutableRawPointer?

  public init() { self.init(mNumberChannels: 0, mDataByteSize: 0, mData: nil) }

  public init(mNumberChannels: UInt32, mDataByteSize: UInt32, mData: UnsafeMutableRawPointer?) {
    self.mNumberChannels = mNumberChannels
    self.mDataByteSize = mDataByteSize
    self.mData = mData
  }
}

/// A list of buffers with the same audio. Further buffers follow the structure in memory.
public struct AudioBufferList {
  public var mNumberBuffers: UInt32
  public var mBuffers: AudioBuffer

  public init() { self.init(mNumberBuffers: 0, mBuffers: AudioBuffer()) }

  public init(mNumberBuffers: UInt32, mBuffers: AudioBuffer) {
    self.mNumberBuffers = mNumberBuffers
    self.mBuffers = mBuffers
  }

  /// The size in bytes of a list of `maximumBuffers` buffers.
  public static func sizeInBytes(maximumBuffers: Int) -> Int {
    precondition(maximumBuffers >= 1, "An AudioBufferList has at least one buffer")
    return MemoryLayout<AudioBufferList>.size + (maximumBuffers - 1) * MemoryLayout<AudioBuffer>.stride
  }

  /// Allocates memory for a list of `maximumBuffers` buffers, all empty; free it with `free`.
  public static func allocate(maximumBuffers: Int) -> UnsafeMutableAudioBufferListPointer {
    let size = sizeInBytes(maximumBuffers: maximumBuffers)
    guard let memory = calloc(1, size) else { fatalError("Out of memory for an AudioBufferList") }
    let list = UnsafeMutableAudioBufferListPointer(memory.bindMemory(to: AudioBufferList.self, capacity: 1))
    list.count = maximumBuffers
    return list
  }
}

/// The buffers of an `AudioBufferList`.
public struct UnsafeMutableAudioBufferListPointer: MutableCollection, RandomAccessCollection {
  /// A pointer to the list.
  public var unsafeMutablePointer: UnsafeMutablePointer<AudioBufferList>

  public init(_ pointer: UnsafeMutablePointer<AudioBufferList>) { unsafeMutablePointer = pointer }

  public init?(_ pointer: UnsafeMutablePointer<AudioBufferList>?) {
    guard let pointer else { return nil }
    self.init(pointer)
  }

  /// A read-only pointer to the list.
  public var unsafePointer: UnsafePointer<AudioBufferList> { UnsafePointer(unsafeMutablePointer) }

  /// The number of buffers.
  public var count: Int {
    get { Int(unsafeMutablePointer.pointee.mNumberBuffers) }
    nonmutating set { unsafeMutablePointer.pointee.mNumberBuffers = UInt32(newValue) }
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { count }

  private var buffers: UnsafeMutablePointer<AudioBuffer> {
    (UnsafeMutableRawPointer(unsafeMutablePointer) + MemoryLayout<AudioBufferList>.offset(of: \.mBuffers)!)
      .assumingMemoryBound(to: AudioBuffer.self)
  }

  public subscript(index: Int) -> AudioBuffer {
    get {
      precondition(index >= 0 && index < count, "Buffer index out of range")
      return buffers[index]
    }
    nonmutating set {
      precondition(index >= 0 && index < count, "Buffer index out of range")
      buffers[index] = newValue
    }
  }
}

/// An `AudioChannelLayout` with all its descriptions, in memory that it owns.
public struct ManagedAudioChannelLayout: Hashable, Sendable {
  private let bytes: Data

  /// Parses the bytes of a layout; nil if there are fewer than its number of descriptions needs.
  init?(_ data: Data) {
    guard data.count >= Self.headerSize else { return nil }
    let count = data.withUnsafeBytes { Int($0.loadUnaligned(fromByteOffset: 8, as: UInt32.self)) }
    guard count <= (data.count - Self.headerSize) / MemoryLayout<AudioChannelDescription>.stride else {
      return nil
    }
    bytes = data
  }

  /// Creates a layout with a tag.
  public init(tag: AudioChannelLayoutTag) {
    self.init(tag: tag, bitmap: [], descriptions: [])
  }

  /// Creates a layout with the channels of a bitmap.
  public init(channelBitmap: AudioChannelBitmap) {
    self.init(tag: kAudioChannelLayoutTag_UseChannelBitmap, bitmap: channelBitmap, descriptions: [])
  }

  /// Creates a layout with described channels.
  public init(channelDescriptions: [AudioChannelDescription]) {
    self.init(
      tag: kAudioChannelLayoutTag_UseChannelDescriptions, bitmap: [], descriptions: channelDescriptions)
  }

  private static let headerSize =
    MemoryLayout<AudioChannelLayout>.size - MemoryLayout<AudioChannelDescription>.size

  private init(
    tag: AudioChannelLayoutTag, bitmap: AudioChannelBitmap, descriptions: [AudioChannelDescription]
  ) {
    var data = Data()
    for value in [tag, bitmap.rawValue, UInt32(descriptions.count)] {
      Swift.withUnsafeBytes(of: value) { data.append(contentsOf: $0) }
    }
    descriptions.withUnsafeBytes { data.append(contentsOf: $0) }
    bytes = data
  }

  /// The size of the layout with all descriptions in bytes.
  public var sizeInBytes: Int { bytes.count }

  /// The tag of the layout.
  public var tag: AudioChannelLayoutTag { bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) } }

  /// The bitmap of the layout.
  public var bitmap: AudioChannelBitmap {
    AudioChannelBitmap(
      rawValue: bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 4, as: UInt32.self) })
  }

  /// The channel descriptions of the layout.
  public var channelDescriptions: [AudioChannelDescription] {
    bytes.withUnsafeBytes { raw in
      let count = Int(raw.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
      return (0..<count).map {
        raw.loadUnaligned(
          fromByteOffset: Self.headerSize + $0 * MemoryLayout<AudioChannelDescription>.stride,
          as: AudioChannelDescription.self)
      }
    }
  }

  /// Calls `body` with the layout, followed by its descriptions.
  public func withUnsafePointer<R>(_ body: (UnsafePointer<AudioChannelLayout>) throws -> R) rethrows -> R {
    // The memory has the size of a whole AudioChannelLayout even if there are no descriptions.
    let size = max(bytes.count, MemoryLayout<AudioChannelLayout>.size)
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
    defer { memory.deallocate() }
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    bytes.copyBytes(to: memory)
    guard let base = memory.baseAddress else { preconditionFailure("Allocated memory has an address") }
    return try body(UnsafePointer(base.bindMemory(to: AudioChannelLayout.self, capacity: 1)))
  }
}

/// A format that a stream of audio can be decoded to.
public struct AudioFormatListItem: Sendable {
  public var mASBD: AudioStreamBasicDescription
  public var mChannelLayoutTag: AudioChannelLayoutTag

  public init() { self.init(mASBD: AudioStreamBasicDescription(), mChannelLayoutTag: 0) }

  public init(mASBD: AudioStreamBasicDescription, mChannelLayoutTag: AudioChannelLayoutTag) {
    self.mASBD = mASBD
    self.mChannelLayoutTag = mChannelLayoutTag
  }
}

/// The arrangement of the channels is not known; the lower 16 bits are their number.
public let kAudioChannelLayoutTag_Unknown: AudioChannelLayoutTag = 0xFFFF_0000
