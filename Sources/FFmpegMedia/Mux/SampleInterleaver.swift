// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// Brings the samples of several tracks, each in decode order, into the order of their decode
/// times.
package struct SampleInterleaver<Element> {
  private struct Track {
    var waiting: [(time: CMTime, element: Element)] = []
    var taken = 0
    var hasEnded = false
    var isSparse = false

    var first: (time: CMTime, element: Element)? { taken < waiting.count ? waiting[taken] : nil }

    mutating func pop() -> Element? {
      guard let first else { return nil }
      taken += 1
      // The array is shortened seldom, since that moves all elements.
      if taken > 64, taken * 2 > waiting.count {
        waiting.removeFirst(taken)
        taken = 0
      }
      return first.element
    }
  }

  private var tracks: [Track]
  /// How much of the other tracks waits for a track that gives no samples.
  private let timeout: CMTime

  /// - Parameters:
  ///   - tracks: the number of tracks.
  ///   - timeout: how much of the other tracks waits for a track that gives no samples. It bounds
  ///     the memory.
  ///   - sparse: the tracks that the others never wait for, such as subtitles.
  package init(tracks: Int, timeout: CMTime, sparse: Set<Int> = []) {
    self.tracks = (0..<tracks).map { Track(isSparse: sparse.contains($0)) }
    self.timeout = timeout
  }

  /// Adds a sample.
  /// - Parameter time: its decode time.
  package mutating func push(_ element: Element, at time: CMTime, to track: Int) {
    guard tracks.indices.contains(track) else { return }
    tracks[track].waiting.append((time, element))
  }

  /// Records that a track has no more samples, so that the others do not wait for it.
  package mutating func end(_ track: Int) {
    if tracks.indices.contains(track) { tracks[track].hasEnded = true }
  }

  /// Removes the next sample.
  /// - Parameter isLast: whether no more samples will come, so that none waits for another.
  /// - Returns: the sample; nil if it is not known yet which one is next.
  package mutating func pop(isLast: Bool = false) -> Element? {
    var next: (index: Int, time: CMTime)?
    var isWaiting = false
    var latest = CMTime.negativeInfinity
    for (index, track) in tracks.enumerated() {
      guard let first = track.first else {
        if !track.hasEnded, !track.isSparse { isWaiting = true }
        continue
      }
      if next.map({ first.time < $0.time }) ?? true { next = (index, first.time) }
      if let last = track.waiting.last { latest = max(latest, last.time) }
    }
    guard let next, isLast || !isWaiting || latest - next.time > timeout else { return nil }
    return tracks[next.index].pop()
  }

  /// Removes all samples.
  package mutating func clear() {
    for index in tracks.indices {
      tracks[index].waiting = []
      tracks[index].taken = 0
    }
  }
}
