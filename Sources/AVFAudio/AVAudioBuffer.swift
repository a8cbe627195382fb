// SPDX-License-Identifier: Apache-2.0
import AudioToolbox
import Foundation

/// Memory for sound, of one format. Its kinds are `AVAudioPCMBuffer` and `AVAudioCompressedBuffer`.
open class AVAudioBuffer: NSObject, NSCopying, NSMutableCopying, @unchecked Sendable {
  // Sendable: as with a pixel buffer, who writes into the memory keeps others from it.
  public let format: AVAudioFormat
  /// Sizes are of what is in use.
  let used: UnsafeMutableAudioBufferListPointer
  /// Sizes are of what there is room for.
  let whole: UnsafeMutableAudioBufferListPointer
  /// Frees what the lists point to.
  private let release: () -> Void

  /// - Parameter buffers: Each with all of its memory, which `release` frees.
  init(_ format: AVAudioFormat, _ buffers: [AudioBuffer], release: @escaping () -> Void) {
    self.format = format
    self.release = release
    used = AudioBufferList.allocate(maximumBuffers: max(1, buffers.count))
    whole = AudioBufferList.allocate(maximumBuffers: max(1, buffers.count))
    super.init()
    for (index, buffer) in buffers.enumerated() {
      whole[index] = buffer
      used[index] = buffer
      used[index].mDataByteSize = 0
    }
  }

  deinit {
    release()
    free(used.unsafeMutablePointer)
    free(whole.unsafeMutablePointer)
  }

  /// The buffers, with the sizes of what they hold; not to be changed. Valid as long as this object.
  open var audioBufferList: UnsafePointer<AudioBufferList> { used.unsafePointer }

  /// The buffers, with the sizes of what they have room for. Who writes into them sets `frameLength` afterwards, or
  /// `byteLength`. Valid as long as this object.
  open var mutableAudioBufferList: UnsafeMutablePointer<AudioBufferList> { whole.unsafeMutablePointer }

  /// Another buffer with the same content.
  open func copy(with zone: NSZone? = nil) -> Any { self }
  open func mutableCopy(with zone: NSZone? = nil) -> Any { copy(with: zone) }

  /// Memory that is all zero; nil if there is not so much.
  static func memory(_ size: Int) -> UnsafeMutableRawPointer? { calloc(1, max(1, size)) }
}
