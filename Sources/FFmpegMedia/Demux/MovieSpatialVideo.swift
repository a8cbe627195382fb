// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// Stereo views, projection and field of view of a movie's visual sample entry (boxes `vexu` and
/// `hfov`; Apple, "ISO Base Media File Format and Apple HEVC Stereo Video" and "QuickTime Spatial
/// and Immersive Media"). libavformat does not expose them.
package struct SpatialVideo: Equatable, Sendable {
  /// The eyes that there are views of (`stri`); nil if there is no such box.
  var views: Views?
  /// The eye whose view is displayed in two dimensions (`hero`): 1 the left one, 2 the right one.
  var heroEye: UInt8?
  /// Distance between the optical centres of the two lenses (`blin`), in micrometres.
  var baseline: UInt32?
  /// Relative shift of the two views (`dadj`), in ten-thousandths of the picture's width.
  var disparity: Int32?
  /// The kind of projection, a four-character code (`prji`).
  var projection: String?
  /// The arrangement of two views in one picture, a four-character code (`pkin`).
  var packing: String?
  /// The horizontal field of view in thousandths of a degree (`hfov`).
  var fieldOfView: UInt32?

  struct Views: OptionSet, Sendable {
    let rawValue: UInt8
    static let left = Views(rawValue: 1)
    static let right = Views(rawValue: 2)
    static let additional = Views(rawValue: 4)
  }

  /// Largest size of a `vexu` or `hfov` box that is read, in bytes.
  static let maximum = 1 << 12

  private static var projections: [(kind: String, name: CFString)] {
    [
      ("rect", kCMFormatDescriptionProjectionKind_Rectilinear),
      ("equi", kCMFormatDescriptionProjectionKind_Equirectangular),
      ("hequ", kCMFormatDescriptionProjectionKind_HalfEquirectangular),
      ("prim", kCMFormatDescriptionProjectionKind_ParametricImmersive),
    ]
  }
  private static var packings: [(kind: String, name: CFString)] {
    [
      ("side", kCMFormatDescriptionViewPackingKind_SideBySide),
      ("over", kCMFormatDescriptionViewPackingKind_OverUnder),
    ]
  }
  private static var eyes: [(number: UInt8, name: CFString)] {
    [
      (1, kCMFormatDescriptionHeroEye_Left), (2, kCMFormatDescriptionHeroEye_Right),
    ]
  }

  var isEmpty: Bool { self == SpatialVideo() }

  // MARK: - Boxes

  /// Reads the content of a `vexu` or `hfov` box; others are ignored.
  mutating func read(_ type: String, _ bytes: [UInt8]) {
    switch type {
    case "vexu":
      for box in MovieBox.parse(bytes[...]) ?? [] where ["eyes", "proj", "pack"].contains(box.type) {
        for part in MovieBox.parse(box.bytes[...]) ?? [] { readPart(box.type, part) }
      }
    case "hfov" where bytes.count >= 4:
      fieldOfView = UInt32(truncatingIfNeeded: MovieBox.number(bytes[...], 0))
    default: break
    }
  }

  private mutating func readPart(_ parent: String, _ box: MovieBox) {
    // Each of these boxes has a version and flags before its value.
    func number(_ box: MovieBox, _ count: Int) -> Int? {
      box.bytes.count >= 4 + count ? box.number(4, count: count) : nil
    }
    func kind(_ box: MovieBox) -> String? {
      box.bytes.count >= 8 ? String(decoding: box.bytes[4..<8], as: UTF8.self) : nil
    }
    func child(_ type: String) -> MovieBox? {
      MovieBox.parse(box.bytes[...])?.first { $0.type == type }
    }
    switch (parent, box.type) {
    case ("eyes", "stri"): views = number(box, 1).map { Views(rawValue: UInt8(truncatingIfNeeded: $0)) }
    case ("eyes", "hero"): heroEye = number(box, 1).map { UInt8(truncatingIfNeeded: $0) }
    case ("eyes", "cams"):
      baseline = child("blin").flatMap { number($0, 4) }.map { UInt32(truncatingIfNeeded: $0) }
    case ("eyes", "cmfy"):
      disparity = child("dadj").flatMap { number($0, 4) }.map { Int32(truncatingIfNeeded: $0) }
    case ("proj", "prji"): projection = kind(box)
    case ("pack", "pkin"): packing = kind(box)
    default: break
    }
  }

  /// The serialized `vexu` and `hfov` boxes; empty if there is nothing to store.
  var boxes: [UInt8] {
    func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
      content.isEmpty ? [] : MovieBox(type: type, bytes: content).serialized
    }
    func full(_ type: String, _ value: [UInt8]?) -> [UInt8] {
      value.map { box(type, [0, 0, 0, 0] + $0) } ?? []
    }
    func word(_ value: (some BinaryInteger)?) -> [UInt8]? { value.map { MovieBox.bytes(Int($0)) } }
    let eyes =
      full("stri", views.map { [$0.rawValue] }) + full("hero", heroEye.map { [$0] })
      + box("cams", full("blin", word(baseline))) + box("cmfy", full("dadj", word(disparity)))
    let content =
      box("eyes", eyes) + box("proj", full("prji", projection.map { Array($0.utf8) }))
      + box("pack", full("pkin", packing.map { Array($0.utf8) }))
    return box("vexu", content) + box("hfov", word(fieldOfView) ?? [])
  }

  // MARK: - Extensions of a format description

  init() {}

  /// Reads the extensions of a format description.
  /// - Parameter value: Returns the value of an extension; nil if the description does not have it.
  init(_ value: (CFString) -> Any?) {
    func number(_ key: CFString) -> NSNumber? { value(key) as? NSNumber }
    func name(_ key: CFString) -> NSString? { value(key) as? NSString }
    let flags: [(CFString, Views)] = [
      (kCMFormatDescriptionExtension_HasLeftStereoEyeView, .left),
      (kCMFormatDescriptionExtension_HasRightStereoEyeView, .right),
      (kCMFormatDescriptionExtension_HasAdditionalViews, .additional),
    ]
    for (key, view) in flags {
      guard let flag = number(key) else { continue }
      views = flag.boolValue ? (views ?? []).union(view) : views ?? []
    }
    heroEye = name(kCMFormatDescriptionExtension_HeroEye).flatMap { name in
      Self.eyes.first { $0.name == name }?.number
    }
    baseline = number(kCMFormatDescriptionExtension_StereoCameraBaseline).flatMap {
      UInt32(exactly: $0.int64Value)
    }
    disparity = number(kCMFormatDescriptionExtension_HorizontalDisparityAdjustment).flatMap {
      Int32(exactly: $0.int64Value)
    }
    fieldOfView = number(kCMFormatDescriptionExtension_HorizontalFieldOfView).flatMap {
      UInt32(exactly: $0.int64Value)
    }
    projection = name(kCMFormatDescriptionExtension_ProjectionKind).flatMap { name in
      Self.projections.first { $0.name == name }?.kind
    }
    packing = name(kCMFormatDescriptionExtension_ViewPackingKind).flatMap { name in
      Self.packings.first { $0.name == name }?.kind
    }
  }

  /// Adds the known properties to the extensions of a format description.
  func add(to extensions: NSMutableDictionary) {
    func add(_ key: CFString, _ value: NSObject?) {
      if let value { extensions.setObject(value, forKey: key) }
    }
    if let views {
      add(
        kCMFormatDescriptionExtension_HasLeftStereoEyeView, NSNumber(value: views.contains(.left)))
      add(kCMFormatDescriptionExtension_HasRightStereoEyeView, NSNumber(value: views.contains(.right)))
      if views.contains(.additional) {
        add(kCMFormatDescriptionExtension_HasAdditionalViews, NSNumber(value: true))
      }
    }
    add(kCMFormatDescriptionExtension_HeroEye, Self.eyes.first { $0.number == heroEye }?.name)
    add(kCMFormatDescriptionExtension_StereoCameraBaseline, baseline.map { NSNumber(value: $0) })
    add(kCMFormatDescriptionExtension_HorizontalDisparityAdjustment, disparity.map { NSNumber(value: $0) })
    add(kCMFormatDescriptionExtension_HorizontalFieldOfView, fieldOfView.map { NSNumber(value: $0) })
    add(
      kCMFormatDescriptionExtension_ProjectionKind,
      Self.projections.first { $0.kind == projection }?.name)
    add(kCMFormatDescriptionExtension_ViewPackingKind, Self.packings.first { $0.kind == packing }?.name)
  }
}
