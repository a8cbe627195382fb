// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The units of the coordinates of captions.
public enum AVCaptionUnitsType: Int, Sendable {
  case unspecified = 0
  /// Characters and lines.
  case cells = 1
  /// Percent of the width or height of the picture.
  case percent = 2
}

public struct AVCaptionDimension: Hashable, Sendable {
  public var value: CGFloat
  public var units: AVCaptionUnitsType

  public init() { self.init(value: 0, units: .unspecified) }
  public init(value: CGFloat, units: AVCaptionUnitsType) {
    self.value = value
    self.units = units
  }
}

public struct AVCaptionPoint: Hashable, Sendable {
  public var x: AVCaptionDimension
  public var y: AVCaptionDimension

  public init() { self.init(x: AVCaptionDimension(), y: AVCaptionDimension()) }
  public init(x: AVCaptionDimension, y: AVCaptionDimension) {
    self.x = x
    self.y = y
  }
}

public struct AVCaptionSize: Hashable, Sendable {
  public var width: AVCaptionDimension
  public var height: AVCaptionDimension

  public init() { self.init(width: AVCaptionDimension(), height: AVCaptionDimension()) }
  public init(width: AVCaptionDimension, height: AVCaptionDimension) {
    self.width = width
    self.height = height
  }
}

public func AVCaptionDimensionMake(_ value: CGFloat, _ units: AVCaptionUnitsType) -> AVCaptionDimension {
  AVCaptionDimension(value: value, units: units)
}
public func AVCaptionPointMake(_ x: AVCaptionDimension, _ y: AVCaptionDimension) -> AVCaptionPoint {
  AVCaptionPoint(x: x, y: y)
}
public func AVCaptionSizeMake(_ width: AVCaptionDimension, _ height: AVCaptionDimension) -> AVCaptionSize {
  AVCaptionSize(width: width, height: height)
}

/// A region of the picture in which captions are shown.
open class AVCaptionRegion: NSObject, NSCopying, NSMutableCopying, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  /// The position of the lines in the region: at its beginning, in the middle or at its end.
  public enum DisplayAlignment: Int, Sendable {
    case before = 0
    case center = 1
    case after = 2
  }

  public enum WritingMode: Int, Sendable {
    case leftToRightAndTopToBottom = 0
    case topToBottomAndRightToLeft = 2
  }

  public enum Scroll: Int, Sendable {
    case none = 0
    /// Lines move up, and a new line appears at the bottom.
    case rollUp = 1
  }

  struct Content: Hashable, Sendable {
    var identifier: String?
    var origin = AVCaptionPoint()
    var size = AVCaptionSize()
    var scroll = Scroll.none
    var alignment = DisplayAlignment.before
    var writingMode = WritingMode.leftToRightAndTopToBottom
  }

  fileprivate let lock = Lock()
  fileprivate var stored: Content

  init(_ content: Content) {
    stored = content
    super.init()
  }

  fileprivate var content: Content { lock.withLock { stored } }

  /// Creates a region with coordinates in percent of the picture.
  private static func make(
    _ identifier: String, x: CGFloat, y: CGFloat, width: CGFloat, height: CGFloat,
    _ alignment: DisplayAlignment, _ mode: WritingMode = .leftToRightAndTopToBottom
  ) -> AVCaptionRegion {
    func percent(_ value: CGFloat) -> AVCaptionDimension { .init(value: value, units: .percent) }
    return AVCaptionRegion(
      Content(
        identifier: identifier, origin: .init(x: percent(x), y: percent(y)),
        size: .init(width: percent(width), height: percent(height)), alignment: alignment, writingMode: mode))
  }

  private static let top = make("top", x: 0, y: 0, width: 100, height: 15, .before)
  private static let bottom = make("bottom", x: 0, y: 85, width: 100, height: 15, .after)
  private static let left = make(
    "left", x: 0, y: 0, width: 15, height: 100, .after, .topToBottomAndRightToLeft)
  private static let right = make(
    "right", x: 85, y: 0, width: 15, height: 100, .before, .topToBottomAndRightToLeft)
  private static let subRip = make("subRipTextBottom", x: 0, y: 0, width: 100, height: 100, .after)

  /// The regions of iTunes Timed Text.
  open class var appleITTTop: AVCaptionRegion { top }
  open class var appleITTBottom: AVCaptionRegion { bottom }
  open class var appleITTLeft: AVCaptionRegion { left }
  open class var appleITTRight: AVCaptionRegion { right }
  /// The region of SubRip: the bottom of the picture.
  open class var subRipTextBottom: AVCaptionRegion { subRip }

  /// The identifier of the region; nil if it has none.
  open var identifier: String? { content.identifier }
  /// The top left corner.
  open var origin: AVCaptionPoint { content.origin }
  open var size: AVCaptionSize { content.size }
  open var scroll: Scroll { content.scroll }
  open var displayAlignment: DisplayAlignment { content.alignment }
  open var writingMode: WritingMode { content.writingMode }

  /// Returns an `AVCaptionRegion` that later changes of this one do not affect.
  open func copy(with zone: NSZone? = nil) -> Any { AVCaptionRegion(content) }
  /// Returns an `AVMutableCaptionRegion` that can be changed independently.
  open func mutableCopy(with zone: NSZone? = nil) -> Any { AVMutableCaptionRegion(content) }

  override open func isEqual(_ object: Any?) -> Bool {
    (object as? AVCaptionRegion).map { $0.content == content } ?? false
  }
  override open var hash: Int { content.hashValue }
}

/// A region that can be modified.
open class AVMutableCaptionRegion: AVCaptionRegion, @unchecked Sendable {
  // Sendable: the base class's lock guards all.
  public init() { super.init(Content()) }
  public init(identifier: String) { super.init(Content(identifier: identifier)) }
  override init(_ content: Content) { super.init(content) }

  open override var origin: AVCaptionPoint {
    get { super.origin }
    set { lock.withLock { stored.origin = newValue } }
  }
  open override var size: AVCaptionSize {
    get { super.size }
    set { lock.withLock { stored.size = newValue } }
  }
  open override var scroll: Scroll {
    get { super.scroll }
    set { lock.withLock { stored.scroll = newValue } }
  }
  open override var displayAlignment: DisplayAlignment {
    get { super.displayAlignment }
    set { lock.withLock { stored.alignment = newValue } }
  }
  open override var writingMode: WritingMode {
    get { super.writingMode }
    set { lock.withLock { stored.writingMode = newValue } }
  }
}
