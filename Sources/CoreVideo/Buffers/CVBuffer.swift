// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A picture, with what is known about it attached: the type behind `CVImageBuffer` and `CVPixelBuffer`.
///
/// The size never changes after creation, and addresses only with a lock of the buffer, so that reading them takes
/// no lock of their own.
/// Attachments may be read and written from any thread.
public final class CVBuffer: @unchecked Sendable, Hashable {
  // Sendable: immutable but for the attachments behind their mutex; who writes pixels keeps to the locking calls, as on Apple's systems.
  let storage: PixelStorage
  let pixelFormatType: OSType
  let width: Int
  let height: Int
  let extendedPixels: ExtendedPixels
  /// What `CVPixelBufferCopyCreationAttributes` returns.
  let creationAttributes: CFDictionary
  let lockCount = Atomic<Int>(0)
  let attachments = Mutex(AttachmentStore())
  /// Where the memory goes when the buffer is gone.
  private let recycler: PixelBufferRecycler?

  init(
    storage: PixelStorage, pixelFormatType: OSType, width: Int, height: Int, extendedPixels: ExtendedPixels,
    creationAttributes: CFDictionary, recycler: PixelBufferRecycler? = nil
  ) {
    self.storage = storage
    self.pixelFormatType = pixelFormatType
    self.width = width
    self.height = height
    self.extendedPixels = extendedPixels
    self.creationAttributes = creationAttributes
    self.recycler = recycler
  }

  deinit { recycler?.recycle(storage) }

  public static func == (a: CVBuffer, b: CVBuffer) -> Bool { a === b }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension CVBuffer {
  /// Whether vector code may read and write up to 64 bytes beyond the end of any row. The memory that a program wrapped
  /// ends where it says.
  package var hasPaddedMemory: Bool { storage.isPadded }
}

extension CVBuffer: CFRuntimeObject {
  package static let cfTypeID = CFRuntimeRegister("CVPixelBuffer")

  package var cfDescription: String {
    var text = "<CVPixelBuffer width=\(width) height=\(height) bytesPerRow=\(storage.bytesPerRow) "
    text += "pixelFormat=\(PixelFormat.text(pixelFormatType)) planes=\(storage.planeCount)"
    for index in 0..<storage.planeCount {
      let plane = storage.planes[index]
      text += " {\(plane.width)x\(plane.height) bytesPerRow=\(plane.bytesPerRow)}"
    }
    return text + ">"
  }
}

/// A buffer that holds an image.
public typealias CVImageBuffer = CVBuffer

/// An image buffer of pixels: in memory, or on a surface (`OVTPixelBufferCreateWithSurface`).
public typealias CVPixelBuffer = CVBuffer

/// Takes back the memory of a buffer that nobody holds any more.
protocol PixelBufferRecycler: AnyObject, Sendable {
  func recycle(_ storage: PixelStorage)
}

/// The pixels around the picture that a codec may read or write, in pixels on each side.
struct ExtendedPixels: Equatable, Sendable {
  var left = 0
  var right = 0
  var top = 0
  var bottom = 0
}
