// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Pictures between input and coding: each is copied, looked at when it comes, and given a kind.
final class LookAheadQueue {
  private let geometry: PictureGeometry
  private let kernels: UnsafePointer<OVTKernels>
  private let memory: EncoderMemory
  private let analysis: HalfSizeAnalysis
  let propagation: QualityPropagation
  /// Nil where nothing is weighted.
  private let fades: HalfSizeFades?
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
  /// Part of what inter prediction saved in the picture before that it saves at most where a new scene begins.
  private static let cutSaving = 0.4
  /// Pictures from key frame to key frame if nothing is said.
  static let usualInterval = 250
  /// Part of the cost of intra prediction from which on a picture is too far from the last P picture.
  private static let farthest = 0.85
  /// Pictures that are too close to a key frame for another one at a cut to be worth less than the picture before.
  private static let early = 10

  init(_ geometry: PictureGeometry, kernels: UnsafePointer<OVTKernels>, weighs: Bool) {
    self.geometry = geometry
    self.kernels = kernels
    var memory = EncoderMemory()
    analysis = HalfSizeAnalysis(geometry, kernels: kernels, memory: &memory)
    fades = weighs ? HalfSizeFades(geometry, memory: &memory) : nil
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
    picture.plannedRun = 0
    picture.isInside = nil
    picture.hasCosts = false
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
    fades?.read(picture)
    analysis.intra(picture)
    LocalActivity.analyse(
      picture, geometry, kernels: kernels, strength: configuration.adaptiveQuantisation)
    if let before {
      analysis.inter(picture, from: reference(before, of: picture))
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
      propagation.run(
        sequence, finish: settled.count, planned: settled.count + planned
      ) {
        LookAheadQueue.middle(of: $0, configuration)
      }
      sequence.removeAll(keepingCapacity: true)
    } else {
      for picture in settled { propagation.leave(picture) }
    }
  }

  private func settleOrder(_ configuration: LookAheadConfiguration) {
    guard let first = pictures.first else { return }
    plan(configuration)
    let run = max(first.plannedRun, 1)
    let last = pictures[run - 1]
    if !last.kind.isKey {
      last.kind = .predicted
    } else if run == 1 {
      // Nothing refers across it: it may as well be where decoders begin.
      last.kind = .idr
    }
    settled.append(last)
    let middle = LookAheadQueue.middle(of: run, configuration)
    if let middle {
      pictures[middle].kind = .bidirectionalReference
      settled.append(pictures[middle])
    }
    for i in 0..<run - 1 where i != middle {
      pictures[i].kind = .bidirectional
      settled.append(pictures[i])
    }
    if last.kind.isKey {
      sinceKey = 1
      keyTime = last.time
    } else {
      sinceKey = (sinceKey ?? 0) + run
    }
    pictures.removeFirst(run)
    planned -= run
    let old = anchor
    anchor = last
    if let old { release(old) }
  }

  /// Pictures whose runs are planned.
  private var planned = 0

  /// Plans runs of pictures, as far as they are all there; the first one in any case.
  private func plan(_ configuration: LookAheadConfiguration) {
    // What is to be a key frame may have changed.
    var at = 0
    while at < planned {
      let run = pictures[at].plannedRun
      let (inner, last) = (pictures[at..<at + run - 1], pictures[at + run - 1])
      let isWhole = !inner.contains { $0.kind.isKey } && (run == 1 || last.kind != .idr)
      let isAlone = run == 1 && last.kind.isKey
      if !isWhole || isAlone == pictures[at].isRelated, at > 0 || anchor != nil { break }
      at += run
    }
    for i in at..<planned {
      pictures[i].plannedRun = 0
      pictures[i].isInside = nil
      pictures[i].hasCosts = false
    }
    planned = at
    while planned < pictures.count {
      let rest = pictures[planned...]
      let before = planned == 0 ? anchor : pictures[planned - 1]
      // Whether the newest picture begins a scene is not sure yet.
      if planned > 0, rest.count < configuration.bidirectionalLimit + 2 { break }
      var run = runLength(rest, hasAnchor: before != nil, configuration)
      let first = pictures[planned]
      first.isRelated = false
      if let before, !first.kind.isKey {
        while relate(rest.prefix(run), before, configuration) { run = (run + 1) / 2 }
        first.isRelated = true
      }
      first.plannedRun = run
      for i in planned..<planned + run { pictures[i].isInside = i < planned + run - 1 }
      planned += run
    }
  }

