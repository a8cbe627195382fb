// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport

/// The rows and figures that the summaries of all receivers have.
extension SummaryTable {
  /// Adds how long the picture was frozen, and its delay.
  /// - Parameters:
  ///   - log: the pictures that were decoded.
  ///   - frameRate: the frame rate of the stream, in frames a second.
  ///   - end: when the session ended, in seconds of `SessionTime`.
  mutating func addTimes(_ log: ArrivalLog, frameRate: Double, until end: Double) {
    let freezes = log.freezeStatistics(frameRate: frameRate, until: end)
    row(
      "frozen",
      "\(TextFormat.fixed(freezes.share * 100, 1)) % of the time, the longest "
        + "\(TextFormat.fixed(freezes.longest, 2)) s")
    let (median, percentile95) = (log.delay(0.5), log.delay(0.95))
    if let median, let percentile95 {
      row(
        "delay",
        "\(TextFormat.fixed(median * 1000, 0)) ms p50, \(TextFormat.fixed(percentile95 * 1000, 0)) ms p95, "
          + "capture to decoded")
    } else {
      row("delay", "not known")
    }
    figure("standstillShare", freezes.share)
    figure("longestStandstill", freezes.longest)
    figure("delayP50", median)
    figure("delayP95", percentile95)
  }

  /// Adds what came of the audio.
  /// - Parameters:
  ///   - counts: what came.
  ///   - isWritten: whether it is in the file; nil without a file.
  ///   - isPlayed: whether it was played.
  mutating func addAudio(_ counts: AudioReceiver.Counts, isWritten: Bool?, isPlayed: Bool) {
    row("audio", AudioSummary.received(counts, isWritten: isWritten, isPlayed: isPlayed))
    figure("soundPackets", counts.packets)
    figure("soundLost", counts.lostPackets)
  }

  /// Adds the numbers of pictures that a window or the terminal has shown and dropped; nothing
  /// without one.
  mutating func addScreen(_ seen: (shown: Int, dropped: Int)?) {
    guard let seen else { return }
    row(
      "on the screen",
      "\(TextFormat.plural(seen.shown, "picture")), \(TextFormat.grouped(seen.dropped)) over before they "
        + "could be shown")
    figure("screenShown", seen.shown)
    figure("screenDropped", seen.dropped)
  }
}
