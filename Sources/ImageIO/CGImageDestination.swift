// SPDX-License-Identifier: Apache-2.0
import Foundation

/// An encoder that writes images to a file or to memory.
public final class CGImageDestination: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  fileprivate enum Target {
    case file(URL)
    case memory(NSMutableData)
  }

  private let lock = Lock()
  private let target: Target
  private let codec: ImageCodec
  private let count: Int
  private var images: [(image: CGImage, properties: Properties)] = []
  private var properties = Properties()
  private var isFinished = false

  /// The properties that have an effect.
  private struct Properties {
    var quality: Double?
    var orientation: CGImagePropertyOrientation?

    init(_ dictionary: CFDictionary? = nil) {
      quality = (dictionary?[kCGImageDestinationLossyCompressionQuality] as? NSNumber)?.doubleValue
      orientation = (dictionary?[kCGImagePropertyOrientation] as? NSNumber).flatMap {
        CGImagePropertyOrientation(rawValue: $0.uint32Value)
      }
    }

    /// The properties, with those of all images where an image has none.
    func or(_ general: Properties) -> Properties {
      var result = self
      result.quality = quality ?? general.quality
      result.orientation = orientation ?? general.orientation
      return result
    }
  }

  fileprivate init?(_ target: Target, type: CFString, count: Int) {
    guard let codec = ImageCodec(rawValue: type as String), ImageCodec.writable.contains(codec),
      count == 1 || count > 1 && codec == .heic
    else { return nil }
    (self.target, self.codec, self.count) = (target, codec, count)
  }

  fileprivate func add(_ image: CGImage, _ properties: CFDictionary?) {
    lock.withLock {
      guard images.count < count, !isFinished else { return }
      images.append((image, Properties(properties)))
    }
  }

  fileprivate func setProperties(_ properties: CFDictionary?) {
    lock.withLock { self.properties = Properties(properties).or(self.properties) }
  }

  /// Encodes and writes the images. A file is replaced atomically: it is written completely or not
  /// at all.
  fileprivate func finish() -> Bool {
    lock.withLock {
      guard !isFinished, images.count == count else { return false }
      isFinished = true
      guard let data = encode() else { return false }
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

  private func encode() -> Data? {
    #if HEVC
      if codec == .heic {
        var writer = HEICWriter()
        for (image, own) in images {
          let all = own.or(properties)
          guard
            writer.add(
              image, quality: all.quality ?? HEICWriter.defaultQuality, orientation: all.orientation ?? .up)
          else { return nil }
        }
        return writer.data
      }
    #endif
    return images.first.flatMap {
      codec.encode($0.image, quality: $0.properties.or(properties).quality ?? 0.85)
    }
  }
}

/// The quality of a JPEG or HEIC file (number): 0.0 for the smallest file to 1.0 for the best
/// quality. Without it, JPEG files have 0.85 and HEIC files 0.6.
///
/// A HEIC file has the QP that a compression session with this `kVTCompressionPropertyKey_Quality`
/// has, with linear interpolation in between:
///
/// | Quality | 0.0 | 0.25 | 0.5 | 0.75 | 1.0 |
/// | ------- | --- | ---- | --- | ---- | --- |
/// | QP      | 48  | 37   | 27  | 19   | 4   |
public nonisolated(unsafe) let kCGImageDestinationLossyCompressionQuality: CFString =
  "kCGImageDestinationLossyCompressionQuality"

/// Creates a destination that writes to a file.
/// - Parameters:
///   - url: The file.
///   - type: `public.png`, `public.jpeg` or `public.heic`.
///   - count: The number of images: 1, or more for HEIC. The first one becomes the primary image.
///   - options: Ignored, as on Apple's systems.
/// - Returns: The destination, or nil for other types, counts and addresses.
@discardableResult
public func CGImageDestinationCreateWithURL(
  _ url: CFURL, _ type: CFString, _ count: Int, _ options: CFDictionary?
) -> CGImageDestination? {
  guard (url as URL).isFileURL else { return nil }
  return CGImageDestination(.file(url as URL), type: type, count: count)
}

/// Creates a destination that writes to memory and replaces the content of `data`.
/// - Parameters:
///   - data: The memory.
///   - type: `public.png`, `public.jpeg` or `public.heic`.
///   - count: The number of images: 1, or more for HEIC. The first one becomes the primary image.
///   - options: Ignored, as on Apple's systems.
/// - Returns: The destination, or nil for other types and counts.
@discardableResult
public func CGImageDestinationCreateWithData(
  _ data: CFMutableData, _ type: CFString, _ count: Int, _ options: CFDictionary?
) -> CGImageDestination? {
  CGImageDestination(.memory(data), type: type, count: count)
}

/// Adds an image. Of the properties, `kCGImageDestinationLossyCompressionQuality` has an effect,
/// and `kCGImagePropertyOrientation` in HEIC files. Images beyond the count are ignored.
public func CGImageDestinationAddImage(
  _ idst: CGImageDestination, _ image: CGImage, _ properties: CFDictionary?
) { idst.add(image, properties) }

/// Sets properties for all images that do not have their own; see `CGImageDestinationAddImage` for
/// those that have an effect.
public func CGImageDestinationSetProperties(_ idst: CGImageDestination, _ properties: CFDictionary?) {
  idst.setProperties(properties)
}

/// Encodes and writes the images.
/// - Returns: false, with nothing written, if fewer images were added than the count, if the layout
///   of an image is not supported, if a HEIC image has more than 2^28 pixels or a side of more than
///   2^20, if the file cannot be written, or if the destination was finalized before.
@discardableResult
public func CGImageDestinationFinalize(_ idst: CGImageDestination) -> Bool { idst.finish() }

/// Returns the types of images that can be written. HEIC is one of them if the package is built
/// with the trait HEVC, as it is by default.
@discardableResult
public func CGImageDestinationCopyTypeIdentifiers() -> CFArray {
  ImageCodec.writable.map(\.rawValue) as CFArray
}
