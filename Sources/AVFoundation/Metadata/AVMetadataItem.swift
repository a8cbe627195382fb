// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A metadata item: for example the title, the author or the creation date of a movie.
open class AVMetadataItem: NSObject, AVAsynchronousKeyValueLoading, ValuePreparing, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  fileprivate let lock = Lock()
  fileprivate var storedIdentifier: AVMetadataIdentifier?
  /// The loading of the value, if a handler of the program provides it.
  fileprivate var loading: ValueLoading?
  fileprivate var storedValue: (any NSCopying & NSObjectProtocol)?
  fileprivate var storedLanguage: String?
  fileprivate var storedDataType: String?
  fileprivate var storedTime = CMTime.invalid
  fileprivate var storedDuration = CMTime.invalid
  fileprivate var storedStartDate: Date?
  fileprivate var storedExtraAttributes: [AVMetadataExtraAttributeKey: Any]?
  /// The key space and key while only one of them is set, so that there is no identifier yet.
  fileprivate var storedKeySpace: String?
  fileprivate var storedKey: String?

  /// Creates an item without properties.
  override init() { super.init() }

  /// Creates an item whose value is requested from the program when it is first needed.
  ///
  /// Reading `value` blocks until the request is answered; `load(_:)` does not block.
  /// - Parameters:
  ///   - metadataItem: The item from which all other properties are copied.
  ///   - handler: Called at most once, on any thread, with a request that must be answered. The
  ///     request may be kept and answered later.
  @preconcurrency public convenience init(
    propertiesOf metadataItem: AVMetadataItem,
    valueLoadingHandler handler: @escaping @Sendable (AVMetadataItemValueRequest) -> Void
  ) {
    self.init()
    copyProperties(of: metadataItem)
    lock.withLock { loading = ValueLoading(handler) }
  }

  /// Copies all properties except the value from another item.
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

  /// Returns the value, after requesting it from the program if necessary.
  /// - Throws: The error with which the program answered the request.
  func loadedValue() throws -> (any NSCopying & NSObjectProtocol)? {
    let (loading, stored) = lock.withLock { (self.loading, storedValue) }
    return try loading.map { try $0.value(for: self) } ?? stored
  }

  open var identifier: AVMetadataIdentifier? { lock.withLock { storedIdentifier } }
  /// The value. If the program provides it, reading blocks until the request is answered; nil if it
  /// fails.
  open var value: (any NSCopying & NSObjectProtocol)? { try? loadedValue() }
  open var extendedLanguageTag: String? { lock.withLock { storedLanguage } }
  /// The data type of the value: one of `kCMMetadataBaseDataType_*`, or a type that conforms to
  /// one. If none was set, it follows from the class of the value.
  open var dataType: String? { lock.withLock { storedDataType } ?? Self.dataType(of: value) }

  /// The data type that was set; nil if none was.
  var saidDataType: String? { lock.withLock { storedDataType } }

  open var keySpace: AVMetadataKeySpace? { identifier?.space.map { AVMetadataKeySpace($0) } }
  /// The key as a string. Four-character codes are strings of four characters.
  open var key: (any NSCopying & NSObjectProtocol)? {
    identifier?.plainKey.map { NSString(string: $0) }
  }
  /// The corresponding key of the common key space; nil if there is none.
  open var commonKey: AVMetadataKey? { identifier?.commonKey }
  /// The language and region that the item is intended for; nil for any.
  open var locale: Locale? { extendedLanguageTag.map { Locale(identifier: $0) } }
  /// The time at which the item begins to apply; invalid for items of files, which apply to the
  /// whole movie.
  open var time: CMTime { lock.withLock { storedTime } }
  /// The duration for which the item applies; see `time`.
  open var duration: CMTime { lock.withLock { storedDuration } }
  open var startDate: Date? { lock.withLock { storedStartDate } }
  /// Further attributes of the item; nil for items of movie files.
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

  /// Returns the items with an identifier. An identifier of the common key space also selects the
  /// items of other key spaces that correspond to it.
  open class func metadataItems(
    from metadataItems: [AVMetadataItem], filteredByIdentifier identifier: AVMetadataIdentifier
  ) -> [AVMetadataItem] {
    metadataItems.filter { item in
      item.identifier == identifier
        || identifier.space == "comn" && item.commonKey != nil && item.commonKey == identifier.commonKey
    }
  }

  /// Returns the items with a key and a key space. Nil for either matches any.
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

  /// Returns the items in the preferred languages, in the order of the languages, followed by the
  /// items without a language.
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

  /// Returns the identifier of a key in a key space; nil if the key is neither a string nor a
  /// four-character code in an `NSNumber`.
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

/// The keys of further attributes of a metadata item.
public struct AVMetadataExtraAttributeKey: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let valueURI = AVMetadataExtraAttributeKey(rawValue: "AVMetadataExtraAttributeValueURIKey")
  public static let baseURI = AVMetadataExtraAttributeKey(rawValue: "AVMetadataExtraAttributeBaseURIKey")
  public static let info = AVMetadataExtraAttributeKey(rawValue: "AVMetadataExtraAttributeInfoKey")
}

/// A metadata item that can be modified.
open class AVMutableMetadataItem: AVMetadataItem, @unchecked Sendable {
  // Sendable: the base class's lock guards all.
  public override init() { super.init() }

  open override var identifier: AVMetadataIdentifier? {
    get { super.identifier }
    set { lock.withLock { storedIdentifier = newValue } }
  }
  /// The key space. The identifier is set as soon as a key is set as well.
  open override var keySpace: AVMetadataKeySpace? {
    get { super.keySpace ?? lock.withLock { storedKeySpace }.map { AVMetadataKeySpace($0) } }
    set { complete { storedKeySpace = newValue?.rawValue } }
  }
  /// The key as a string, or as an `NSNumber` with a four-character code.
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
  /// The data type, which determines how a value in `Data` is interpreted: for UTF-8 and UTF-16 it
  /// is text, also when the item is written.
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
  /// Creates a property whose loading throws the error with which the program answered the request
  /// for the value.
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
