// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A fact about a movie: its title, its author, when it was made.
open class AVMetadataItem: NSObject, AVAsynchronousKeyValueLoading, ValuePreparing, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  fileprivate let lock = Lock()
  fileprivate var storedIdentifier: AVMetadataIdentifier?
  /// Of a value that a program gives when it is asked.
  fileprivate var loading: ValueLoading?
  fileprivate var storedValue: (any NSCopying & NSObjectProtocol)?
  fileprivate var storedLanguage: String?
  fileprivate var storedDataType: String?
  fileprivate var storedTime = CMTime.invalid
  fileprivate var storedDuration = CMTime.invalid
  fileprivate var storedStartDate: Date?
  fileprivate var storedExtraAttributes: [AVMetadataExtraAttributeKey: Any]?
  /// The parts of an identifier that is not complete.
  fileprivate var storedKeySpace: String?
  fileprivate var storedKey: String?

  /// An item without anything, or, of a mutable one, to be filled in.
  override init() { super.init() }

  /// An item whose value is asked for when somebody wants it.
  ///
  /// - Parameters:
  ///   - metadataItem: What the item has otherwise.
  ///   - handler: Called at most once, on any thread, with a request that has to be answered; it may be kept, and answered
  ///     later. Who reads the value waits meanwhile; `load(_:)` does not block.
  @preconcurrency public convenience init(
    propertiesOf metadataItem: AVMetadataItem,
    valueLoadingHandler handler: @escaping @Sendable (AVMetadataItemValueRequest) -> Void
  ) {
    self.init()
    copyProperties(of: metadataItem)
    lock.withLock { loading = ValueLoading(handler) }
  }

  /// Takes all but the value over from another item.
  private func copyProperties(of other: AVMetadataItem) {
    let (identifier, language, type) = (other.identifier, other.extendedLanguageTag, other.saidDataType)
    let (time, duration, date) = (other.time, other.duration, other.startDate)
    let attributes = other.extraAttributes
    lock.withLock {
      (storedIdentifier, storedLanguage, storedDataType) = (identifier, language, type)
      (storedTime, storedDuration, storedStartDate) = (time, duration, date)
      storedExtraAttributes = attributes
    }
  }

  /// The value.
  /// - Throws: Why a program that is asked for it has none.
  func loadedValue() throws -> (any NSCopying & NSObjectProtocol)? {
    let (loading, stored) = lock.withLock { (self.loading, storedValue) }
    return try loading.map { try $0.value(for: self) } ?? stored
  }

  open var identifier: AVMetadataIdentifier? { lock.withLock { storedIdentifier } }
  /// Where a program gives it when it is asked: waits for that; nil if it has none.
  open var value: (any NSCopying & NSObjectProtocol)? { try? loadedValue() }
  open var extendedLanguageTag: String? { lock.withLock { storedLanguage } }
  /// The type of the value, `kCMMetadataBaseDataType_*` or one that conforms to it; what was not said, its class tells.
  open var dataType: String? { lock.withLock { storedDataType } ?? Self.dataType(of: value) }

  /// What was said of the type.
  var saidDataType: String? { lock.withLock { storedDataType } }

  open var keySpace: AVMetadataKeySpace? { identifier?.space.map { AVMetadataKeySpace($0) } }
  /// A string; of four characters where files have four-character codes.
  open var key: (any NSCopying & NSObjectProtocol)? {
    identifier?.plainKey.map { NSString(string: $0) }
  }
  /// The key in the common key space, if it has a place there.
  open var commonKey: AVMetadataKey? { identifier?.commonKey }
  /// The language and region that the item is meant for; nil: any.
  open var locale: Locale? { extendedLanguageTag.map { Locale(identifier: $0) } }
  /// When the item holds within the movie: items of a file hold always.
  open var time: CMTime { lock.withLock { storedTime } }
  /// See `time`.
  open var duration: CMTime { lock.withLock { storedDuration } }
  open var startDate: Date? { lock.withLock { storedStartDate } }
  /// What an item has besides: items of movie files have nothing.
  open var extraAttributes: [AVMetadataExtraAttributeKey: Any]? { lock.withLock { storedExtraAttributes } }

  open var stringValue: String? {
    switch value {
    case let text as NSString: String(describing: text)
    case let number as NSNumber: number.stringValue
    case let data as NSData: Self.text(Data(referencing: data), dataType)
    case let date as NSDate:
      ISO8601DateFormatter().string(
        from: Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate))
    default: nil
    }
  }
  open var numberValue: NSNumber? { value as? NSNumber }
  open var dateValue: Date? {
    if let date = value as? NSDate {
      return Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate)
    }
    guard let text = stringValue else { return nil }
    let formatter = ISO8601DateFormatter()
    if let date = formatter.date(from: text) { return date }
    formatter.formatOptions.insert(.withFractionalSeconds)
    return formatter.date(from: text)
  }
  open var dataValue: Data? { (value as? NSData).map { Data(referencing: $0) } }

  @discardableResult
  open func statusOfValue(forKey key: String, error outError: NSErrorPointer) -> AVKeyValueStatus {
    guard ValueLoading.keys.contains(key), let loading = lock.withLock({ loading }) else { return .loaded }
    let (status, error) = loading.status
    if let error { outError?.pointee = error as NSError }
    return status
  }
  @preconcurrency open func loadValuesAsynchronously(
    forKeys keys: [String], completionHandler handler: (@Sendable () -> Void)? = nil
  ) {
    prepared(keys.first(where: ValueLoading.keys.contains) ?? "") { handler?() }
  }

  func prepare(_ key: String, _ completion: @escaping @Sendable () -> Void) {
    guard ValueLoading.keys.contains(key), let loading = lock.withLock({ loading }) else {
      return completion()
    }
    loading.ask(for: self, then: completion)
  }

  /// Those of the items that have an identifier; a common one finds all that mean the same.
  open class func metadataItems(
    from metadataItems: [AVMetadataItem], filteredByIdentifier identifier: AVMetadataIdentifier
  ) -> [AVMetadataItem] {
    metadataItems.filter { item in
      item.identifier == identifier
        || identifier.space == "comn" && item.commonKey != nil && item.commonKey == identifier.commonKey
    }
  }

  /// Those of the items that have a key and a key space, of which each may be nil: any.
  open class func metadataItems(
    from metadataItems: [AVMetadataItem], withKey key: Any?, keySpace: AVMetadataKeySpace?
  ) -> [AVMetadataItem] {
    let wanted = key.flatMap { identifier(forKey: $0, keySpace: keySpace ?? .quickTimeMetadata)?.plainKey }
    guard key == nil || wanted != nil else { return [] }
    return metadataItems.filter { item in
      if keySpace == .common, let wanted { return item.commonKey?.rawValue == wanted }
      let own = (item.key as? NSString).map { String(describing: $0) }
      return (keySpace == nil || item.keySpace == keySpace) && (wanted == nil || own == wanted)
    }
  }

  /// Items in the first of the languages that there are any in, then those in the next; without a language, at the end.
  open class func metadataItems(
    from metadataItems: [AVMetadataItem],
    filteredAndSortedAccordingToPreferredLanguages preferredLanguages: [String]
  ) -> [AVMetadataItem] {
    func language(_ tag: String) -> Substring { tag.prefix { $0 != "-" && $0 != "_" } }
    let sorted = preferredLanguages.flatMap { wanted in
      metadataItems.filter { item in
        item.extendedLanguageTag.map { language($0) == language(wanted) } ?? false
      }
    }
    var seen = Set<ObjectIdentifier>()
    return (sorted + metadataItems.filter { $0.extendedLanguageTag == nil }).filter {
      seen.insert(ObjectIdentifier($0)).inserted
    }
  }

  open class func metadataItems(
    from metadataItems: [AVMetadataItem], with locale: Locale
  ) -> [AVMetadataItem] {
    metadataItems.filter { $0.locale?.identifier(.bcp47) == locale.identifier(.bcp47) }
  }

  /// The identifier of a key in a key space; nil if the key is neither text nor a four-character code.
  open class func identifier(forKey key: Any, keySpace: AVMetadataKeySpace) -> AVMetadataIdentifier? {
    if let key = key as? AVMetadataKey {
      return AVMetadataIdentifier(space: keySpace.rawValue, key: key.rawValue)
    }
    if let key = key as? String { return AVMetadataIdentifier(space: keySpace.rawValue, key: key) }
    guard let number = key as? NSNumber else { return nil }
    let code = number.uint32Value
    let scalars = [24, 16, 8, 0].map { Unicode.Scalar(UInt8(truncatingIfNeeded: code >> UInt32($0))) }
    return AVMetadataIdentifier(space: keySpace.rawValue, key: String(String.UnicodeScalarView(scalars)))
  }
  open class func keySpace(forIdentifier identifier: AVMetadataIdentifier) -> AVMetadataKeySpace? {
    identifier.space.map { AVMetadataKeySpace($0) }
  }
  open class func key(forIdentifier identifier: AVMetadataIdentifier) -> Any? { identifier.plainKey }
}

