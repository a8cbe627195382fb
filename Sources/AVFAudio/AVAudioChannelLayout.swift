// SPDX-License-Identifier: Apache-2.0
import AudioToolbox
import Foundation

/// The arrangement of the channels of audio. Immutable.
open class AVAudioChannelLayout: NSObject, @unchecked Sendable {
  // Sendable: memory that is written in `init` and freed in `deinit`.
  let managed: ManagedAudioChannelLayout
  private let memory: UnsafeMutableRawBufferPointer

  /// The layout with all its channel descriptions. Valid as long as this object exists.
  open var layout: UnsafePointer<AudioChannelLayout> {
    guard let base = memory.baseAddress else { preconditionFailure("Allocated memory has an address") }
    return UnsafePointer(base.assumingMemoryBound(to: AudioChannelLayout.self))
  }

  /// Creates a layout of a tag.
  /// - Parameter layoutTag: The tag.
  /// - Returns: Nil for a tag that does not imply a number of channels, such as
  ///   `kAudioChannelLayoutTag_UseChannelDescriptions`.
  public convenience init?(layoutTag: AudioChannelLayoutTag) {
    guard AudioChannelLayoutTag_GetNumberOfChannels(layoutTag) > 0 else { return nil }
    self.init(ManagedAudioChannelLayout(tag: layoutTag))
  }

  /// Copies a layout.
  /// - Parameter layout: A layout that is followed in memory by as many channel descriptions as it
  ///   states.
  public convenience init(layout: UnsafePointer<AudioChannelLayout>) {
    let fields = layout.pointee
    switch fields.mChannelLayoutTag {
    case kAudioChannelLayoutTag_UseChannelBitmap:
      self.init(ManagedAudioChannelLayout(channelBitmap: fields.mChannelBitmap))
    case kAudioChannelLayoutTag_UseChannelDescriptions:
      let offset =
        MemoryLayout<AudioChannelLayout>.offset(of: \.mChannelDescriptions)
        ?? MemoryLayout<AudioChannelLayout>.size
      let first = (UnsafeRawPointer(layout) + offset).assumingMemoryBound(to: AudioChannelDescription.self)
      let count = Int(min(fields.mNumberChannelDescriptions, Self.maxDescriptions))
      self.init(ManagedAudioChannelLayout(channelDescriptions: (0..<count).map { first[$0] }))
    default: self.init(ManagedAudioChannelLayout(tag: fields.mChannelLayoutTag))
    }
  }

  /// The largest number of channel descriptions that are copied.
  private static let maxDescriptions: UInt32 = 1 << 16

  init(_ managed: ManagedAudioChannelLayout) {
    self.managed = managed
    let size = max(managed.sizeInBytes, MemoryLayout<AudioChannelLayout>.size)
    memory = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    let memory = memory
    managed.withUnsafePointer {
      memory.copyMemory(from: UnsafeRawBufferPointer(start: $0, count: managed.sizeInBytes))
    }
    super.init()
  }

  deinit { memory.deallocate() }

  open var layoutTag: AudioChannelLayoutTag { managed.tag }

  /// The number of channels.
  open var channelCount: AVAudioChannelCount {
    switch managed.tag {
    case kAudioChannelLayoutTag_UseChannelDescriptions: UInt32(managed.channelDescriptions.count)
    case kAudioChannelLayoutTag_UseChannelBitmap: UInt32(managed.bitmap.rawValue.nonzeroBitCount)
    default: AudioChannelLayoutTag_GetNumberOfChannels(managed.tag)
    }
  }

  open override func isEqual(_ object: Any?) -> Bool {
    (object as? AVAudioChannelLayout).map { $0.managed == managed } ?? false
  }

  open override var hash: Int { managed.hashValue }
}
