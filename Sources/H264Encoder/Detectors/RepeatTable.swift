// SPDX-License-Identifier: Apache-2.0
/// Where 8x8 blocks of the last source picture are, by a hash of their samples: letters that a screen has shown before
/// need a vector only, from wherever they were.
///
/// A part of the rows is taken down with each picture, in turn. Nothing here has to be right: whoever looks a block
/// up compares it with the reference.
struct RepeatTable {
  /// x + y * width of a block, plus 1; 0: none.
  let places: UnsafeMutablePointer<UInt32>
  /// Hashes of the blocks that end in the row at hand.
  private let hashes: UnsafeMutablePointer<UInt64>
  /// The row to go on with.
  private let next: UnsafeMutablePointer<Int>
  private let width: Int
  private let height: Int

  /// Entries: a power of two.
  static let bits = 16
  /// The part of the rows that is taken down with a picture.
  private static let part = 6

  init(_ geometry: PictureGeometry, memory: inout EncoderMemory) {
    width = geometry.width
    height = geometry.height
    places = memory.allocate(UInt32.self, count: 1 << RepeatTable.bits)
    hashes = memory.allocate(UInt64.self, count: geometry.width)
    next = memory.allocate(0)
  }

  /// A hash of eight samples.
  @inline(__always) static func hash(_ samples: UInt64) -> UInt64 {
    let h = samples &* 0x9E37_79B9_7F4A_7C15
    return h ^ h >> 32
  }

  /// The entry for a block, by the hashes of its rows, each above shifted by 8 bits: what is further above drops out.
  @inline(__always) static func slot(_ rows: UInt64) -> Int {
    Int(truncatingIfNeeded: (rows &* 0xC2B2_AE3D_27D4_EB4F) >> UInt64(64 &- bits))
  }

  /// Takes down the next rows of a picture, `width` bytes each.
  func add(_ picture: UnsafePointer<UInt8>) {
    let band = min(max(height / RepeatTable.part, 16), height &- 8)
    let from = next.pointee
    let to = min(from &+ band, height &- 7)
    next.pointee = to >= height &- 7 ? 0 : to
    let count = width &- 7
    for y in from..<to &+ 7 {
      let row = UnsafeRawPointer(picture + y &* width)
      let isWhole = y &- from >= 7
      // Rows that would be in the middle of a block.
      let middle = UnsafeRawPointer(picture + max(y &- 4, 0) &* width)
      let first = (y &- 7) &* width &+ 1
      for x in 0..<count {
        let h = hashes[x] << 8 &+ RepeatTable.hash((row + x).loadUnaligned(as: UInt64.self))
        hashes[x] = h
        guard isWhole else { continue }
        let v = (middle + x).loadUnaligned(as: UInt64.self)
        // Nearly flat: found without.
        if v == v >> 8 | v << 56 { continue }
        places[RepeatTable.slot(h)] = UInt32(truncatingIfNeeded: first &+ x)
      }
    }
  }
}

extension MacroblockCoder {
  /// On screens, blocks that were shown before are looked up where a vector costs more than so many lambda.
  static let repeatThreshold: Int32 = 24

  /// Vectors of the macroblock's 8x8 blocks that the screen has shown before; valid after `findRepeats`.
  private var repeats: UnsafeMutablePointer<MotionVector> {
    mutating get {
      scratch.repeatVectors
    }
  }

  /// Looks up the 8x8 blocks of the macroblock. Returns a bit for each that was found.
  mutating func findRepeats() -> UInt8 {
    guard let places = picture.moves.repeats else { return 0 }
    let repeats = repeats
    var found: UInt8 = 0
    for i in 0..<4 {
      let x = (i & 1) &* 8
      let y = (i >> 1) &* 8
      var h: UInt64 = 0
      var row = UnsafeRawPointer(source + (y &* 16 &+ x))
      for _ in 0..<8 {
        h = h << 8 &+ RepeatTable.hash(row.loadUnaligned(as: UInt64.self))
        row += 16
      }
      let place = Int(places[RepeatTable.slot(h)]) &- 1
      if place < 0 { continue }
      let dx = (place % stream.geometry.width &- mbX &* 16 &- x) &* 4
      let dy = (place / stream.geometry.width &- mbY &* 16 &- y) &* 4
      // Components are of -2048 to 2047.75 (A.3.1).
      if dx < max(minX, -8000) || dx > min(maxX, 8000) || dy < minY || dy > maxY { continue }
      repeats[i] = MotionVector(Int16(truncatingIfNeeded: dx), Int16(truncatingIfNeeded: dy))
      found |= 1 << UInt8(i)
    }
    return found
  }

  /// Where 8x8 block `i` was found.
  @inline(__always) mutating func repeatVector(_ i: Int) -> MotionVector { repeats[i] }
}