  /// Looks at a run of pictures in the order that they are to be coded in.
  /// - Returns: whether it has too little in common with the picture before it, and nothing was done but to find that.
  private func relate(
    _ run: ArraySlice<QueuedPicture>, _ before: QueuedPicture, _ configuration: LookAheadConfiguration
  ) -> Bool {
    let first = run.startIndex
    let last = run.endIndex - 1
    let end = run[last]
    let left = analysis.relate(end, to: (reference(before, of: end), run.count), nil)
    if run.count > 1, Double(left) > LookAheadQueue.farthest * Double(end.intraCost) { return true }
    let middle = LookAheadQueue.middle(of: run.count, configuration).map { first + $0 }
    for i in first..<last {
      let a = middle.map { i > $0 ? $0 : first - 1 } ?? first - 1
      let b = middle.map { i < $0 ? $0 : last } ?? last
      analysis.relate(
        run[i], to: (reference(a < first ? before : run[a], of: run[i]), i - a),
        (reference(run[b], of: run[i], list: 1), b - i))
    }
    for picture in run { picture.takeRelated(geometry.macroblockCount) }
    return false
  }

  /// A picture at half size as another one may refer to it.
  private func reference(_ then: QueuedPicture, of now: QueuedPicture, list: Int = 0) -> HalfSizePicture {
    fades?.reference(then, of: now, list: list) ?? then.half
  }

  /// Which of a run is the B picture that others refer to.
  static func middle(of run: Int, _ configuration: LookAheadConfiguration) -> Int? {
    configuration.hasPyramid && run > 2 ? (run - 2) / 2 : nil
  }

  /// Pictures up to the next one that is not a B picture, itself included: as many as may be. The one before a key frame
  /// is a P picture, and so is one that begins a scene; an open key frame has its B pictures before it.
  private func runLength(
    _ rest: ArraySlice<QueuedPicture>, hasAnchor: Bool, _ configuration: LookAheadConfiguration
  ) -> Int {
    guard hasAnchor, let first = rest.first, !first.kind.isKey else { return 1 }
    let most = rest.prefix(configuration.bidirectionalLimit + 1)
    var end = most.firstIndex { $0.kind.isKey || $0.isCut } ?? most.endIndex
    if end < most.endIndex, most[end].kind == .openKey, !most[end].isCut { end += 1 }
    return max(end - most.startIndex, 1)
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

  private func isCut(_ picture: QueuedPicture, after before: QueuedPicture) -> Bool {
    let (inter, intra) = (Double(picture.interCost), Double(picture.intraCost))
    // Scene after scene.
    if before.isCut { return inter > LookAheadQueue.cut.early * intra }
    guard inter > LookAheadQueue.cut.late * intra else { return false }
    // Under noise all pictures are far from their neighbours: in a new scene prediction saves less than it just did.
    let usual = Double(before.intraCost - before.interCost)
    return usual <= 0 || (intra - inter) * Double(before.intraCost) < LookAheadQueue.cutSaving * usual * intra
  }

  private func isFlash(_ flash: QueuedPicture, between a: QueuedPicture, and b: QueuedPicture) -> Bool {
    let across = analysis.sample(b, from: a.half)
    let into = analysis.sample(flash, from: a.half)
    return across * 3 < into * 2
  }

  /// Gives each picture its kind.
  private func assignKinds(_ configuration: LookAheadConfiguration) {
    var since = sinceKey
    var key = keyTime
    let interval = configuration.stream.keyFrameInterval ?? LookAheadQueue.usualInterval
    for picture in pictures {
      var isKey = since == nil || picture.options.isKeyFrame
      var isDue = false
      if let since, !isKey {
        isDue = since >= interval
        if let seconds = configuration.keyFrameDuration, picture.time - key >= seconds - 0.0005 {
          isDue = true
        }
        if configuration.placesKeyFramesAtCuts, picture.isCut {
          isKey =
            isDue || since >= LookAheadQueue.early
            || Double(picture.interCost) > LookAheadQueue.cut.early * Double(picture.intraCost)
        }
      }
      // Until its order is settled.
      picture.kind =
        isKey || isDue && !configuration.hasOpenGOP ? .idr : isDue ? .openKey : .predicted
      since = isKey || isDue ? 1 : (since ?? 0) + 1
      if isKey || isDue { key = picture.time }
    }
  }
}
