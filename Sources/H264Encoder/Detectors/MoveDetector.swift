// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Finds what has moved by any distance and is otherwise as it was: windows that are dragged, panes and pages that scroll,
/// in any direction.
///
/// Screens repeat themselves exactly, so the source is compared with the last source. Places that their own samples
/// single out (a hash of eight samples in a row, with detail to the right and below) are kept by a hash of a
/// block; where the picture has changed such places are looked up, compared sample by sample, and vote for their distance.
/// Only pictures of screens are looked at so: of what changes in them much is flat, and much does not change at all, which
/// is seldom so before a camera.
struct MoveDetector {
  /// The last picture looked at. Rows are `width` bytes.
  private let last: UnsafeMutablePointer<UInt8>
  /// Places in the last picture or an older one, by the hash of what is there: x + y * width, plus 1; 0: none.
  private let places: UnsafeMutablePointer<UInt32>
  /// Macroblocks that differ from the last picture, 1 each.
  private let changed: UnsafeMutablePointer<UInt8>
  private let votes: UnsafeMutablePointer<Vote>
  private let state: UnsafeMutablePointer<State>
  private let repeats: RepeatTable
  private let width: Int
  private let height: Int

  private struct Vote {
    var x: Int32
    var y: Int32
    var count: Int32
  }

  private struct State {
    /// `H264FrameFacts.index` of the picture in `last`, plus 1; 0: none.
    var index: UInt64 = 0
    /// How many pictures in a row, of those that were compared with the last one, had changed everywhere.
    var natural = 0
    /// The same with next to nothing flat in them.
    var detailed = 0
    /// How many pictures in a row, of those that were compared with the last one, were no screen's though part of them
    /// had changed.
    var unlike = 0
  }

  /// Entries of `places` and `votes`: powers of two.
  private static let placesBits = 15
  private static let votesBits = 10
  /// One place in so many is kept, of those with detail.
  private static let sparsenessBits = 4
  /// Rows of the last picture of which places are kept.
  private static let rowStep = 4
  /// Macroblocks in which places are looked up at most.
  private static let mostLookedUp = 320
  /// Size of what must be equal.
  private static let block = (width: 16, height: 4)
  /// Macroblocks that must differ for anything to have moved; less is a cursor.
  private static let leastChange = 4
  /// After so many pictures of a camera two in so many are looked at.
  private static let natural = (pictures: 4, period: UInt64(16))
  /// After so many that are no screen's, though not all of each has changed, the same.
  private static let unlike = 8
  /// Of what is like a movie, one picture in so many is looked at for a scroll.
  private static let scrollPeriod: UInt64 = 4
  /// What of a picture, or of what has changed in it, is flat on a screen, in 256ths: if nothing is as it was, if most is not,
  /// and if half of the picture is. With less than the last a camera's.
  private static let flatness = (new: 128, moving: 85, still: 21, natural: 32)
  /// Votes that a distance needs.
  private static let leastVotes: Int32 = 6

  init(_ geometry: PictureGeometry, memory: inout EncoderMemory) {
    width = geometry.width
    height = geometry.height
    last = memory.allocate(UInt8.self, count: width * height)
    places = memory.allocate(UInt32.self, count: 1 << MoveDetector.placesBits)
    changed = memory.allocate(UInt8.self, count: (width / 16) * (height / 16))
    votes = memory.allocate(Vote.self, count: 1 << MoveDetector.votesBits)
    state = memory.allocate(State())
    repeats = RepeatTable(geometry, memory: &memory)
  }

