// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Synchronization

/// The pictures that libavcodec decodes into at the moment, found by the buffer that a frame refers to.
///
/// A frame's `opaque` will not do: libavutil copies it along with the other facts of a frame into frames that have
/// memory of their own, such as those with film grain.
final class DirectPictures: Sendable {
  private let pictures = Mutex<[UInt: DirectPicture]>([:])

  /// What a buffer's release needs.
  private final class Owner: Sendable {
    let registry: DirectPictures
    let key = Mutex<UInt?>(nil)
    let picture: DirectPicture

    init(_ registry: DirectPictures, _ picture: DirectPicture) {
      self.registry = registry
      self.picture = picture
    }
  }

  /// A reference for a frame that begins; the picture is held until the last such reference has gone.
  /// - Returns: nil without memory.
  func reference(_ picture: DirectPicture, size: Int) -> UnsafeMutablePointer<AVBufferRef>? {
    let owner = Owner(self, picture)
    let held = Unmanaged.passRetained(owner)
    guard
      let reference = av_buffer_create(
        picture.luma, size,
        { opaque, _ in
          guard let opaque else { return }
          let owner = Unmanaged<Owner>.fromOpaque(opaque).takeRetainedValue()
          if let key = owner.key.withLock({ $0 }) {
            owner.registry.pictures.withLock { _ = $0.removeValue(forKey: key) }
          }
        }, held.toOpaque(), 0)
    else {
      held.release()
      return nil
    }
    let key = UInt(bitPattern: reference.pointee.buffer)
    owner.key.withLock { $0 = key }
    pictures.withLock { $0[key] = picture }
    return reference
  }

  /// The picture behind a frame's first buffer; nil if that is somebody else's memory.
  func picture(of reference: UnsafePointer<AVBufferRef>) -> DirectPicture? {
    let key = UInt(bitPattern: reference.pointee.buffer)
    return pictures.withLock { $0[key] }
  }
}
