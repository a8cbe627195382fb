// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A text that is shown during a time range, with its attributes.
open class AVCaption: NSObject, NSCopying, NSMutableCopying, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  public enum Animation: Int, Sendable {
    case none = 0
    /// The characters appear one after the other.
    case characterReveal = 1
  }

  public enum FontWeight: Int, Sendable {
    /// The weight is not specified.
    case unknown = 0
    case normal = 1
    case bold = 2
  }

  public enum FontStyle: Int, Sendable {
    /// The style is not specified.
    case unknown = 0
    case normal = 1
    case italic = 2
  }

  /// The lines that decorate text.
  public struct Decoration: OptionSet, Hashable, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    public static let underline = Decoration(rawValue: 1 << 0)
    public static let lineThrough = Decoration(rawValue: 1 << 1)
    public static let overline = Decoration(rawValue: 1 << 2)
  }

  public enum TextAlignment: Int, Sendable {
    /// The edge at which the text begins in its direction.
    case start = 0
    case end = 1
    case center = 2
    case left = 3
    case right = 4
  }

  /// The characters of vertical text that are combined upright in the space of one character.
  public enum TextCombine: Int, Sendable {
    case all = -1
    case none = 0
    case oneDigit = 1
    case twoDigits = 2
    case threeDigits = 3
    case fourDigits = 4
  }

  /// Ruby text: small text next to a part of the text that states its pronunciation.
  open class Ruby: NSObject, NSCopying, @unchecked Sendable {
    // Sendable: immutable.
    public enum Position: Int, Sendable {
      case before = 0
      case after = 1
    }

    public enum Alignment: Int, Sendable {
      case start = 0
      case center = 1
      case distributeSpaceBetween = 2
      case distributeSpaceAround = 3
    }

    public let text: String
    public let position: Position
    public let alignment: Alignment

    public convenience init(text: String) { self.init(text: text, position: .before, alignment: .center) }

    public init(text: String, position: Position, alignment: Alignment) {
      self.text = text
      self.position = position
      self.alignment = alignment
      super.init()
    }

    open func copy(with zone: NSZone? = nil) -> Any { self }

    override open func isEqual(_ object: Any?) -> Bool {
      guard let other = object as? Ruby else { return false }
      return text == other.text && position == other.position && alignment == other.alignment
    }
    override open var hash: Int { text.hashValue }
  }

  /// The values of a caption's properties.
  struct Content: Equatable, Sendable {
    var text: String
    var range: CMTimeRange
    var region: AVCaptionRegion?
    var alignment = TextAlignment.start
    var animation = Animation.none
    var styles = CaptionStyles()
  }

  fileprivate let lock = Lock()
  fileprivate var stored: Content

  /// Creates a caption.
  /// - Parameters:
  ///   - text: The text.
  ///   - timeRange: The time range during which it is shown.
  public init(_ text: String, timeRange: CMTimeRange) {
    stored = Content(text: text, range: timeRange)
    super.init()
  }

  init(_ content: Content) {
    stored = content
    super.init()
  }

  var content: Content { lock.withLock { stored } }

  open var text: String { content.text }
  open var timeRange: CMTimeRange { content.range }
  /// The region in which the caption is shown; nil if the player chooses it.
  open var region: AVCaptionRegion? { content.region }
  open var textAlignment: TextAlignment { content.alignment }
  open var animation: Animation { content.animation }

  // MARK: - Attributes at an index, and the range in which they are the same

  /// Returns the text colour at an index; nil if the player chooses it.
  public func textColor(at index: String.Index) -> (CGColor?, Range<String.Index>) {
    attribute(\.textColor, at: index)
  }
  /// Returns the background colour at an index; nil if the player chooses it.
  public func backgroundColor(at index: String.Index) -> (CGColor?, Range<String.Index>) {
    attribute(\.backgroundColor, at: index)
  }
  public func fontWeight(at index: String.Index) -> (FontWeight, Range<String.Index>) {
    let (value, range) = attribute(\.weight, at: index)
    return (value ?? .unknown, range)
  }
  public func fontStyle(at index: String.Index) -> (FontStyle, Range<String.Index>) {
    let (value, range) = attribute(\.style, at: index)
    return (value ?? .unknown, range)
  }
  public func decoration(at index: String.Index) -> (Decoration, Range<String.Index>) {
    let (value, range) = attribute(\.decoration, at: index)
    return (value ?? [], range)
  }
  public func textCombine(at index: String.Index) -> (TextCombine, Range<String.Index>) {
    let (value, range) = attribute(\.combine, at: index)
    return (value ?? .none, range)
  }
  /// Returns the ruby text at an index; nil if there is none.
  public func ruby(at index: String.Index) -> (Ruby?, Range<String.Index>) { attribute(\.ruby, at: index) }

  /// Returns the value of an attribute at an index, and the range in which it is the same.
  private func attribute<Value>(
    _ runs: KeyPath<CaptionStyles, StyleRuns<Value>>, at index: String.Index
  ) -> (Value?, Range<String.Index>) {
    let content = content
    let text = content.text
    let units = text.utf16
    // The index may belong to another string.
    let inside = min(max(index, text.startIndex), text.endIndex)
    let offset = units.distance(from: units.startIndex, to: inside)
    let (value, range) = content.styles[keyPath: runs].at(offset, in: units.count)
    func bound(_ offset: Int) -> String.Index {
      units.index(units.startIndex, offsetBy: min(max(0, offset), units.count))
    }
    return (value, bound(range.lowerBound)..<bound(range.upperBound))
  }

  // MARK: - Copies

  /// Returns an `AVCaption` that later changes of this one do not affect.
  open func copy(with zone: NSZone? = nil) -> Any { AVCaption(content) }
  /// Returns an `AVMutableCaption` that can be changed independently.
  open func mutableCopy(with zone: NSZone? = nil) -> Any { AVMutableCaption(content) }

  override open func isEqual(_ object: Any?) -> Bool {
    (object as? AVCaption).map { $0.content == content } ?? false
  }
  override open var hash: Int { content.text.hashValue }
}

