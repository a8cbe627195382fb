// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Pictures between input and coding: each is copied, looked at when it comes, and given a kind.
final class LookAheadQueue {
  private let geometry: PictureGeometry
  private let kernels: UnsafePointer<OVTKernels>
  private let memory: EncoderMemory
  private let analysis: HalfSizeAnalysis
  let propagation: QualityPropagation
  /// In the order of input, the next to be coded first.
  private(set) var pictures: [QueuedPicture] = []
  /// Pictures whose order of coding is settled, the next first. They precede the others.
  private(set) var settled: [QueuedPicture] = []
  private var spare: [QueuedPicture] = []
  /// The last picture that was settled and is not a B picture, which B pictures to come refer to.
  private var anchor: QueuedPicture?
  /// The newest picture and the one before it: they may be coded already.
  private var newest: QueuedPicture?
  private var nextIndex: UInt64 = 0
  private var time = 0.0
  private var shown = 0.0
  /// Seconds that the last pictures are shown, by index, as far as pictures can wait.
  private var intervals = [Double](repeating: 0, count: 512)
  /// Pictures from the last one that was coded as a key frame, and when that was; none yet: nil.
  private var sinceKey: Int?
  private var keyTime = 0.0

  /// Part of the cost of intra prediction that inter prediction takes at least where a new scene begins, right after
  /// a key frame and later.
  private static let cut = (early: 0.92, late: 0.82)
  /// Pictures from key frame to key frame if nothing is said.
  static let usualInterval = 250
  /// Pictures that are too close to a key frame for another one at a cut to be worth less than the picture before.
  private static let early = 10

  /// What a P picture costs that follows on another one, against the same residual with B pictures between: those are
  /// coded coarser, and in fewer bits.
  private static let alone = 1.15

  init(_ geometry: PictureGeometry, kernels: UnsafePointer<OVTKernels>) {
    self.geometry = geometry
    self.kernels = kernels
    var memory = EncoderMemory()
    analysis = HalfSizeAnalysis(geometry, kernels: kernels, memory: &memory)
    self.memory = memory
    propagation = QualityPropagation(geometry)
  }

  var count: Int { pictures.count + settled.count + (unseen == nil ? 0 : 1) }

  /// Takes a picture in; `look` looks at it.
  /// - Returns: seconds by which the picture before was shown longer than it was thought to be when it was coded.
  func append(
    _ source: SourcePicture, options: FrameOptions, configuration: LookAheadConfiguration
  ) -> Double {
    let usual = 1 / configuration.stream.frameRate
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
    picture.take(source)
    unseen = picture
    return correction
  }

  /// The newest picture, before it is looked at.
  private var unseen: QueuedPicture?

