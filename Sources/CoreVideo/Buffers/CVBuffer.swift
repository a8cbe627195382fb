// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A picture with attachments: the type behind `CVImageBuffer` and `CVPixelBuffer`.
///
/// The size never changes after creation, and addresses change only when the buffer is locked or
/// unlocked, so that reading them takes no lock. Attachments may be read and written from any
/// thread.
public final class CVBuffer: @unchecked Sendable, Hashable {
  // Sendable: immutable, except for the attachments, which a mutex guards. Programs that write
  // pixels use the locking functions, as on Apple's systems.
  let storage: PixelStorage
  let pixelFormatType: OSType
  let width: Int
  let height: Int
  let extendedPixels: ExtendedPixels
  /// The attributes that `CVPixelBufferCopyCreationAttributes` returns.
  let creationAttributes: CFDictionary
  let lockCount = Atomic<Int>(0)
  let attachments = Mutex(AttachmentStore())
  /// Receives the memory when the buffer is released; nil for a buffer without a pool.
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
  /// Whether vector code may read and write up to 64 bytes beyond the end of any row: true for
  /// memory that Core Video has allocated, false for memory that a program has wrapped.
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

/// Receives the memory of released buffers.
protocol PixelBufferRecycler: AnyObject, Sendable {
  func recycle(_ storage: PixelStorage)
}

/// The number of pixels around the picture, on each side, that a codec may read or write.
struct ExtendedPixels: Equatable, Sendable {
  var left = 0
  var right = 0
  var top = 0
  var bottom = 0
}