  /// What has moved since the last picture.
  ///
  /// - Parameters:
  ///   - index: `H264FrameFacts.index` of the picture.
  ///   - isSceneChange: another scene begins: what the pictures before it were tells nothing.
  ///   - refersToLast: the picture refers to the last one, so that it matters.
  ///   - limit: the furthest that a vector may point up and down.
  func moves(
    _ source: SourcePicture, index: UInt64, isSceneChange: Bool = false, refersToLast: Bool, limit: Int
  ) -> Moves {
    // Smaller pictures show no windows.
    guard width >= 64, height >= 64 else { return Moves() }
    if isSceneChange { forget() }
    let follows = state.pointee.index == index && index > 0
    if !follows && (isNatural || isUnlike) && index % MoveDetector.natural.period != 0 { return Moves() }
    state.pointee.index = index &+ 1
    let columns = width / 16
    let rows = height / 16
    var differing = 0
    for y in 0..<rows {
      for x in 0..<columns {
        let isChanged = !follows || differs(source, x &* 16, y &* 16)
        changed[y &* columns &+ x] = isChanged ? 1 : 0
        if isChanged { differing &+= 1 }
      }
    }
    if differing == 0 {
      forget()
      return Moves()
    }
    var moves = Moves()
    let isNew = !follows || differing &* 32 >= columns &* rows &* 31
    let flat = flatness(source, differing)
    let least = MoveDetector.flatness
    moves.isScreen =
      flat >= (isNew ? least.new : differing &* 2 > columns &* rows ? least.moving : least.still)
    if isNew && !moves.isScreen {
      // No screen, or one that shows nothing but a movie.
      let isDetailed = flat < least.natural
      // What is full of detail may be a map that stands still: the next picture tells.
      if follows {
        state.pointee.natural &+= 1
        state.pointee.detailed = isDetailed ? state.pointee.detailed &+ 1 : 0
      }
      if follows && (isDetailed || isNatural) {
        state.pointee.index = 0
      } else {
        store(source, keepsPlaces: false)
      }
      return moves
    }
    (state.pointee.natural, state.pointee.detailed) = (0, 0)
    if moves.isScreen {
      state.pointee.unlike = 0
    } else if follows && differing &* 8 >= columns &* rows {
      state.pointee.unlike &+= 1
      if isUnlike {
        state.pointee.index = 0
        return moves
      }
    }
    if follows && refersToLast && moves.isScreen {
      if differing >= MoveDetector.leastChange {
        find(source, differing, limit, &moves)
        repeats.add(last)
      }
      moves.repeats = UnsafePointer(repeats.places)
    }
    store(source, keepsPlaces: moves.isScreen)
    return moves
  }

