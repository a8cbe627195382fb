// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Synchronization

/// The pictures that libavcodec is decoding into pixel buffers, found by the `AVBuffer` that a
/// frame references.
///
/// A frame's `opaque` field cannot identify them: libavutil copies it with the other properties to
/// frames that have memory of their own, such as those with film grain applied.
final class DirectPictures: Sendable {
  private let pictures = Mutex<[UInt: DirectPicture]>([:])

  /// The context of a buffer's release callback.
  private final class Owner: Sendable {
    let registry: DirectPictures
    let key = Mutex<UInt?>(nil)
    let picture: DirectPicture

    init(_ registry: DirectPictures, _ picture: DirectPicture) {
      self.registry = registry
      self.picture = picture
    }
  }

  /// Makes the buffer reference for a new frame. The picture is kept until the last copy of the
  /// reference is released.
  /// - Parameters:
  ///   - picture: The picture.
  ///   - size: Bytes of its luma plane.
  /// - Returns: nil if memory runs out.
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

  /// The picture that owns a frame's first buffer; nil if the buffer was not made by
  /// `reference(_:size:)`.
  func picture(of reference: UnsafePointer<AVBufferRef>) -> DirectPicture? {
    let key = UInt(bitPattern: reference.pointee.buffer)
    return pictures.withLock { $0[key] }
  }
}
