// SPDX-License-Identifier: Apache-2.0
import Foundation

/// An encoder that writes one image to a file or to memory.
public final class CGImageDestination: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  fileprivate enum Target {
    case file(URL)
    case memory(NSMutableData)
  }

  private let lock = Lock()
  private let target: Target
  private let codec: ImageCodec
  private var image: CGImage?
  private var quality = 0.85
  private var isOver = false

  fileprivate init(_ target: Target, _ codec: ImageCodec) {
    self.target = target
    self.codec = codec
  }

  fileprivate func add(_ image: CGImage, _ properties: CFDictionary?) {
    lock.withLock {
      // A destination holds one image.
      guard self.image == nil, !isOver else { return }
      self.image = image
      set(properties)
    }
  }

  fileprivate func setProperties(_ properties: CFDictionary?) { lock.withLock { set(properties) } }

  private func set(_ properties: CFDictionary?) {
    if let number = properties?[kCGImageDestinationLossyCompressionQuality] as? NSNumber {
      quality = number.doubleValue
    }
  }

  /// Encodes and writes the image. A file is replaced atomically: it is written completely or not
  /// at all.
  fileprivate func finish() -> Bool {
    lock.withLock {
      guard !isOver, let image else { return false }
      isOver = true
      guard let data = codec.encode(image, quality: quality) else { return false }
      switch target {
      case .memory(let memory):
        memory.setData(data)
        return true
      case .file(let url):
        do {
          try data.write(to: url, options: .atomic)
          return true
        } catch { return false }
      }
    }
  }
}

/// The quality of a JPEG file (number): 0.0 for the smallest file to 1.0 for the best quality.
public nonisolated(unsafe) let kCGImageDestinationLossyCompressionQuality: CFString =
  "kCGImageDestinationLossyCompressionQuality"

/// Creates a destination that writes to a file. It is nil for a type other than PNG and JPEG, and
/// for a count other than 1.
@discardableResult
public func CGImageDestinationCreateWithURL(
  _ url: CFURL, _ type: CFString, _ count: Int, _ options: CFDictionary?
) -> CGImageDestination? {
  guard count == 1, (url as URL).isFileURL, let codec = ImageCodec(rawValue: type as String) else {
    return nil
  }
  return CGImageDestination(.file(url as URL), codec)
}

/// Creates a destination that writes to memory and replaces the content of `data`. It is nil for a
/// type other than PNG and JPEG, and for a count other than 1.
@discardableResult
public func CGImageDestinationCreateWithData(
  _ data: CFMutableData, _ type: CFString, _ count: Int, _ options: CFDictionary?
) -> CGImageDestination? {
  guard count == 1, let codec = ImageCodec(rawValue: type as String) else { return nil }
  return CGImageDestination(.memory(data), codec)
}

/// Adds the image. Of the properties, only `kCGImageDestinationLossyCompressionQuality` has an
/// effect. Further images are ignored.
public func CGImageDestinationAddImage(
  _ idst: CGImageDestination, _ image: CGImage, _ properties: CFDictionary?
) { idst.add(image, properties) }

/// Sets properties for all images. Only `kCGImageDestinationLossyCompressionQuality` has an effect.
public func CGImageDestinationSetProperties(_ idst: CGImageDestination, _ properties: CFDictionary?) {
  idst.setProperties(properties)
}

/// Encodes and writes the image.
/// - Returns: false, with nothing written, if no image was added, if its layout is not supported,
///   if the file cannot be written, or if the destination was finalized before.
@discardableResult
public func CGImageDestinationFinalize(_ idst: CGImageDestination) -> Bool { idst.finish() }

/// Returns the types of images that can be written.
@discardableResult
public func CGImageDestinationCopyTypeIdentifiers() -> CFArray { ["public.png", "public.jpeg"] as CFArray }
