// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// The times of pictures that come in the order in which they are shown.
///
/// Each has its own, unless the container has them wrong (in decode order, or none): then the pictures take the times
/// of their samples in order, so that every picture is shown.
struct PictureTimes {
  /// For a picture without a time; invalid if it is not known.
  let frameDuration: CMTime
  private var expected: [CMTime] = []
  private var last = CMTime.invalid
  private var areWrong = false

  init(frameDuration: CMTime) { self.frameDuration = frameDuration }

  /// A sample with this time has been given to the decoder.
  mutating func expect(_ time: CMTime) { if time.isNumeric { expected.append(time) } }

  /// The sample with this time gives no picture.
  mutating func forget(_ time: CMTime) {
    if let index = expected.firstIndex(of: time) { expected.remove(at: index) }
  }

  /// - Returns: When the next picture is shown, whose sample had this time; later than the one before.
  mutating func settle(_ time: CMTime) -> CMTime {
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
