// SPDX-License-Identifier: Apache-2.0
import VideoToolbox

/// Compares the pictures that a receiver shows with those of the source.
struct ReceivedPictureComparison {
  private let measures: Bool
  private var shown: [CallRecord.Shown] = []
  /// The pictures of the source that have not been compared yet, with their indices and the PSNR
  /// that the encoder reports.
  private var waiting: [(picture: Int, source: CVPixelBuffer, quality: Double?)] = []
  private var current: CVPixelBuffer?

  init(measures: Bool) { self.measures = measures }

  /// Adds the next picture of the source.
  mutating func add(_ source: CVPixelBuffer, quality: Double?) {
    shown.append(CallRecord.Shown())
    if measures { waiting.append((shown.count - 1, source, quality)) }
  }

  /// Records that the last picture was dropped because the link was too slow.
  mutating func markAsDroppedForLink() { shown[shown.count - 1].isDroppedForLink = true }
  mutating func setQueueingDelay(_ seconds: Double) { shown[shown.count - 1].queueingDelay = seconds }

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

  /// Compares a picture that never came with the one that is shown instead.
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