  /// Looks at the picture that was taken in last.
  func look(_ configuration: LookAheadConfiguration) {
    guard let picture = unseen else { return }
    unseen = nil
    let before = newest
    picture.half.fill(picture.source)
    analysis.intra(picture)
    LocalActivity.analyse(
      picture, geometry, kernels: kernels, strength: configuration.adaptiveQuantisation)
    if let before {
      analysis.inter(picture, from: before.half)
    } else {
      picture.interCost = picture.intraCost
    }
    picture.takeResiduals(geometry.macroblockCount, hasInter: before != nil)
    if let before {
      picture.isCut = isCut(picture)
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
  func prepare(_ configuration: LookAheadConfiguration, propagates: Bool) {
    look(configuration)
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
  private var coded: Set<ObjectIdentifier> = []

  /// Pictures from one that is not a B picture to the next, of late.
  private(set) var typicalRun = 1.0
  /// Kept for its memory.
  private var sequence: [QueuedPicture] = []

  /// Whether one of those up to this number waits.
  func holdsPicture(through index: UInt64) -> Bool {
    // None is unseen between the calls of the encoder.
    settled.contains { $0.index <= index } || pictures.first.map { $0.index <= index } ?? false
  }

  /// Settles the order of the next pictures, up to the next one that is not a B picture, and their offsets.
  func settle(_ configuration: LookAheadConfiguration, propagates: Bool) {
    assignKinds(configuration)
    guard settled.isEmpty, !pictures.isEmpty else { return }
    settleOrder(configuration)
    typicalRun += (Double(settled.count) - typicalRun) * 0.2
    if propagates, count > 1 {
      sequence.removeAll(keepingCapacity: true)
      sequence += settled
      sequence.sort { $0.index < $1.index }
      sequence += pictures
      propagation.run(sequence, finish: settled.count)
      sequence.removeAll(keepingCapacity: true)
    } else {
      for picture in settled { propagation.leave(picture) }
    }
  }

  private func settleOrder(_ configuration: LookAheadConfiguration) {
    guard let first = pictures.first else { return }
    let run = runLength(configuration)
    let group = pictures[..<run]
    let last = pictures[run - 1]
    if last.kind != .idr { last.kind = .predicted }
    settled.append(last)
    if run == 4, configuration.hasPyramid {
      pictures[1].kind = .bidirectionalReference
      for i in [1, 0, 2] { settled.append(pictures[i]) }
      pictures[0].kind = .bidirectional
      pictures[2].kind = .bidirectional
    } else if run == 3, configuration.hasPyramid {
      pictures[0].kind = .bidirectionalReference
      pictures[1].kind = .bidirectional
      settled.append(pictures[0])
      settled.append(pictures[1])
    } else {
      for picture in group.dropLast() {
        picture.kind = .bidirectional
        settled.append(picture)
      }
    }
    if first.kind == .idr {
      sinceKey = 1
      keyTime = first.time
    } else {
      sinceKey = (sinceKey ?? 0) + run
    }
    pictures.removeFirst(run)
    let old = anchor
    anchor = last
    if let old { release(old) }
  }

  /// Pictures up to the next one that is not a B picture, itself included.
  private func runLength(_ configuration: LookAheadConfiguration) -> Int {
    guard let anchor, let first = pictures.first, first.kind != .idr else { return 1 }
    var most = min(configuration.bidirectionalLimit + 1, pictures.count)
    for i in 0..<most where pictures[i].kind == .idr || pictures[i].isCut {
      // The picture before a key frame is a P picture, and so is one that begins a scene.
      most = max(i, 1)
      break
    }
    if most == 1 { return 1 }
    var best = 1
    var least = Double.infinity
    var single = 0.0
    for length in 1...most {
      if length == 3 && most > 3 { continue }
      let cost: Double
      if length == 1 {
        single = Double(analysis.sample(pictures[0], from: anchor.half, distance: 1))
        cost = single * LookAheadQueue.alone
      } else {
        let end = pictures[length - 1]
        var sum = analysis.sample(end, from: anchor.half, distance: length)
        for i in 0..<length - 1 {
          sum += analysis.sample(
            pictures[i], between: anchor.half, and: end.half, before: i + 1, after: length - 1 - i)
        }
        cost = Double(sum) / Double(length)
      }
      if cost < least {
        least = cost
        best = length
      }
    }
    return best
  }

  /// The first of the settled pictures, out of the queue: `recycle` takes it back when it is coded.
  func removeFirst() -> QueuedPicture { settled.removeFirst() }

  func recycle(_ picture: QueuedPicture) {
    coded.insert(ObjectIdentifier(picture))
    release(picture)
  }

  /// Gives a coded picture's memory to pictures to come, unless something still looks at it.
  private func release(_ picture: QueuedPicture) {
    if picture === newest || picture === beforeNewest || picture === anchor { return }
    if coded.remove(ObjectIdentifier(picture)) != nil { spare.append(picture) }
  }

  /// What comes next begins with a key frame.
  func restart() { sinceKey = nil }

  // MARK: - Kinds

  private func isCut(_ picture: QueuedPicture) -> Bool {
    Double(picture.interCost) > LookAheadQueue.cut.late * Double(picture.intraCost)
  }

  private func isFlash(_ flash: QueuedPicture, between a: QueuedPicture, and b: QueuedPicture) -> Bool {
    let across = analysis.sample(b, from: a.half, distance: 0)
    let into = analysis.sample(flash, from: a.half, distance: 0)
    return across * 3 < into * 2
  }

  /// Gives each picture its kind.
  private func assignKinds(_ configuration: LookAheadConfiguration) {
    var since = sinceKey
    var key = keyTime
    let interval = configuration.stream.keyFrameInterval ?? LookAheadQueue.usualInterval
    for picture in pictures {
      var isKey = since == nil || picture.options.isKeyFrame
      if let since, !isKey {
        isKey = since >= interval
        if let seconds = configuration.keyFrameDuration, picture.time - key >= seconds - 0.0005 {
          isKey = true
        }
        if configuration.placesKeyFramesAtCuts, picture.isCut {
          isKey =
            isKey || since >= LookAheadQueue.early
            || Double(picture.interCost) > LookAheadQueue.cut.early * Double(picture.intraCost)
        }
      }
      // Until its order is settled.
      picture.kind = isKey ? .idr : .predicted
      since = isKey ? 1 : (since ?? 0) + 1
      if isKey { key = picture.time }
    }
  }
}
