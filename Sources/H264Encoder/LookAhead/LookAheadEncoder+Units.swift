// SPDX-License-Identifier: Apache-2.0
import VideoBitstream
import VideoEncoding

/// Writes the NAL units that precede the slices.
extension LookAheadEncoder {
  /// Appends the access unit delimiter, parameter sets and SEI messages of a picture, as
  /// configured.
  func writeLeadingUnits(_ plan: PicturePlan, _ picture: QueuedPicture, _ output: inout AccessUnitWriter) {
    output.appendLeadingUnits(plan, configuration, sps, pictureSets)
    writeTiming(picture, &output)
    if plan.isOpenKeyFrame {
      output.append(.sei) { H264RecoveryPoint(frameCount: 0, isExact: true).write(to: &$0) }
    }
    output.appendDynamicRange(plan, configuration)
  }

  /// Appends the buffering period and picture timing messages, if the stream has them.
  private func writeTiming(_ picture: QueuedPicture, _ output: inout AccessUnitWriter) {
    guard var timing else { return }
    if codedCount > 0 {
      // The interval since the last access unit is final now, even if it was assumed when that was
      // coded.
      timing.advance(
        seconds: queue.decodeInterval(codingIndex: codedCount - 1, depth: reorderingDepth).seconds)
    }
    var lead = 0.0
    for index in 0..<reorderingDepth where codedCount == 0 {
      lead += queue.decodeInterval(codingIndex: UInt64(index), depth: reorderingDepth).seconds
    }
    let messages = timing.next(
      isKey: picture.kind.isKey, outputTime: picture.shown, lead: lead,
      fullness: rateControl.buffer?.fullness ?? 0)
    if let period = messages.period { output.append(.sei) { period.write(to: &$0, hrd: timing.hrd) } }
    if codedCount == 0, configuration.lookAhead.hasFramesBefore {
      // This form of the message lets a program that joins the streams fill in how long ago the
      // last buffering period of the stream before began.
      let joinable = H264PictureTiming.messagesWithReplaceableDelay(messages.timing, hrd: timing.hrd)
      output.append(.sei) { SupplementalInformation.write(joinable, to: &$0) }
    } else {
      output.append(.sei) { messages.timing.write(to: &$0, hrd: timing.hrd) }
    }
    self.timing = timing
  }
}
