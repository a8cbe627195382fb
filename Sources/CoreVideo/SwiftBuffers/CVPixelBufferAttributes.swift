// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation

/// The requirements of a client for pixel buffers; properties are nil where any value is accepted.
public struct CVPixelBufferAttributes: Sendable {
  /// The accepted pixel formats, in the order of preference.
  public var pixelFormatTypes: [CVPixelFormatType]?
  public var size: CVImageSize?
  public var compatibility: CVPixelFormatDescription.Compatibility
  /// The alignment of rows in bytes, a power of two.
  public var bytesPerRowAlignment: Int?
  /// The alignment of planes in bytes, a power of two.
  public var planeAlignment: Int?
  /// The number of pixels around the picture.
  public var extendedPixels: CVPixelBufferPadding?
  public var backing = CVPixelBufferCreationAttributes.Backing.memory
  /// The raw attributes that have no property here.
  private var others: [String: any Sendable] = [:]

  /// The first of `pixelFormatTypes`. Setting it replaces all of them.
  public var pixelFormatType: CVPixelFormatType? {
    get { pixelFormatTypes?.first }
    set { pixelFormatTypes = newValue.map { [$0] } }
  }

  public init(
    pixelFormatTypes: [CVPixelFormatType]? = nil, size: CVImageSize? = nil,
    compatibility: CVPixelFormatDescription.Compatibility = [], bytesPerRowAlignment: Int? = nil,
    planeAlignment: Int? = nil, extendedPixels: CVPixelBufferPadding? = nil
  ) {
    self.pixelFormatTypes = pixelFormatTypes
    self.size = size
    self.compatibility = compatibility
    self.bytesPerRowAlignment = bytesPerRowAlignment
    self.planeAlignment = planeAlignment
    self.extendedPixels = extendedPixels
  }

  public init(_ attributes: CVPixelBufferCreationAttributes) {
    self.init(
      pixelFormatTypes: [attributes.pixelFormatType], size: attributes.size,
      compatibility: attributes.compatibility, bytesPerRowAlignment: attributes.bytesPerRowAlignment,
      planeAlignment: attributes.planeAlignment, extendedPixels: attributes.extendedPixels)
    backing = attributes.backing
  }

  /// Parses a dictionary that `CVPixelBufferCreate` takes. Invalid values are kept as raw
  /// attributes, with which no buffer can be created.
  public init(rawAttributes: [String: any Sendable]) {
    self.init()
    others = rawAttributes
    func take<T>(_ key: CFString, _ read: (Any) -> T?) -> T? {
      guard let value = others[key as String], let result = read(value) else { return nil }
      others[key as String] = nil
      return result
    }
    func integer(_ value: Any) -> Int? { (value as? NSNumber)?.intValue }
    pixelFormatTypes = take(kCVPixelBufferPixelFormatTypeKey) { value in
      if let number = value as? NSNumber { return [CVPixelFormatType(rawValue: number.uint32Value)] }
      guard let list = value as? [Any] else { return nil }
      let numbers = list.compactMap { ($0 as? NSNumber)?.uint32Value }
      return numbers.count == list.count ? numbers.map(CVPixelFormatType.init(rawValue:)) : nil
    }
    if others[kCVPixelBufferHeightKey as String].flatMap({ integer($0) }) != nil,
      let width = take(kCVPixelBufferWidthKey, integer), let height = take(kCVPixelBufferHeightKey, integer)
    {
      size = CVImageSize(width: width, height: height)
    }
    for (option, key) in CVPixelFormatDescription.Compatibility.keys
    where take(key, { ($0 as? NSNumber)?.boolValue }) == true { compatibility.insert(option) }
    bytesPerRowAlignment = take(kCVPixelBufferBytesPerRowAlignmentKey, integer)
    planeAlignment = take(kCVPixelBufferPlaneAlignmentKey, integer)
    let borders = Self.borderKeys.map { take($0, integer) }
    if borders.contains(where: { $0 != nil }) {
      extendedPixels = CVPixelBufferPadding(
        left: borders[0] ?? 0, right: borders[1] ?? 0, top: borders[2] ?? 0, bottom: borders[3] ?? 0)
    }
    if let properties = take(kCVPixelBufferIOSurfacePropertiesKey, { $0 as? [String: any Sendable] }) {
      backing = properties.isEmpty ? .ioSurface : .ioSurfaceWithProperties(properties)
    }
  }

  /// The dictionary that `CVPixelBufferCreate` takes.
  public var rawAttributes: [String: any Sendable] {
    var all = others
    if let formats = pixelFormatTypes {
      all[kCVPixelBufferPixelFormatTypeKey as String] =
        formats.count == 1 ? formats[0].rawValue as any Sendable : formats.map(\.rawValue)
    }
    if let size {
      all[kCVPixelBufferWidthKey as String] = size.width
      all[kCVPixelBufferHeightKey as String] = size.height
    }
    for (option, key) in CVPixelFormatDescription.Compatibility.keys where compatibility.contains(option) {
      all[key as String] = true
    }
    if let bytesPerRowAlignment {
      all[kCVPixelBufferBytesPerRowAlignmentKey as String] = bytesPerRowAlignment
    }
    if let planeAlignment { all[kCVPixelBufferPlaneAlignmentKey as String] = planeAlignment }
    if let border = extendedPixels {
      for (key, value) in zip(Self.borderKeys, [border.left, border.right, border.top, border.bottom]) {
        all[key as String] = value
      }
    }
    if let properties = backing.properties {
      all[kCVPixelBufferIOSurfacePropertiesKey as String] = properties
    }
    return all
  }

  private static var borderKeys: [CFString] {
    [
      kCVPixelBufferExtendedPixelsLeftKey, kCVPixelBufferExtendedPixelsRightKey,
      kCVPixelBufferExtendedPixelsTopKey, kCVPixelBufferExtendedPixelsBottomKey,
    ]
  }

  /// `rawAttributes` as a Core Foundation dictionary.
  package var dictionary: CFDictionary { NSDictionary(dictionary: rawAttributes) }

  /// Merges the requirements of several clients, as
  /// `CVPixelBufferCreateResolvedAttributesDictionary` does; nil if they contradict each other.
  public init?(merging attributes: [CVPixelBufferAttributes]) {
    var resolved: CFDictionary?
    let list = NSArray(array: attributes.map(\.dictionary))
    guard CVPixelBufferCreateResolvedAttributesDictionary(nil, list, &resolved) == kCVReturnSuccess,
      let resolved
    else { return nil }
    self.init(dictionary: resolved)
  }

  package init(dictionary: CFDictionary) {
    var raw: [String: any Sendable] = [:]
    for case (let key as String, let value) in dictionary { raw[key] = Self.sendable(value) }
    self.init(rawAttributes: raw)
  }

  /// Converts a value of a property list; other objects are left out.
  package static func sendable(_ value: Any) -> (any Sendable)? {
    switch value {
    case let number as NSNumber: number
    case let text as String: text
    case let data as Data: data
    case let list as [Any]: list.compactMap(sendable)
    case let dictionary as [String: Any]: dictionary.compactMapValues(sendable)
    default: nil
    }
  }
}
