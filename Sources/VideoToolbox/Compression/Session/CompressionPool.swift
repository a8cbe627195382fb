// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// The pool of buffers that suit the session's encoder: of its size, its pixel format and the
/// attributes that the session was created with. The session makes it when it is first asked for,
/// and keeps it.
/// - Returns: nil after the session was invalidated, or if no pool can be made of those attributes.
@discardableResult
public func VTCompressionSessionGetPixelBufferPool(_ session: VTCompressionSession) -> CVPixelBufferPool? {
  session.kept { attributes in
    var pool: CVPixelBufferPool?
    CVPixelBufferPoolCreate(kCFAllocatorDefault, nil, attributes, &pool)
    return pool
  }
}
