// SPDX-License-Identifier: Apache-2.0
import VideoToolbox

/// What a receiver shows, compared with what it should.
struct CallScreen {
  private let measures: Bool
  private var shown: [CallRecord.Shown] = []
  /// Pictures of the source that were not compared yet, with their place and the encoder's word on their quality.
  private var waiting: [(picture: Int, source: CVPixelBuffer, quality: Double?)] = []
  private var current: CVPixelBuffer?

  init(measures: Bool) { self.measures = measures }

  /// A picture of the source, in order.
  mutating func add(_ source: CVPixelBuffer, quality: Double?) {
    shown.append(CallRecord.Shown())
    if measures { waiting.append((shown.count - 1, source, quality)) }
  }

  mutating func noteThinned() { shown[shown.count - 1].isThinned = true }
  mutating func noteQueueing(_ seconds: Double) { shown[shown.count - 1].queueingDelay = seconds }

  mutating func show(_ image: CVPixelBuffer, picture: Int, at time: Double) {
    shown[picture].time = time
    while let first = waiting.first, first.picture <= picture {
      waiting.removeFirst()
      guard first.picture == picture else {
        compareWithCurrent(first.picture, first.source)
        continue
      }
      let error = PictureComparison.meanSquaredError(first.source, image)
      let quality = PictureComparison.decibels(meanSquaredError: error)
      shown[picture].quality = quality
      if let promised = first.quality { shown[picture].isDamaged = abs(quality - promised) > 0.001 }
    }
    current = image
  }

  /// Pictures that never came are as good as the one that is shown in their place.
  private mutating func compareWithCurrent(_ picture: Int, _ source: CVPixelBuffer) {
    guard let current else { return }
    shown[picture].quality = PictureComparison.decibels(
      meanSquaredError: PictureComparison.meanSquaredError(source, current))
  }

  mutating func finish() -> [CallRecord.Shown] {
    for one in waiting { compareWithCurrent(one.picture, one.source) }
    waiting.removeAll()
    return shown
  }
}
