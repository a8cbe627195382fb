// SPDX-License-Identifier: Apache-2.0

/// The decoding order: which pictures are B pictures, and the costs of prediction from the pictures
/// that they will refer to.
extension LookAheadQueue {
  /// Decides the types, the decoding order and the QP offsets of the next run of pictures. A run is
  /// the B pictures up to the next picture that is not one, and that picture. Does nothing while
  /// `ordered` has pictures.
  /// - Parameters:
  ///   - settings: the current settings.
  ///   - propagates: whether the macroblock tree is used.
  package func decideOrder(_ settings: LookAheadSettings, propagates: Bool) {
    assignKinds(settings)
    guard ordered.isEmpty, !pictures.isEmpty else { return }
    moveFirstRun(settings)
    typicalRun += (Double(ordered.count) - typicalRun) * 0.2
    if propagates, count > 1 {
      sequence.removeAll(keepingCapacity: true)
      sequence += ordered
      sequence.sort { $0.index < $1.index }
      sequence += pictures
      macroblockTree.run(
        sequence, finish: ordered.count, planned: ordered.count + planned
      ) {
        LookAheadQueue.middle(of: $0, settings)
      }
      sequence.removeAll(keepingCapacity: true)
    } else {
      for picture in ordered { macroblockTree.setActivityOffsets(picture) }
    }
  }

  /// Moves the first planned run from `pictures` to `ordered`, in decoding order.
  private func moveFirstRun(_ settings: LookAheadSettings) {
    guard let first = pictures.first else { return }
    plan(settings)
    let run = max(first.plannedRun, 1)
    let last = pictures[run - 1]
    if !last.kind.isKey {
      last.kind = .predicted
    } else if run == 1 {
      // No B picture before it refers across it, so it can be an IDR picture, where any decoder can
      // begin.
      last.kind = .idr
    }
    ordered.append(last)
    let middle = LookAheadQueue.middle(of: run, settings)
    if let middle {
      pictures[middle].kind = .bidirectionalReference
      ordered.append(pictures[middle])
    }
    for i in 0..<run - 1 where i != middle {
      pictures[i].kind = .bidirectional
      ordered.append(pictures[i])
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

  /// Divides `pictures` into runs, as long as all pictures that a run may have are there; the first
  /// run in any case.
  private func plan(_ settings: LookAheadSettings) {
    // Discard the plan from the first run on that key frames have changed since.
    var at = 0
    while at < planned {
      let run = pictures[at].plannedRun
      let (inner, last) = (pictures[at..<at + run - 1], pictures[at + run - 1])
      let isWhole = !inner.contains { $0.kind.isKey } && (run == 1 || last.kind != .idr)
      let isAlone = run == 1 && last.kind.isKey
      if !isWhole || isAlone == pictures[at].hasReferenceCosts, at > 0 || anchor != nil { break }
      at += run
    }
    for i in at..<planned {
      pictures[i].plannedRun = 0
      pictures[i].isPlannedBidirectional = nil
      pictures[i].hasCosts = false
    }
    planned = at
    while planned < pictures.count {
      let rest = pictures[planned...]
      let before = planned == 0 ? anchor : pictures[planned - 1]
      // A later picture may show that the newest one is a flash and not a cut, and the second one
      // after a picture may show that it was a B picture in the source.
      let later = matchedUntil > 0 ? 3 : 2
      if planned > 0, rest.count < settings.bidirectionalLimit + later { break }
      var run = runLength(rest, hasAnchor: before != nil, settings)
      let first = pictures[planned]
      first.hasReferenceCosts = false
      if let before, !first.kind.isKey {
        while estimateReferenceCosts(rest.prefix(run), before, settings) { run = (run + 1) / 2 }
        first.hasReferenceCosts = true
      }
      first.plannedRun = run
      for i in planned..<planned + run { pictures[i].isPlannedBidirectional = i < planned + run - 1 }
      planned += run
    }
  }

  /// Estimates the costs of prediction for a run, each picture from those that it will refer to.
  /// - Parameters:
  ///   - run: the pictures of the run, in input order.
  ///   - before: the picture before the run that is not a B picture.
  ///   - settings: the current settings.
  /// - Returns: whether the last picture of a run of several has too little in common with `before`
  ///   (`farthest`). The costs of the other pictures are not estimated then.
  private func estimateReferenceCosts(
    _ run: ArraySlice<QueuedPicture>, _ before: QueuedPicture, _ settings: LookAheadSettings
  ) -> Bool {
    let first = run.startIndex
    let last = run.endIndex - 1
    let end = run[last]
    let left = analysis.estimateReferenceCosts(end, to: (reference(before, of: end), run.count), nil)
    if run.count > 1, Double(left) > LookAheadQueue.farthest * Double(end.intraCost) { return true }
    let middle = LookAheadQueue.middle(of: run.count, settings).map { first + $0 }
    for i in first..<last {
      let a = middle.map { i > $0 ? $0 : first - 1 } ?? first - 1
      let b = middle.map { i < $0 ? $0 : last } ?? last
      analysis.estimateReferenceCosts(
        run[i], to: (reference(a < first ? before : run[a], of: run[i]), i - a),
        (reference(run[b], of: run[i], list: 1), b - i))
    }
    for picture in run { picture.computeReferenceResidual(geometry.macroblockCount) }
    return false
  }

  /// The half-size picture of a reference picture, adapted to the brightness of the picture that
  /// refers to it where weighted prediction is used.
  /// - Parameters:
  ///   - then: the reference picture.
  ///   - now: the picture that refers to it.
  ///   - list: its reference picture list, 0 or 1.
  package func reference(_ then: QueuedPicture, of now: QueuedPicture, list: Int = 0) -> LowResolutionPicture
  {
    fades?.reference(then, of: now, list: list) ?? then.lowResolution
  }

  /// The index in a run of the B picture that the others refer to; nil where there is none.
  /// - Parameters:
  ///   - run: the number of pictures in the run.
  ///   - settings: the current settings.
  static func middle(of run: Int, _ settings: LookAheadSettings) -> Int? {
    settings.hasPyramid && run > 2 ? (run - 2) / 2 : nil
  }

  /// The number of pictures in the next run: as many as the configuration, key frames and the types
  /// of the source (`sourceTypes`) allow. The picture before an IDR picture is a P picture, and so
  /// is one before a scene cut. A key frame that is to be no IDR picture ends a run of two pictures
  /// at least, since it needs a B picture before it.
  private func runLength(
    _ rest: ArraySlice<QueuedPicture>, hasAnchor: Bool, _ settings: LookAheadSettings
  ) -> Int {
    guard hasAnchor, let first = rest.first, !first.kind.isKey else { return 1 }
    let candidates = rest.prefix(settings.bidirectionalLimit + 1)
    var end = candidates.firstIndex { $0.kind.isKey || $0.isCut } ?? candidates.endIndex
    updateSourceTypes()
    switch followsSourceTypes ? sourceTypes : .unknown {
    case .unknown: break
    case .predicted: end = min(end, candidates.startIndex + 1)
    case .mixed:
      let last = (candidates.startIndex..<end).first {
        wasPredicted(candidates[$0], next: $0 + 1 < rest.endIndex ? rest[$0 + 1] : nil)
      }
      end = last.map { $0 + 1 } ?? end
    }
    if end < rest.endIndex, rest[end].kind == .openKey, !rest[end].isCut {
      end += end < candidates.endIndex ? 1 : -1
    }
    return max(end - candidates.startIndex, 1)
  }
}
