// SPDX-License-Identifier: Apache-2.0

/// What a pass has learned, where it stays in a file: pictures are read as they are needed, so that hours of them take no
/// more memory than seconds. For one thread at a time.
public struct StoredPass {
  /// Bytes of the file: how many from which offset on. Fewer than that, or nil, if they cannot be read, or are not what they
  /// were.
  public typealias Read = (_ offset: Int, _ count: Int) -> [UInt8]?

  /// Of the pictures, in luma samples.
  public let width: Int
  public let height: Int
  /// Pictures.
  public private(set) var count = 0
  /// Seconds that they are shown.
  public private(set) var seconds = 0.0
  /// Something could not be read after all. An encoder goes on as if the pass had ended there.
  public var hasFailed: Bool { state.hasFailed }

  private final class State {
    var hasFailed = false
  }

  private let read: Read
  private let state = State()
  /// Places of the records in the file.
  private var places: Range<Int>
  /// Numbers of the pictures, of those in the file.
  private var wanted: Range<UInt64> = 0..<PassFormat.mostPictures

  /// - Parameters:
  ///   - size: of the file, in bytes.
  ///   - frames: numbers of the pictures that are wanted, in the order of input; nil for all. It is as if there were no others.
  ///   - read: reads from the file, which holds what `PassStatistics.bytes` gave. It is called now, for all of the file, and while
  ///     an encoder that was given this encodes; if it fails then, the encoder goes on, and `hasFailed` says so.
  /// - Throws: `H264EncoderError.invalidConfiguration` if the file holds something else.
  public init(size: Int, frames: Range<Int>? = nil, read: @escaping Read) throws {
    let head = read(0, PassFormat.headerSize) ?? []
    let header = try PassFormat.header(head, size: size)
    (width, height) = (header.width, header.height)
    places = 0..<header.count
    self.read = read
    if let frames {
      wanted = (UInt64(max(frames.lowerBound, 0))..<UInt64(max(frames.upperBound, 0))).clamped(to: wanted)
    }
    var sum = PassFormat.Checksum()
    sum.add(head[..<PassFormat.headerSize])
    // A damaged file is told from one that nobody's encoder writes.
    var damage: (any Error)?
    var found = 0..<0
    var place = 0
    while place < header.count {
      let records = block(place)
      guard !records.isEmpty else { throw PassFormat.refusal("cannot be read") }
      sum.add(records[...])
      for at in stride(from: 0, to: records.count, by: PassFormat.pictureSize) where damage == nil {
        do {
          note(
            try PassFormat.picture(records[at..<at + PassFormat.pictureSize]),
            at: place + at / PassFormat.pictureSize, &found)
        } catch { damage = error }
      }
      place += records.count / PassFormat.pictureSize
    }
    guard let stored = read(size - PassFormat.checksumSize, PassFormat.checksumSize), stored == sum.bytes
    else {
      throw PassFormat.refusal("are damaged")
    }
    if let damage { throw damage }
    places = found
  }

  private mutating func note(_ picture: PassStatistics.Picture, at place: Int, _ found: inout Range<Int>) {
    guard wanted.contains(picture.index) else { return }
    count += 1
    seconds += picture.duration
    found = (found.isEmpty ? place : found.lowerBound)..<place + 1
  }

  /// Those of the next block that are wanted, with the numbers that they have in the part; none at the end.
  fileprivate func next(_ place: inout Int) -> [PassStatistics.Picture] {
    while place < places.upperBound, let all = pictures(at: place) {
      place += all.count
      let own = all.filter { wanted.contains($0.index) }
      guard !own.isEmpty else { continue }
      return own.map {
        var picture = $0
        picture.index -= wanted.lowerBound
        return picture
      }
    }
    return []
  }

  fileprivate var firstPlace: Int { places.lowerBound }

  /// - Returns: nil if they cannot be read, or are none.
  private func pictures(at place: Int) -> [PassStatistics.Picture]? {
    let records = block(place)
    let pictures = try? stride(from: 0, to: records.count, by: PassFormat.pictureSize).map {
      try PassFormat.picture(records[$0..<$0 + PassFormat.pictureSize])
    }
    guard let pictures, !pictures.isEmpty else {
      state.hasFailed = true
      return nil
    }
    return pictures
  }

  /// Whole records from one on; none if there is none whole.
  private func block(_ place: Int) -> [UInt8] {
    let wanted = min(Self.blockSize, places.upperBound - place) * PassFormat.pictureSize
    guard var bytes = read(PassFormat.headerSize + place * PassFormat.pictureSize, wanted) else { return [] }
    let whole = min(bytes.count, wanted)
    bytes.removeLast(bytes.count - whole + whole % PassFormat.pictureSize)
    return bytes
  }

  /// Pictures.
  private static let blockSize = 256
}

/// Goes through the pictures of a pass in decoding order.
struct PassCursor {
  private var block: [PassStatistics.Picture]
  /// In `block`.
  private var at = 0
  private let stored: StoredPass?
  /// In the file.
  private var place = 0

  init(_ statistics: PassStatistics) {
    block = statistics.pictures
    stored = nil
  }

  init(_ stored: StoredPass) {
    block = []
    self.stored = stored
    place = stored.firstPlace
  }

  /// - Returns: nil at the end, and where a file cannot be read any more.
  mutating func next() -> PassStatistics.Picture? {
    if at >= block.count {
      guard let stored else { return nil }
      block = stored.next(&place)
      at = 0
      guard !block.isEmpty else { return nil }
    }
    defer { at += 1 }
    return block[at]
  }
}

/// What an encoder knows of the pass before, in memory or in a file.
protocol PassSource {
  var width: Int { get }
  var height: Int { get }
  var count: Int { get }
  var seconds: Double { get }
  /// From the first picture on.
  func cursor() -> PassCursor
}

extension PassStatistics: PassSource {
  func cursor() -> PassCursor { PassCursor(self) }
}

extension StoredPass: PassSource {
  func cursor() -> PassCursor { PassCursor(self) }
}