  @inline(__always) private func differs(_ source: SourcePicture, _ x: Int, _ y: Int) -> Bool {
    var a = UnsafeRawPointer(source.luma + (y &* source.lumaBytesPerRow &+ x))
    var b = UnsafeRawPointer(last + (y &* width &+ x))
    for _ in 0..<16 {
      let d =
        a.loadUnaligned(as: UInt64.self) ^ b.loadUnaligned(as: UInt64.self)
        | (a.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
          ^ b.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      if d != 0 { return true }
      a += source.lumaBytesPerRow
      b += width
    }
    return false
  }

  private func forget() {
    (state.pointee.natural, state.pointee.detailed, state.pointee.unlike) = (0, 0, 0)
  }

  private var isUnlike: Bool { state.pointee.unlike >= MoveDetector.unlike }

  private var isNatural: Bool { state.pointee.natural >= MoveDetector.natural.pictures }

  /// Whether a picture may be a document that scrolls: not where everything changes from picture to picture and next to nothing is flat,
  /// as before a camera. What else is like a movie is asked now and then.
  func mayScroll(index: UInt64) -> Bool {
    if state.pointee.detailed >= MoveDetector.natural.pictures { return false }
    return !(isNatural || isUnlike) || index % MoveDetector.scrollPeriod == 0
  }

  /// How much of what has changed is flat, in 256ths, by one row in four.
  private func flatness(_ source: SourcePicture, _ differing: Int) -> Int {
    let columns = width / 16
    let every = (differing &+ MoveDetector.mostLookedUp &- 1) / MoveDetector.mostLookedUp
    var number = 0
    var flat = 0
    var all = 0
    for m in 0..<columns &* (height / 16) where changed[m] != 0 {
      number &+= 1
      if number % every != 0 { continue }
      let p = UnsafeRawPointer(
        source.luma + (m / columns &* 16 &* source.lumaBytesPerRow &+ m % columns &* 16))
      var y = m & 3
      while y < 16 {
        let a = (p + y &* source.lumaBytesPerRow).loadUnaligned(as: UInt64.self)
        let b = (p + (y &* source.lumaBytesPerRow &+ 8)).loadUnaligned(as: UInt64.self)
        if a == a >> 8 | a << 56 { flat &+= 1 }
        if b == b >> 8 | b << 56 { flat &+= 1 }
        y &+= 4
      }
      all &+= 8
    }
    return flat &* 256 / max(all, 1)
  }

  /// Whether the place is one that is kept, by its own samples.
  @inline(__always) private func isKept(_ p: UnsafeRawPointer, _ stride: Int) -> Bool {
    let v = p.loadUnaligned(as: UInt64.self)
    // Flat to the right.
    if v == v >> 8 | v << 56 { return false }
    if (v &* 0x9E37_79B9_7F4A_7C15) >> UInt64(64 &- MoveDetector.sparsenessBits) != 0 { return false }
    // The same below: an edge that could be anywhere along itself.
    return v != (p + (MoveDetector.block.height &- 1) &* stride).loadUnaligned(as: UInt64.self)
  }

  /// Where the block at a place is in `places`.
  @inline(__always) private func slot(_ p: UnsafeRawPointer, _ stride: Int) -> Int {
    var h: UInt64 = 0
    var row = p
    for _ in 0..<MoveDetector.block.height {
      h = (h ^ row.loadUnaligned(as: UInt64.self)) &* 0x9E37_79B9_7F4A_7C15
      h ^= h >> 32
      h = (h ^ row.loadUnaligned(fromByteOffset: 8, as: UInt64.self)) &* 0xC2B2_AE3D_27D4_EB4F
      h ^= h >> 29
      row += stride
    }
    return Int(truncatingIfNeeded: h >> UInt64(64 &- MoveDetector.placesBits))
  }

  /// Keeps what has changed, and places in it.
  private func store(_ source: SourcePicture, keepsPlaces: Bool) {
    let columns = width / 16
    let endX = width &- MoveDetector.block.width
    let endY = height &- MoveDetector.block.height
    for my in 0..<height / 16 {
      for mx in 0..<columns where changed[my &* columns &+ mx] != 0 {
        let x0 = mx &* 16
        var y = my &* 16
        while y < my &* 16 &+ 16 {
          memcpy(last + (y &* width &+ x0), source.luma + (y &* source.lumaBytesPerRow &+ x0), 16)
          y &+= 1
        }
        if !keepsPlaces { continue }
        y = my &* 16
        while y < my &* 16 &+ 16 && y <= endY {
          let row = UnsafeRawPointer(source.luma + y &* source.lumaBytesPerRow)
          for x in x0..<min(x0 &+ 16, endX &+ 1) where isKept(row + x, source.lumaBytesPerRow) {
            places[slot(row + x, source.lumaBytesPerRow)] = UInt32(truncatingIfNeeded: y &* width &+ x &+ 1)
          }
          y &+= MoveDetector.rowStep
        }
      }
    }
  }

  @inline(__always) private func equals(_ a: UnsafeRawPointer, _ stride: Int, _ b: UnsafeRawPointer) -> Bool {
    var (a, b) = (a, b)
    for _ in 0..<MoveDetector.block.height {
      if a.loadUnaligned(as: UInt64.self) != b.loadUnaligned(as: UInt64.self)
        || a.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
          != b.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
      {
        return false
      }
      a += stride
      b += width
    }
    return true
  }

  /// Looks up places of what has changed, and counts their distances.
  private func find(_ source: SourcePicture, _ differing: Int, _ limit: Int, _ moves: inout Moves) {
    let columns = width / 16
    let stride = source.lumaBytesPerRow
    let endX = width &- MoveDetector.block.width
    let endY = height &- MoveDetector.block.height
    let furthest = (x: Int32(2000), y: Int32(limit))
    votes.update(repeating: Vote(x: 0, y: 0, count: 0), count: 1 << MoveDetector.votesBits)
    let every = (differing &+ MoveDetector.mostLookedUp &- 1) / MoveDetector.mostLookedUp
    var number = 0
    var lookedUp: Int32 = 0
    var total: Int32 = 0
    for m in 0..<columns &* (height / 16) where changed[m] != 0 {
      number &+= 1
      if number % every != 0 { continue }
      let x0 = m % columns &* 16
      let y0 = m / columns &* 16
      for y in y0..<min(y0 &+ 16, endY &+ 1) {
        let row = UnsafeRawPointer(source.luma + y &* stride)
        for x in x0..<min(x0 &+ 16, endX &+ 1) where isKept(row + x, stride) {
          lookedUp &+= 1
          let place = Int(places[slot(row + x, stride)]) &- 1
          if place < 0 || !equals(row + x, stride, last + place) { continue }
          let dx = Int32(truncatingIfNeeded: place % width &- x)
          let dy = Int32(truncatingIfNeeded: place / width &- y)
          if dx == 0 && dy == 0 || abs(dx) > furthest.x || abs(dy) > furthest.y { continue }
          total &+= 1
          vote(dx, dy)
        }
      }
    }
    var most: Int32 = 0
    let least = max(MoveDetector.leastVotes, total / 24)
    while moves.count < Moves.limit {
      var best = 0
      for i in 0..<1 << MoveDetector.votesBits where votes[i].count > votes[best].count { best = i }
      let vote = votes[best]
      if vote.count < least { break }
      moves.append(x: Int(vote.x), y: Int(vote.y))
      most &+= vote.count
      votes[best].count = 0
    }
    // Of places that are looked up, those of one row in so many are kept.
    moves.explainMost = most &* Int32(MoveDetector.rowStep) &* 2 >= lookedUp
  }

  @inline(__always) private func vote(_ x: Int32, _ y: Int32) {
    let h = UInt32(bitPattern: x &* 73_856_093 ^ y &* 19_349_663) &* 2_654_435_769
    var i = Int(h >> UInt32(32 &- MoveDetector.votesBits))
    for _ in 0..<4 {
      if votes[i].count == 0 {
        votes[i] = Vote(x: x, y: y, count: 1)
        return
      }
      if votes[i].x == x && votes[i].y == y {
        votes[i].count &+= 1
        return
      }
      i = (i &+ 1) & (1 << MoveDetector.votesBits &- 1)
    }
  }
}
