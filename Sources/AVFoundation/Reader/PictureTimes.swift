// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// Assigns presentation times to pictures that are decoded in presentation order.
///
/// Each picture normally keeps the time of its sample. If these times do not ascend, as in
/// containers that store decode times or none, the pictures get the times of their samples in
/// ascending order, so that every picture is shown.
struct PictureTimes {
  /// The step for a picture without a time; 1 ms is used if it is invalid.
  let frameDuration: CMTime
  private var expected: [CMTime] = []
  private var last = CMTime.invalid
  private var areWrong = false

  init(frameDuration: CMTime) { self.frameDuration = frameDuration }

  /// Records the time of a sample that is given to the decoder.
  mutating func expect(_ time: CMTime) { if time.isNumeric { expected.append(time) } }

  /// Removes the time of a sample that produces no picture.
  mutating func forget(_ time: CMTime) {
    if let index = expected.firstIndex(of: time) { expected.remove(at: index) }
  }

  /// Determines the time of the next picture.
  /// - Parameter time: The presentation time of the picture's sample.
  /// - Returns: The picture's presentation time, which is later than that of the previous picture.
  mutating func nextTime(_ time: CMTime) -> CMTime {
    var result = time
    if !areWrong, time.isNumeric, !last.isNumeric || time > last {
      forget(time)
    } else {
      areWrong = true
      if let index = expected.indices.min(by: { expected[$0] < expected[$1] }) {
        result = expected.remove(at: index)
      }
      if last.isNumeric, !result.isNumeric || result <= last { result = last + step }
      if !result.isNumeric { result = .zero }
    }
    last = result
    return result
  }

  private var step: CMTime {
    guard frameDuration.isNumeric, frameDuration > .zero else { return CMTime(value: 1, timescale: 1000) }
    return frameDuration
  }
}
