// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A file of a picture to be.
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
      // There is room for one.
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

  /// The file appears whole, or not at all.
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

/// 0.0 (smallest) to 1.0 (best), of JPEG: a number.
public nonisolated(unsafe) let kCGImageDestinationLossyCompressionQuality: CFString =
  "kCGImageDestinationLossyCompressionQuality"

/// A destination in a file; nil for another type than PNG and JPEG, and for more than one picture.
@discardableResult
public func CGImageDestinationCreateWithURL(
  _ url: CFURL, _ type: CFString, _ count: Int, _ options: CFDictionary?
) -> CGImageDestination? {
  guard count == 1, (url as URL).isFileURL, let codec = ImageCodec(rawValue: type as String) else {
    return nil
  }
  return CGImageDestination(.file(url as URL), codec)
}

/// A destination in memory, whose content is replaced.
@discardableResult
public func CGImageDestinationCreateWithData(
  _ data: CFMutableData, _ type: CFString, _ count: Int, _ options: CFDictionary?
) -> CGImageDestination? {
  guard count == 1, let codec = ImageCodec(rawValue: type as String) else { return nil }
  return CGImageDestination(.memory(data), codec)
}

/// Adds the picture. Of the properties `kCGImageDestinationLossyCompressionQuality` counts.
public func CGImageDestinationAddImage(
  _ idst: CGImageDestination, _ image: CGImage, _ properties: CFDictionary?
) { idst.add(image, properties) }

/// Properties of all pictures.
public func CGImageDestinationSetProperties(_ idst: CGImageDestination, _ properties: CFDictionary?) {
  idst.setProperties(properties)
}

/// Writes the file.
/// - Returns: False, with nothing written, if there is no picture, its layout is not known, or the file cannot be
///   written.
@discardableResult
public func CGImageDestinationFinalize(_ idst: CGImageDestination) -> Bool { idst.finish() }

/// The types of pictures that are written.
@discardableResult
public func CGImageDestinationCopyTypeIdentifiers() -> CFArray { ["public.png", "public.jpeg"] as CFArray }
