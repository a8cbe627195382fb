// SPDX-License-Identifier: Apache-2.0
import AudioToolbox
import Foundation

/// A buffer for audio of one format. Its subclasses are `AVAudioPCMBuffer` and
/// `AVAudioCompressedBuffer`.
open class AVAudioBuffer: NSObject, NSCopying, NSMutableCopying, @unchecked Sendable {
  // Sendable: as with a pixel buffer, a program that writes into the memory must not let others use
  // it meanwhile.
  public let format: AVAudioFormat
  /// The buffers with the sizes of their contents.
  let used: UnsafeMutableAudioBufferListPointer
  /// The buffers with the sizes of their memory.
  let whole: UnsafeMutableAudioBufferListPointer
  /// Frees the memory of the buffers.
  private let release: () -> Void

  /// Creates an empty buffer.
  /// - Parameters:
  ///   - format: The format of the audio.
  ///   - buffers: The buffers, each with the size of its whole memory.
  ///   - release: Frees the memory.
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

  /// The buffers, with the sizes of their contents. They must not be changed. Valid as long as this
  /// object exists.
  open var audioBufferList: UnsafePointer<AudioBufferList> { used.unsafePointer }

  /// The buffers, with the sizes of their memory. A program that writes into them sets
  /// `frameLength` or `byteLength` afterwards. Valid as long as this object exists.
  open var mutableAudioBufferList: UnsafeMutablePointer<AudioBufferList> { whole.unsafeMutablePointer }

  /// Returns a buffer with a copy of the contents. The subclasses override it.
  open func copy(with zone: NSZone? = nil) -> Any { self }
  open func mutableCopy(with zone: NSZone? = nil) -> Any { copy(with: zone) }

  /// Allocates memory that is set to zero; nil if there is not enough.
  static func memory(_ size: Int) -> UnsafeMutableRawPointer? { calloc(1, max(1, size)) }
}
