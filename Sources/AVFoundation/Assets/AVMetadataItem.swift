// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A fact about a movie: its title, its author, when it was made.
open class AVMetadataItem: NSObject, AVAsynchronousKeyValueLoading, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  fileprivate let lock = Lock()
  fileprivate var storedIdentifier: AVMetadataIdentifier?
  fileprivate var storedValue: (any NSCopying & NSObjectProtocol)?
  fileprivate var storedLanguage: String?
  fileprivate var storedDataType: String?

  public var identifier: AVMetadataIdentifier? { lock.withLock { storedIdentifier } }
  public var value: (any NSCopying & NSObjectProtocol)? { lock.withLock { storedValue } }
  public var extendedLanguageTag: String? { lock.withLock { storedLanguage } }
  /// The type of the value, `kCMMetadataBaseDataType_*` or one that conforms to it; what was not said, its class tells.
  public var dataType: String? { lock.withLock { storedDataType } ?? Self.dataType(of: value) }

  public var keySpace: AVMetadataKeySpace? {
    identifier.flatMap { $0.rawValue.split(separator: "/", maxSplits: 1).first }.map { .init(String($0)) }
  }
  public var key: (any NSCopying & NSObjectProtocol)? {
    identifier.flatMap { $0.rawValue.split(separator: "/", maxSplits: 1).last }.map {
      NSString(string: String($0))
    }
  }
  /// The key in the common key space, if it has a place there.
  public var commonKey: AVMetadataKey? {
    keySpace == .common ? (key as? NSString).map { AVMetadataKey(rawValue: String(describing: $0)) } : nil
  }
  public var stringValue: String? {
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
  public var numberValue: NSNumber? { value as? NSNumber }
  public var dateValue: Date? {
    if let date = value as? NSDate {
      return Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate)
    }
    guard let text = stringValue else { return nil }
    let formatter = ISO8601DateFormatter()
    if let date = formatter.date(from: text) { return date }
    formatter.formatOptions.insert(.withFractionalSeconds)
    return formatter.date(from: text)
  }
  public var dataValue: Data? { (value as? NSData).map { Data(referencing: $0) } }

  @discardableResult
  public func statusOfValue(forKey key: String, error outError: NSErrorPointer) -> AVKeyValueStatus {
    .loaded
  }
  @preconcurrency public func loadValuesAsynchronously(
    forKeys keys: [String], completionHandler handler: (@Sendable () -> Void)? = nil
  ) {
    assetLoadingQueue.async { handler?() }
  }

  /// Those of the items that have an identifier.
  public class func metadataItems(
    from metadataItems: [AVMetadataItem], filteredByIdentifier identifier: AVMetadataIdentifier
  ) -> [AVMetadataItem] {
    metadataItems.filter { $0.identifier == identifier }
  }
}

/// A metadata item that a program fills in itself.
open class AVMutableMetadataItem: AVMetadataItem, @unchecked Sendable {
  // Sendable: the base class's lock guards all.
  public override init() { super.init() }

  open override var identifier: AVMetadataIdentifier? {
    get { super.identifier }
    set { lock.withLock { storedIdentifier = newValue } }
  }
  open override var value: (any NSCopying & NSObjectProtocol)? {
    get { super.value }
    set { lock.withLock { storedValue = newValue } }
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
  public static var value: AVAsyncProperty<Root, (any NSCopying & NSObjectProtocol)?> {
    AVAsyncProperty(key: "value") { $0.value }
  }
  public static var stringValue: AVAsyncProperty<Root, String?> {
    AVAsyncProperty(key: "stringValue") { $0.stringValue }
  }
  public static var numberValue: AVAsyncProperty<Root, NSNumber?> {
    AVAsyncProperty(key: "numberValue") { $0.numberValue }
  }
  public static var dateValue: AVAsyncProperty<Root, Date?> {
    AVAsyncProperty(key: "dateValue") { $0.dateValue }
  }
  public static var dataValue: AVAsyncProperty<Root, Data?> {
    AVAsyncProperty(key: "dataValue") { $0.dataValue }
  }
}

extension AVAsset {
  /// The common facts that the file tells: title, author, creation date ...
  public var commonMetadata: [AVMetadataItem] { MetadataNames.items(file.factsIfReadable?.metadata ?? [:]) }
  /// All that is known, which is the common metadata.
  public var metadata: [AVMetadataItem] { commonMetadata }
  /// When the movie was made, if the file says.
  public var creationDate: AVMetadataItem? {
    commonMetadata.first { $0.identifier == .commonIdentifierCreationDate }
  }
  /// The words of a song, if the file holds them.
  public var lyrics: String? { file.factsIfReadable?.metadata["lyrics"] }
}
