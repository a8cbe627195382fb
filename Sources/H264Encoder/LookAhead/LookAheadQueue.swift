// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Pictures between input and coding: each is copied, looked at when it comes, and given a kind.
final class LookAheadQueue {
  let geometry: PictureGeometry
  let memory: EncoderMemory
  let analysis: LookAheadPreAnalysis
  let macroblockTree: MacroblockTree
  /// Nil where nothing is weighted.
  let fades: LowResolutionFades?
  /// In the order of input, the next to be coded first.
  var pictures: [QueuedPicture] = []
  /// Pictures whose order of coding is settled, the next first. They precede the others.
  var settled: [QueuedPicture] = []
  private var spare: [QueuedPicture] = []
  /// The last picture that was settled and is not a B picture, which B pictures to come refer to.
  var anchor: QueuedPicture?
  /// The newest picture and the one before it: they may be coded already.
  var newest: QueuedPicture?
  private var nextIndex: UInt64 = 0
  var time = 0.0
  var shown = 0.0
  /// Seconds that the last pictures are shown, by index, as far as pictures can wait.
  private var intervals = [Double](repeating: 0, count: 512)
  /// Pictures from the last one that was coded as a key frame, and when that was; none yet: nil.
  var sinceKey: Int?
  var keyTime = 0.0

  /// Part of the cost of intra prediction that inter prediction takes at least where a new scene begins, right after
  /// a key frame and later.
  static let cut = (early: 0.92, late: 0.82)
  /// Part of what inter prediction saved in the picture before that it saves at most where a new scene begins.
  static let cutSaving = 0.4
  /// Pictures from key frame to key frame if nothing is said.
  static let usualInterval = 250
  /// Part of the cost of intra prediction from which on a picture is too far from the last P picture.
  static let farthest = 0.85
  /// Pictures that are too close to a key frame for another one at a cut to be worth less than the picture before.
  static let early = 10

  init(_ geometry: PictureGeometry, analysis: LookAheadPreAnalysis, weighs: Bool) {
    self.geometry = geometry
    self.analysis = analysis
    var memory = EncoderMemory()
    fades = weighs ? LowResolutionFades(geometry, memory: &memory) : nil
    self.memory = memory
    macroblockTree = MacroblockTree(geometry)
  }

  var count: Int { pictures.count + settled.count + (unseen == nil ? 0 : 1) }

  /// Takes a picture in; `look` looks at it, and reads its memory.
  /// - Returns: seconds by which the picture before was shown longer than it was thought to be when it was coded.
  func append(
    _ source: SourcePicture, options: H264FrameOptions, configuration: H264EncoderConfiguration
  ) -> Double {
    let usual = 1 / configuration.frameRate
    let picture = spare.popLast() ?? QueuedPicture(geometry)
    let before = newest
    // A long pause is no reason for a frame that takes as long to send.
    let passed = options.duration ?? usual
    let paced = min(max(passed, 1e-4), max(1, 3 * usual))
    var correction = 0.0
    if let before {
      if coded.contains(ObjectIdentifier(before)) { correction = paced - before.duration }
      before.duration = paced
      shown += paced
      intervals[Int(before.index & 511)] = paced
      // Key frames go by the time that it is.
      time += passed
    }
    picture.index = nextIndex
    nextIndex += 1
    picture.time = time
    picture.shown = shown
    // Until the next one comes: bits that are not there yet are not counted on.
    picture.duration = min(paced, usual)
    intervals[Int(picture.index & 511)] = picture.duration
    picture.options = options
    picture.isCut = false
    picture.kind = .predicted
    picture.plannedRun = 0
    picture.isInside = nil
    picture.hasCosts = false
    unseen = (picture, source)
    return correction
  }

  /// The newest picture, before it is looked at, and what is to be copied.
  private var unseen: (picture: QueuedPicture, source: SourcePicture)?

  /// Looks at the picture that was taken in last.
  func analyse(_ configuration: H264EncoderConfiguration) {
    guard let (picture, source) = unseen else { return }
    unseen = nil
    let before = newest
    analysis.analyse(picture, source, strength: configuration.lookAhead.adaptiveQuantisation)
    fades?.read(picture)
    if let before {
      analysis.estimateMotion(picture, from: reference(before, of: picture))
    } else {
      picture.interCost = picture.intraCost
    }
    picture.takeResiduals(geometry.macroblockCount, hasInter: before != nil)
    if let before {
      picture.isCut = isCut(picture, after: before)
      // A flash: what follows it looks like what was before it.
      if before.isCut, let earlier = beforeNewest, isFlash(before, between: earlier, and: picture) {
        before.isCut = false
        picture.isCut = false
      }
    }
    pictures.append(picture)
    let old = beforeNewest
    beforeNewest = newest
    newest = picture
    if let old { release(old) }
  }

  /// What may be done while a picture is coded: the newest one is looked at, and the order of the next ones settled.
  func prepare(_ configuration: H264EncoderConfiguration, propagates: Bool) {
    analyse(configuration)
    if settled.isEmpty { settle(configuration, propagates: propagates) }
  }

  /// Seconds from the decode time of a frame to that of the next, and whether it is known yet.
  ///
  /// The frame is decoded when the one is shown that is `depth` frames before its place; the first ones as much earlier
  /// as it takes.
  func decodeInterval(place: UInt64, depth: Int) -> (seconds: Double, isKnown: Bool) {
    let index = place < UInt64(depth) ? place : place - UInt64(depth)
    return (intervals[Int(index & 511)], index + 1 < nextIndex)
  }

  private var beforeNewest: QueuedPicture?
  /// Coded, but still looked at by what comes.
  var coded: Set<ObjectIdentifier> = []

  /// Pictures from one that is not a B picture to the next, of late.
  var typicalRun = 1.0
  /// Kept for its memory.
  var sequence: [QueuedPicture] = []

  /// Whether one of those up to this number waits.
  func holdsPicture(through index: UInt64) -> Bool {
    // None is unseen between the calls of the encoder.
    settled.contains { $0.index <= index } || pictures.first.map { $0.index <= index } ?? false
  }

  /// Pictures whose runs are planned.
  var planned = 0

  /// The first of the settled pictures, out of the queue: `recycle` takes it back when it is coded.
  func removeFirst() -> QueuedPicture { settled.removeFirst() }

  func recycle(_ picture: QueuedPicture) {
    coded.insert(ObjectIdentifier(picture))
    release(picture)
  }

  /// Gives a coded picture's memory to pictures to come, unless something still looks at it.
  func release(_ picture: QueuedPicture) {
    if picture === newest || picture === beforeNewest || picture === anchor { return }
    if coded.remove(ObjectIdentifier(picture)) != nil { spare.append(picture) }
  }

  /// What comes next begins with a key frame.
  func restart() { sinceKey = nil }
}
