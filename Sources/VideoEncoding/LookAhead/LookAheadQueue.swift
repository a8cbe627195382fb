// SPDX-License-Identifier: Apache-2.0
import CVideoKernels

/// The pictures of the look-ahead, between input and coding. Each is copied and analysed when it
/// arrives; then its type and its position in decoding order are decided.
package final class LookAheadQueue {
  package let geometry: PictureGeometry
  package let memory: EncoderMemory
  /// Copies and analyses pictures at half size.
  package let analysis: LookAheadPreAnalysis
  let macroblockTree: MacroblockTree
  /// Compensates fades between half-size pictures; nil without weighted prediction.
  let fades: LowResolutionFades?
  /// The analysed pictures whose decoding order is not decided yet, in input order.
  package var pictures: [QueuedPicture] = []
  /// The pictures whose type and position in decoding order are final, in decoding order. All of
  /// them are coded before those in `pictures`.
  package var ordered: [QueuedPicture] = []
  /// Coded pictures whose memory may be reused.
  private var spare: [QueuedPicture] = []
  /// The last picture in decoding order, as far as it is decided, that is not a B picture: the
  /// reference picture of the next run.
  package var anchor: QueuedPicture?
  /// The last analysed picture, which may already be coded (`coded`).
  package var newest: QueuedPicture?
  /// The index of the next picture.
  private var nextIndex: UInt64 = 0
  /// The presentation time of the last picture, in seconds since the first.
  package var time = 0.0
  /// `QueuedPicture.shown` of the last picture.
  package var shown = 0.0
  /// The duration of each recent picture in seconds, at its index modulo 512: more pictures than
  /// can wait.
  private var intervals = [Double](repeating: 0, count: 512)
  /// The number of pictures from the last key frame whose order is decided, which is counted, to
  /// the next picture in `pictures`, and the presentation time of that key frame. `sinceKey` is nil
  /// before the first key frame and where a key frame has to come next.
  var sinceKey: Int?
  var keyTime = 0.0

  /// The ratio of the cost of inter prediction to that of intra prediction above which a picture
  /// may begin a new scene: `early` right after another cut or where a key frame was a few pictures
  /// ago, `late` otherwise.
  static let cut = (early: 0.92, late: 0.82)
  /// The saving of inter prediction, as a share of that in the previous picture, below which a
  /// picture begins a new scene.
  static let cutSaving = 0.4
  /// The ratio of the cost of inter prediction to that of intra prediction above which a picture
  /// has too little in common with the P picture before its run to end a run of several pictures.
  static let farthest = 0.85
  /// The number of pictures after a key frame within which a cut needs the higher threshold
  /// (`cut.early`) to get another key frame.
  static let early = 10

  /// Creates an empty queue.
  /// - Parameters:
  ///   - geometry: the size of the pictures.
  ///   - analysis: copies and analyses them.
  ///   - weighs: whether the stream has weighted prediction.
  ///   - keepsSourceTypes: whether pictures of sources that were compressed with H.264 keep their
  ///     types.
  package init(
    _ geometry: PictureGeometry, analysis: LookAheadPreAnalysis, weighs: Bool, keepsSourceTypes: Bool
  ) {
    self.keepsSourceTypes = keepsSourceTypes
    self.geometry = geometry
    self.analysis = analysis
    var memory = EncoderMemory()
    fades = weighs ? LowResolutionFades(geometry, memory: &memory) : nil
    self.memory = memory
    macroblockTree = MacroblockTree(geometry)
  }

  /// The number of pictures in the queue, the one not analysed yet included.
  package var count: Int { pictures.count + ordered.count + (unseen == nil ? 0 : 1) }

  /// Adds a picture. `analyse(_:)` copies and analyses it, and must be called before the caller
  /// reuses the picture's memory.
  /// - Parameters:
  ///   - source: the caller's picture.
  ///   - request: the caller's options for it.
  ///   - settings: the current settings.
  /// - Returns: the seconds by which the previous picture lasts longer than was assumed when it was
  ///   coded; negative where it lasts shorter, 0 where it is not coded yet.
  package func append(
    _ source: SourcePicture, request: CodingRequest, settings: LookAheadSettings
  ) -> Double {
    let nominalDuration = 1 / settings.frameRate
    let picture = spare.popLast() ?? QueuedPicture(geometry)
    let before = newest
    let passed = request.duration ?? nominalDuration
    let paced = min(max(passed, TickRounding.shortest), TickRounding.longest(usual: nominalDuration))
    var correction = 0.0
    if let before {
      if coded.contains(ObjectIdentifier(before)) { correction = paced - before.duration }
      before.duration = paced
      shown += paced
      intervals[Int(before.index & 511)] = paced
      // The key-frame duration counts real time, with pauses.
      time += passed
    }
    picture.index = nextIndex
    nextIndex += 1
    picture.time = time
    picture.shown = shown
    // Until the next picture tells the real duration. It is assumed to be no longer than usual, so
    // that the rate control does not spend bits that have not arrived.
    picture.duration = min(paced, nominalDuration)
    intervals[Int(picture.index & 511)] = picture.duration
    picture.request = request
    picture.isCut = false
    picture.kind = .predicted
    picture.plannedRun = 0
    picture.isPlannedBidirectional = nil
    picture.hasCosts = false
    picture.matchesBefore = ExactMatches()
    picture.matchesAfter = ExactMatches()
    picture.matchesSecond = ExactMatches()
    unseen = (picture, source)
    return correction
  }

  /// The picture that was added last, until it is analysed, and the caller's picture.
  private var unseen: (picture: QueuedPicture, source: SourcePicture)?

  /// Copies and analyses the picture that was added last, and decides whether it begins a new
  /// scene. Does nothing if it has been analysed.
  package func analyse(_ settings: LookAheadSettings) {
    guard let (picture, source) = unseen else { return }
    unseen = nil
    let before = newest
    analysis.analyse(picture, source, strength: settings.adaptiveQuantisation)
    fades?.read(picture)
    if let before {
      analysis.estimateMotion(picture, from: reference(before, of: picture))
    } else {
      picture.interCost = picture.intraCost
    }
    picture.takeResiduals(geometry.macroblockCount, hasInter: before != nil)
    if let before {
      if keepsSourceTypes, searchesSourceTypes, settings.bidirectionalLimit > 0 {
        matchSource(picture, before, beforeNewest)
      }
      picture.isCut = isCut(picture, after: before)
      // The previous picture was a flash: this one resembles the picture before the flash.
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

  /// Does the work that may run while another picture is coded: analyses the newest picture, and
  /// decides the order of the next run.
  /// - Parameters:
  ///   - settings: the current settings.
  ///   - propagates: whether the macroblock tree is used.
  package func prepare(_ settings: LookAheadSettings, propagates: Bool) {
    analyse(settings)
    if ordered.isEmpty { decideOrder(settings, propagates: propagates) }
  }

  /// The seconds from the decode time of a frame to that of the next frame.
  ///
  /// Frame n in decoding order is decoded when the picture with index n - `depth` is output. The
  /// decode times of the first `depth` frames precede that by the durations of the first pictures,
  /// as they are known or assumed when the first is coded (`fixLead`).
  package func decodeInterval(codingIndex: UInt64, depth: Int) -> (seconds: Double, isKnown: Bool) {
    if codingIndex < UInt64(lead.count) { return (lead[Int(codingIndex)], true) }
    let index = codingIndex < UInt64(depth) ? codingIndex : codingIndex - UInt64(depth)
    return (intervals[Int(index & 511)], index + 1 < nextIndex)
  }

  /// The decode intervals of the first frames, once the first of them is coded.
  private var lead: [Double] = []

  /// Fixes the decode intervals of the first `depth` frames, whose sum is the time from the first
  /// decode time to the output of the first picture. Where pictures are coded before those
  /// intervals are known, they are usual ones: if later ones were longer, pictures would be output
  /// late.
  /// - Parameters:
  ///   - depth: the most frames that precede a frame in decoding order and follow it in output
  ///     order.
  ///   - nominalDuration: the frame interval of the configuration in seconds.
  func fixLead(depth: Int, nominalDuration: Double) {
    guard lead.isEmpty else { return }
    for index in 0..<depth {
      lead.append(UInt64(index) + 1 < nextIndex ? intervals[index] : nominalDuration)
    }
  }

  /// The picture before `newest`.
  private var beforeNewest: QueuedPicture?
  /// The pictures that are coded, but that the analysis of later pictures still reads.
  package var coded: Set<ObjectIdentifier> = []

  /// The moving average of the number of pictures from one that is not a B picture to the next.
  var typicalRun = 1.0
  /// Scratch of `decideOrder`, kept for its memory.
  package var sequence: [QueuedPicture] = []

  /// Whether a picture with this index or a lower one is in the queue.
  package func holdsPicture(through index: UInt64) -> Bool {
    // Between calls of the encoder every picture is analysed, so `unseen` is nil.
    ordered.contains { $0.index <= index } || pictures.first.map { $0.index <= index } ?? false
  }

  let keepsSourceTypes: Bool
  /// Whether the next runs follow the types that were recognised (`sourceTypes`), and whether those
  /// of new pictures are searched, which takes time.
  package var followsSourceTypes = true
  package var searchesSourceTypes = true
  /// The picture types that the source had around the next run.
  var sourceTypes = SourceTypes.unknown
  /// The mean share of exact matches with later pictures in the pictures from which `sourceTypes`
  /// was derived.
  var laterShare = 0.0
  /// The index up to which many blocks of each picture are compared, since a recent one had exact
  /// matches.
  var matchedUntil: UInt64 = 0

  /// The number of pictures at the front of `pictures` that are in planned runs.
  package var planned = 0

  /// Removes and returns the first picture in decoding order. Once it is coded, `recycle` takes it
  /// back.
  package func removeFirst() -> QueuedPicture { ordered.removeFirst() }

  /// Takes back a picture that is coded.
  package func recycle(_ picture: QueuedPicture) {
    coded.insert(ObjectIdentifier(picture))
    release(picture)
  }

  /// Makes the memory of a picture available to later ones if it is coded and the analysis of later
  /// pictures does not read it.
  func release(_ picture: QueuedPicture) {
    if picture === newest || picture === beforeNewest || picture === anchor { return }
    if coded.remove(ObjectIdentifier(picture)) != nil { spare.append(picture) }
  }

  /// Makes the next picture whose order is decided a key frame.
  package func restart() { sinceKey = nil }
}
