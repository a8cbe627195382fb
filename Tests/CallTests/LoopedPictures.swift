// SPDX-License-Identifier: Apache-2.0
import VideoToolbox

@testable import vtencode

/// Pictures in memory, shown back and forth so that there is no cut.
struct LoopedPictures: CallPictures {
  let buffers: [CVPixelBuffer]
  let frameRate: Double
  private var index = 0

  init(_ buffers: [CVPixelBuffer], frameRate: Double) {
    self.buffers = buffers
    self.frameRate = frameRate
  }

  func buffer(_ number: Int) -> CVPixelBuffer {
    let lap = max(2 * (buffers.count - 1), 1)
    let place = number % lap
    return buffers[place < buffers.count ? place : lap - place]
  }

  mutating func next() -> CallPicture? {
    defer { index += 1 }
    return CallPicture(buffer: buffer(index), time: Double(index) / frameRate)
  }
}