/// A caption that can be modified. Ranges are in UTF-16 code units and are limited to the text.
open class AVMutableCaption: AVCaption, @unchecked Sendable {
  // Sendable: `lock` of the base class guards the mutable state.
  /// The text. Setting it removes the attributes of all parts.
  open override var text: String {
    get { super.text }
    set {
      lock.withLock {
        stored.text = newValue
        stored.styles = CaptionStyles()
      }
    }
  }
  open override var timeRange: CMTimeRange {
    get { super.timeRange }
    set { lock.withLock { stored.range = newValue } }
  }
  open override var region: AVCaptionRegion? {
    get { super.region }
    set {
      let copy = newValue?.copy() as? AVCaptionRegion
      lock.withLock { stored.region = copy }
    }
  }
  open override var textAlignment: TextAlignment {
    get { super.textAlignment }
    set { lock.withLock { stored.alignment = newValue } }
  }
  open override var animation: Animation {
    get { super.animation }
    set { lock.withLock { stored.animation = newValue } }
  }

  open func setTextColor(_ color: CGColor, in range: NSRange) { set(\.textColor, color, range) }
  open func removeTextColor(in range: NSRange) { set(\.textColor, nil, range) }
  open func setBackgroundColor(_ color: CGColor, in range: NSRange) { set(\.backgroundColor, color, range) }
  open func removeBackgroundColor(in range: NSRange) { set(\.backgroundColor, nil, range) }
  open func setFontWeight(_ fontWeight: FontWeight, in range: NSRange) { set(\.weight, fontWeight, range) }
  open func removeFontWeight(in range: NSRange) { set(\.weight, nil, range) }
  open func setFontStyle(_ fontStyle: FontStyle, in range: NSRange) { set(\.style, fontStyle, range) }
  open func removeFontStyle(in range: NSRange) { set(\.style, nil, range) }
  open func setDecoration(_ decoration: Decoration, in range: NSRange) {
    set(\.decoration, decoration, range)
  }
  open func removeDecoration(in range: NSRange) { set(\.decoration, nil, range) }
  open func setTextCombine(_ textCombine: TextCombine, in range: NSRange) {
    set(\.combine, textCombine, range)
  }
  open func removeTextCombine(in range: NSRange) { set(\.combine, nil, range) }
  open func setRuby(_ ruby: Ruby, in range: NSRange) { set(\.ruby, ruby, range) }
  open func removeRuby(in range: NSRange) { set(\.ruby, nil, range) }

  /// Sets an attribute in a range, or removes it there if the value is nil.
  private func set<Value>(
    _ runs: WritableKeyPath<CaptionStyles, StyleRuns<Value>>, _ value: Value?, _ range: NSRange
  ) {
    guard range.location >= 0, range.length > 0 else { return }
    lock.withLock {
      let end = range.location.addingReportingOverflow(range.length)
      let length = stored.text.utf16.count
      let upper = end.overflow ? length : min(length, end.partialValue)
      guard range.location < upper else { return }
      stored.styles[keyPath: runs].set(value, in: range.location..<upper)
    }
  }
}
