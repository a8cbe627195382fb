// SPDX-License-Identifier: Apache-2.0

/// The statistics of a pass, read from a file as they are needed: hours of pictures take no more
/// memory than seconds. An instance may be used by one thread at a time.
public struct StoredPass {
  /// Reads `count` bytes of the file from `offset` on. It returns fewer bytes, or nil, if they
  /// cannot be read or have changed.
  public typealias Read = (_ offset: Int, _ count: Int) -> [UInt8]?

  /// The width of the pictures, in luma samples.
  public let width: Int
  /// The height of the pictures, in luma samples.
  public let height: Int
  /// The number of pictures.
  public private(set) var count = 0
  /// The sum of the durations of the pictures, in seconds.
  public private(set) var seconds = 0.0
  /// Whether a read failed after the initialiser succeeded. An encoder continues as if the pass had
  /// ended there.
  public var hasFailed: Bool { state.hasFailed }

  /// The state that copies of the value share.
  private final class State {
    /// The value of `StoredPass.hasFailed`.
    var hasFailed = false
  }

  /// Reads bytes of the file.
  private let read: Read
  /// The state that all copies of the value share.
  private let state = State()
  /// The indices of the first and last wanted record of the file, counted in records.
  private var recordRange: Range<Int>
  /// The indices of the wanted pictures, in the order of input.
  private var wanted: Range<UInt64> = 0..<PassFormat.maxPictures

  /// Checks the whole file.
  /// - Parameters:
  ///   - size: the size of the file in bytes.
  ///   - frames: the indices of the wanted pictures, in the order of input; nil for all pictures.
  ///     Other pictures are treated as if they did not exist.
  ///   - read: reads from the file, which holds what `PassStatistics.bytes` returned. It is called
  ///     for the whole file by this initialiser, and again while an encoder that was given this
  ///     value encodes. If it fails then, the encoder continues, and `hasFailed` says so.
  /// - Throws: `VideoEncoderError.invalidConfiguration` if the file holds anything else.
  public init(size: Int, frames: Range<Int>? = nil, read: @escaping Read) throws {
    let head = read(0, PassFormat.headerSize) ?? []
    let header = try PassFormat.header(head, size: size)
    (width, height) = (header.width, header.height)
    recordRange = 0..<header.count
    self.read = read
    if let frames {
      wanted = (UInt64(max(frames.lowerBound, 0))..<UInt64(max(frames.upperBound, 0))).clamped(to: wanted)
    }
    var sum = PassFormat.Checksum()
    sum.add(head[..<PassFormat.headerSize])
    // A damaged file is reported as such, even if a record in it is out of range as well.
    var damage: (any Error)?
    var found = 0..<0
    var recordIndex = 0
    while recordIndex < header.count {
      let records = block(recordIndex)
      guard !records.isEmpty else { throw PassFormat.invalidStatistics("cannot be read") }
      sum.add(records[...])
      for at in stride(from: 0, to: records.count, by: PassFormat.pictureSize) where damage == nil {
        do {
          add(
            try PassFormat.picture(records[at..<at + PassFormat.pictureSize]),
            at: recordIndex + at / PassFormat.pictureSize, &found)
        } catch { damage = error }
      }
      recordIndex += records.count / PassFormat.pictureSize
    }
    guard let stored = read(size - PassFormat.checksumSize, PassFormat.checksumSize), stored == sum.bytes
    else {
      throw PassFormat.invalidStatistics("are damaged")
    }
    if let damage { throw damage }
    recordRange = found
  }

  /// Counts a picture if it is wanted, and extends the range of wanted records by it.
  private mutating func add(_ picture: PassStatistics.Picture, at recordIndex: Int, _ found: inout Range<Int>)
  {
    guard wanted.contains(picture.index) else { return }
    count += 1
    seconds += picture.duration
    found = (found.isEmpty ? recordIndex : found.lowerBound)..<recordIndex + 1
  }

  /// The wanted pictures of the next block of records that has some, with indices relative to the
  /// first wanted picture; empty at the end.
  fileprivate func next(_ recordIndex: inout Int) -> [PassStatistics.Picture] {
    while recordIndex < recordRange.upperBound, let all = pictures(at: recordIndex) {
      recordIndex += all.count
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

  /// The index of the first wanted record.
  fileprivate var firstRecord: Int { recordRange.lowerBound }

  /// The pictures of the block that begins with a record.
  /// - Parameter recordIndex: the index of the first record.
  /// - Returns: nil if they cannot be read, or if there are none.
  private func pictures(at recordIndex: Int) -> [PassStatistics.Picture]? {
    let records = block(recordIndex)
    let pictures = try? stride(from: 0, to: records.count, by: PassFormat.pictureSize).map {
      try PassFormat.picture(records[$0..<$0 + PassFormat.pictureSize])
    }
    guard let pictures, !pictures.isEmpty else {
      state.hasFailed = true
      return nil
    }
    return pictures
  }

  /// Reads up to `blockSize` complete records, from the one with the given index on; empty if not
  /// one of them can be read.
  private func block(_ recordIndex: Int) -> [UInt8] {
    let wanted = min(Self.blockSize, recordRange.upperBound - recordIndex) * PassFormat.pictureSize
    guard var bytes = read(PassFormat.headerSize + recordIndex * PassFormat.pictureSize, wanted) else {
      return []
    }
    let available = min(bytes.count, wanted)
    bytes.removeLast(bytes.count - available + available % PassFormat.pictureSize)
    return bytes
  }

  /// The number of records that are read at once.
  private static let blockSize = 256
}

/// Iterates over the pictures of a pass in decoding order.
package struct PassCursor {
  /// The pictures in memory: all of a pass, or a block of a file.
  private var block: [PassStatistics.Picture]
  /// The index of the next picture in `block`.
  private var at = 0
  /// The file; nil where all pictures are in memory.
  private let stored: StoredPass?
  /// The index of the record after `block` in the file.
  private var recordIndex = 0

  /// Iterates over statistics in memory.
  package init(_ statistics: PassStatistics) {
    block = statistics.pictures
    stored = nil
  }

  /// Iterates over statistics in a file.
  package init(_ stored: StoredPass) {
    block = []
    self.stored = stored
    recordIndex = stored.firstRecord
  }

  /// The next picture.
  /// - Returns: nil at the end, and where the file cannot be read any more.
  package mutating func next() -> PassStatistics.Picture? {
    if at >= block.count {
      guard let stored else { return nil }
      block = stored.next(&recordIndex)
      at = 0
      guard !block.isEmpty else { return nil }
    }
    defer { at += 1 }
    return block[at]
  }
}

/// The statistics of the previous pass that an encoder is given, in memory or in a file.
package protocol PassSource {
  /// The width of the pictures, in luma samples.
  var width: Int { get }
  /// The height of the pictures, in luma samples.
  var height: Int { get }
  /// The number of pictures.
  var count: Int { get }
  /// The sum of the durations of the pictures, in seconds.
  var seconds: Double { get }
  /// An iterator that begins with the first picture.
  func cursor() -> PassCursor
}

extension PassStatistics: PassSource {
  package func cursor() -> PassCursor { PassCursor(self) }
}

extension StoredPass: PassSource {
  package func cursor() -> PassCursor { PassCursor(self) }
}