/// What belongs to a metadata item besides its value.
public struct AVMetadataExtraAttributeKey: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let valueURI = AVMetadataExtraAttributeKey(rawValue: "AVMetadataExtraAttributeValueURIKey")
  public static let baseURI = AVMetadataExtraAttributeKey(rawValue: "AVMetadataExtraAttributeBaseURIKey")
  public static let info = AVMetadataExtraAttributeKey(rawValue: "AVMetadataExtraAttributeInfoKey")
}

/// A metadata item that a program fills in itself.
open class AVMutableMetadataItem: AVMetadataItem, @unchecked Sendable {
  // Sendable: the base class's lock guards all.
  public override init() { super.init() }

  open override var identifier: AVMetadataIdentifier? {
    get { super.identifier }
    set { lock.withLock { storedIdentifier = newValue } }
  }
  /// Together with a `key`, the identifier.
  open override var keySpace: AVMetadataKeySpace? {
    get { super.keySpace ?? lock.withLock { storedKeySpace }.map { AVMetadataKeySpace($0) } }
    set { complete { storedKeySpace = newValue?.rawValue } }
  }
  /// Text, or the number of a four-character code.
  open override var key: (any NSCopying & NSObjectProtocol)? {
    get { super.key ?? lock.withLock { storedKey }.map { NSString(string: $0) } }
    set {
      let text = newValue.flatMap { AVMetadataItem.identifier(forKey: $0, keySpace: .common)?.plainKey }
      complete { storedKey = text }
    }
  }
  private func complete(_ change: () -> Void) {
    lock.withLock {
      if let known = storedIdentifier { (storedKeySpace, storedKey) = (known.space, known.plainKey) }
      change()
      storedIdentifier =
        storedKeySpace.flatMap { space in storedKey.map { AVMetadataIdentifier(space: space, key: $0) } }
    }
  }
  open override var locale: Locale? {
    get { super.locale }
    set { extendedLanguageTag = newValue?.identifier(.bcp47) }
  }
  open override var time: CMTime {
    get { super.time }
    set { lock.withLock { storedTime = newValue } }
  }
  open override var duration: CMTime {
    get { super.duration }
    set { lock.withLock { storedDuration = newValue } }
  }
  open override var startDate: Date? {
    get { super.startDate }
    set { lock.withLock { storedStartDate = newValue } }
  }
  open override var extraAttributes: [AVMetadataExtraAttributeKey: Any]? {
    get { super.extraAttributes }
    set { lock.withLock { storedExtraAttributes = newValue } }
  }
  open override var value: (any NSCopying & NSObjectProtocol)? {
    get { super.value }
    set { lock.withLock { (storedValue, loading) = (newValue, nil) } }
  }
  /// Tells how bytes of a value are to be understood: those of UTF-8 and UTF-16 are text, also where it is written.
  open override var dataType: String? {
    get { super.dataType }
    set { lock.withLock { storedDataType = newValue } }
  }
  open override var extendedLanguageTag: String? {
    get { super.extendedLanguageTag }
    set { lock.withLock { storedLanguage = newValue } }
  }
}

extension AVPartialAsyncProperty where Root: AVMetadataItem {
  /// Throws what a program that is asked for the value says.
  private static func property<T>(_ key: String, _ read: @escaping @Sendable (Root) -> T) -> AVAsyncProperty<
    Root, T
  > {
    AVAsyncProperty(key: key) { item in
      _ = try item.loadedValue()
      return read(item)
    }
  }

  public static var value: AVAsyncProperty<Root, (any NSCopying & NSObjectProtocol)?> {
    AVAsyncProperty(key: "value") { try $0.loadedValue() }
  }
  public static var stringValue: AVAsyncProperty<Root, String?> { property("stringValue") { $0.stringValue } }
  public static var numberValue: AVAsyncProperty<Root, NSNumber?> {
    property("numberValue") { $0.numberValue }
  }
  public static var dateValue: AVAsyncProperty<Root, Date?> { property("dateValue") { $0.dateValue } }
  public static var dataValue: AVAsyncProperty<Root, Data?> { property("dataValue") { $0.dataValue } }
}
