// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Finds the displacements of content on a screen that has moved by any distance and is otherwise
/// unchanged: windows that are dragged, panes and pages that scroll in any direction.
///
/// Screen content repeats exactly, so the source picture is compared with the previous source
/// picture. A hash table holds the positions of distinctive blocks of 16x4 luma samples. Positions
/// are chosen by their own samples (a hash of eight samples in a row, with detail to the right and
/// below), so that the same content chooses the same positions wherever it is. Where the picture
/// has changed, the blocks at such positions are looked up in the table, compared sample by sample,
/// and each match votes for its displacement.
///
/// Only screen content is searched so. It is recognised by its flat areas and by macroblocks that
/// do not change at all, both of which are rare in a camera's pictures.
package struct DisplacementDetector {
  /// Luma of the last picture that was analysed, in rows of `width` bytes.
  private let last: UnsafeMutablePointer<UInt8>
  /// Hash table of block positions in the last picture or an older one: x + y * width + 1; 0 where
  /// an entry is empty.
  private let positions: UnsafeMutablePointer<UInt32>
  /// For each macroblock, 1 if it differs from the last picture, else 0.
  private let changed: UnsafeMutablePointer<UInt8>
  /// Hash table of displacements and their numbers of votes.
  private let votes: UnsafeMutablePointer<Vote>
  /// The history of the previous pictures.
  private let state: UnsafeMutablePointer<State>
  /// The positions of 8x8 blocks of the last picture.
  private let repeats: BlockPositionTable
  /// The width of the luma plane in samples.
  private let width: Int
  /// The height of the luma plane in samples.
  private let height: Int

  /// A displacement in luma samples, from where content is to where it was, and the number of
  /// matches that have it.
  private struct Vote {
    var x: Int32
    var y: Int32
    var count: Int32
  }

  /// The history of the previous pictures.
  private struct State {
    /// The the index in input order that the successor of the picture in `last` has; 0 if `last`
    /// holds no picture to compare with.
    var index: UInt64 = 0
    /// The number of consecutive pictures, of those that were compared with the one before, in
    /// which nearly every macroblock had changed and which were not recognised as screen content.
    var natural = 0
    /// The number of these, the latest ones, that had next to no flat areas (`flatness.natural`).
    var detailed = 0
    /// The number of consecutive pictures, of those that were compared with the one before, that
    /// were not recognised as screen content although only a part of them (an eighth or more) had
    /// changed.
    var unlike = 0
  }

  /// The base-2 logarithm of the number of entries of `positions`.
  private static let positionBits = 15
  /// The base-2 logarithm of the number of entries of `votes`.
  private static let votesBits = 10
  /// Of the positions with detail, one in 2^`sparsenessBits` is distinctive.
  private static let sparsenessBits = 4
  /// Positions in every `rowStep`-th row of the last picture are in the table.
  private static let rowStep = 4
  /// The largest number of macroblocks whose blocks are looked up, and whose flatness is measured.
  private static let maxLookups = 320
  /// Width and height, in luma samples, of the blocks that are compared.
  private static let block = (width: 16, height: 4)
  /// The least number of changed macroblocks for which displacements are searched; fewer are a
  /// cursor.
  private static let minChange = 4
  /// After `pictures` consecutive pictures of a camera (`State.natural`), two of every `period`
  /// pictures are analysed, so that they can be compared with each other.
  private static let natural = (pictures: 4, period: UInt64(16))
  /// After this number of consecutive pictures that are not screen content though only a part of
  /// each has changed (`State.unlike`), two of every `natural.period` pictures are analysed as
  /// well.
  private static let unlike = 8
  /// Of pictures like those of a movie, one in this number may be searched for a scroll
  /// (`mayScroll`).
  private static let scrollPeriod: UInt64 = 4
  /// Shares of flat segments of eight samples among the changed macroblocks, in 256ths. A picture
  /// is screen content from `new` on if nearly all macroblocks have changed, from `moving` on if
  /// more than half have, and from `still` on otherwise. Below `natural`, a picture that has
  /// changed everywhere is a camera's.
  private static let flatness = (new: 128, moving: 85, still: 21, natural: 32)
  /// The least number of votes for a displacement.
  private static let minVotes: Int32 = 6

  /// Allocates the tables.
  ///
  /// - Parameters:
  ///   - geometry: the pictures' size.
  ///   - memory: owns the tables.
  package init(_ geometry: PictureGeometry, memory: inout EncoderMemory) {
    width = geometry.width
    height = geometry.height
    last = memory.allocate(UInt8.self, count: width * height)
    positions = memory.allocate(UInt32.self, count: 1 << DisplacementDetector.positionBits)
    changed = memory.allocate(UInt8.self, count: (width / 16) * (height / 16))
    votes = memory.allocate(Vote.self, count: 1 << DisplacementDetector.votesBits)
    state = memory.allocate(State())
    repeats = BlockPositionTable(geometry, memory: &memory)
  }

  /// Finds the displacements of content since the previous picture.
  ///
  /// - Parameters:
  ///   - source: the picture.
  ///   - index: the index in input order of the picture.
  ///   - isSceneChange: a scene change has been detected, so that the classification of earlier
  ///     pictures does not apply.
  ///   - refersToLast: the picture may refer to the previous one. Displacements are searched only
  ///     then.
  ///   - limit: the largest vertical component, in luma samples, that the level allows.
  /// - Returns: the displacements, at most `Displacements.limit`, and whether the picture is screen
  ///   content.
  package func displacements(
    _ source: SourcePicture, index: UInt64, isSceneChange: Bool = false, refersToLast: Bool, limit: Int
  ) -> Displacements {
    // Smaller pictures show no windows.
    guard width >= 64, height >= 64 else { return Displacements() }
    if isSceneChange { forget() }
    let follows = state.pointee.index == index && index > 0
    if !follows && (isNatural || isUnlike) && index % DisplacementDetector.natural.period != 0 {
      return Displacements()
    }
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
      return Displacements()
    }
    var displacements = Displacements()
    let isNew = !follows || differing &* 32 >= columns &* rows &* 31
    let flat = flatness(source, differing)
    let least = DisplacementDetector.flatness
    displacements.isScreen =
      flat >= (isNew ? least.new : differing &* 2 > columns &* rows ? least.moving : least.still)
    // The picture is not screen content, or a screen that shows nothing but a movie.
    if isNew && !displacements.isScreen {
      // No screen, or one that shows nothing but a movie.
      let isDetailed = flat < least.natural
      // A picture full of detail may be a static map: only the comparison with the next
      // picture tells.
      if follows {
        state.pointee.natural &+= 1
        state.pointee.detailed = isDetailed ? state.pointee.detailed &+ 1 : 0
      }
      if follows && (isDetailed || isNatural) {
        state.pointee.index = 0
      } else {
        store(source, keepsPositions: false)
      }
      return displacements
    }
    (state.pointee.natural, state.pointee.detailed) = (0, 0)
    if displacements.isScreen {
      state.pointee.unlike = 0
    } else if follows && differing &* 8 >= columns &* rows {
      state.pointee.unlike &+= 1
      if isUnlike {
        state.pointee.index = 0
        return displacements
      }
    }
    if follows && refersToLast && displacements.isScreen {
      if differing >= DisplacementDetector.minChange {
        find(source, differing, limit, &displacements)
        repeats.add(last)
      }
      displacements.repeats = UnsafePointer(repeats.positions)
    }
    store(source, keepsPositions: displacements.isScreen)
    return displacements
  }

  /// Whether the 16x16 luma samples at (`x`, `y`) differ from the last picture's.
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

  /// Clears the classification of the pictures before.
  private func forget() {
    (state.pointee.natural, state.pointee.detailed, state.pointee.unlike) = (0, 0, 0)
  }

  /// Whether recent pictures have changed in parts and were not screen content.
  private var isUnlike: Bool { state.pointee.unlike >= DisplacementDetector.unlike }

  /// Whether recent pictures have changed everywhere, as a camera's do.
  private var isNatural: Bool { state.pointee.natural >= DisplacementDetector.natural.pictures }

  /// Whether a picture should be searched for a scroll (`ScrollDetector`).
  ///
  /// Pictures that change everywhere and have next to no flat areas, as a camera's, are not
  /// searched. Other pictures that resemble a movie are searched once in `scrollPeriod`, all others
  /// always.
  ///
  /// - Parameter index: the index in input order of the picture.
  /// - Returns: whether it is to be searched.
  package func mayScroll(index: UInt64) -> Bool {
    if state.pointee.detailed >= DisplacementDetector.natural.pictures { return false }
    return !(isNatural || isUnlike) || index % DisplacementDetector.scrollPeriod == 0
  }

  /// Measures how flat the changed macroblocks are: the share of segments of eight samples that are
  /// all equal, in every fourth row of up to `maxLookups` macroblocks.
  ///
  /// - Parameters:
  ///   - source: the picture.
  ///   - differing: the number of changed macroblocks.
  /// - Returns: the share in 256ths.
  private func flatness(_ source: SourcePicture, _ differing: Int) -> Int {
    let columns = width / 16
    let every = (differing &+ DisplacementDetector.maxLookups &- 1) / DisplacementDetector.maxLookups
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

  /// Whether the samples at an address make it a distinctive position, one that goes into the table
  /// and is looked up.
  ///
  /// - Parameters:
  ///   - p: the address of the position's first sample.
  ///   - stride: bytes from one row to the next.
  @inline(__always) private func isKept(_ p: UnsafeRawPointer, _ stride: Int) -> Bool {
    let v = p.loadUnaligned(as: UInt64.self)
    // The eight samples are all equal: there is no detail to the right.
    if v == v >> 8 | v << 56 { return false }
    if (v &* 0x9E37_79B9_7F4A_7C15) >> UInt64(64 &- DisplacementDetector.sparsenessBits) != 0 { return false }
    // The samples below are the same: on a vertical edge the position could be anywhere along it.
    return v != (p + (DisplacementDetector.block.height &- 1) &* stride).loadUnaligned(as: UInt64.self)
  }

  /// Hashes the block at an address.
  ///
  /// - Parameters:
  ///   - p: the address of the block's first sample.
  ///   - stride: bytes from one row to the next.
  /// - Returns: the block's index in `positions`.
  @inline(__always) private func slot(_ p: UnsafeRawPointer, _ stride: Int) -> Int {
    var h: UInt64 = 0
    var row = p
    for _ in 0..<DisplacementDetector.block.height {
      h = (h ^ row.loadUnaligned(as: UInt64.self)) &* 0x9E37_79B9_7F4A_7C15
      h ^= h >> 32
      h = (h ^ row.loadUnaligned(fromByteOffset: 8, as: UInt64.self)) &* 0xC2B2_AE3D_27D4_EB4F
      h ^= h >> 29
      row += stride
    }
    return Int(truncatingIfNeeded: h >> UInt64(64 &- DisplacementDetector.positionBits))
  }

  /// Copies the changed macroblocks to `last`, and enters their distinctive positions into the
  /// table.
  ///
  /// - Parameters:
  ///   - source: the picture.
  ///   - keepsPositions: whether positions are entered.
  private func store(_ source: SourcePicture, keepsPositions: Bool) {
    let columns = width / 16
    let endX = width &- DisplacementDetector.block.width
    let endY = height &- DisplacementDetector.block.height
    for my in 0..<height / 16 {
      for mx in 0..<columns where changed[my &* columns &+ mx] != 0 {
        let x0 = mx &* 16
        var y = my &* 16
        while y < my &* 16 &+ 16 {
          memcpy(last + (y &* width &+ x0), source.luma + (y &* source.lumaBytesPerRow &+ x0), 16)
          y &+= 1
        }
        if !keepsPositions { continue }
        y = my &* 16
        while y < my &* 16 &+ 16 && y <= endY {
          let row = UnsafeRawPointer(source.luma + y &* source.lumaBytesPerRow)
          for x in x0..<min(x0 &+ 16, endX &+ 1) where isKept(row + x, source.lumaBytesPerRow) {
            positions[slot(row + x, source.lumaBytesPerRow)] = UInt32(
              truncatingIfNeeded: y &* width &+ x &+ 1)
          }
          y &+= DisplacementDetector.rowStep
        }
      }
    }
  }

  /// Compares a block of the source, whose rows are `stride` bytes apart, with a block of the last
  /// picture.
  @inline(__always) private func equals(_ a: UnsafeRawPointer, _ stride: Int, _ b: UnsafeRawPointer) -> Bool {
    var (a, b) = (a, b)
    for _ in 0..<DisplacementDetector.block.height {
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

  /// Looks up the distinctive positions of changed macroblocks, counts the votes for their
  /// displacements, and takes the displacements with the most votes.
  ///
  /// - Parameters:
  ///   - source: the picture.
  ///   - differing: the number of changed macroblocks.
  ///   - limit: the largest vertical component in luma samples.
  ///   - displacements: receives the displacements.
  private func find(
    _ source: SourcePicture, _ differing: Int, _ limit: Int, _ displacements: inout Displacements
  ) {
    let columns = width / 16
    let stride = source.lumaBytesPerRow
    let endX = width &- DisplacementDetector.block.width
    let endY = height &- DisplacementDetector.block.height
    let furthest = (x: Int32(2000), y: Int32(limit))
    votes.update(repeating: Vote(x: 0, y: 0, count: 0), count: 1 << DisplacementDetector.votesBits)
    let every = (differing &+ DisplacementDetector.maxLookups &- 1) / DisplacementDetector.maxLookups
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
          let position = Int(positions[slot(row + x, stride)]) &- 1
          if position < 0 || !equals(row + x, stride, last + position) { continue }
          let dx = Int32(truncatingIfNeeded: position % width &- x)
          let dy = Int32(truncatingIfNeeded: position / width &- y)
          if dx == 0 && dy == 0 || abs(dx) > furthest.x || abs(dy) > furthest.y { continue }
          total &+= 1
          vote(dx, dy)
        }
      }
    }
    var maximum: Int32 = 0
    let least = max(DisplacementDetector.minVotes, total / 24)
    while displacements.count < Displacements.limit {
      var best = 0
      for i in 0..<1 << DisplacementDetector.votesBits where votes[i].count > votes[best].count { best = i }
      let vote = votes[best]
      if vote.count < least { break }
      displacements.append(x: Int(vote.x), y: Int(vote.y))
      maximum &+= vote.count
      votes[best].count = 0
    }
    // Only every `rowStep`-th row has its positions in the table, so that one in `rowStep` look-ups
    // can match: half of these is most of the content.
    displacements.explainMost = maximum &* Int32(DisplacementDetector.rowStep) &* 2 >= lookedUp
  }

  /// Adds a vote for a displacement, unless its four entries of the hash table are taken by others.
  @inline(__always) private func vote(_ x: Int32, _ y: Int32) {
    let h = UInt32(bitPattern: x &* 73_856_093 ^ y &* 19_349_663) &* 2_654_435_769
    var i = Int(h >> UInt32(32 &- DisplacementDetector.votesBits))
    for _ in 0..<4 {
      if votes[i].count == 0 {
        votes[i] = Vote(x: x, y: y, count: 1)
        return
      }
      if votes[i].x == x && votes[i].y == y {
        votes[i].count &+= 1
        return
      }
      i = (i &+ 1) & (1 << DisplacementDetector.votesBits &- 1)
    }
  }
}
