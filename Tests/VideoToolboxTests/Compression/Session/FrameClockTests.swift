// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Testing

@testable import VideoToolbox

@Suite struct FrameClockTests {
  private func time(_ n: Int) -> CMTime { CMTime(value: CMTimeValue(n), timescale: 30) }

  /// Decode times of those that come out are as if the others had never been.
  @Test(arguments: [1, 2, 3], [2, 3, 7]) func droppedFramesLeaveTheDecodeTimesOfOthers(depth: Int, every: Int)
  {
    let count = 400
    let kept = (0..<count).filter { $0 % every != 1 }
    var clock = FrameClock(depth: depth)
    var times: [CMTime] = []
    var waiting: [Int] = []
    for n in 0..<count {
      clock.addInput(time(n))
      if n % every == 1 { clock.removeDropped(time(n)) } else { waiting.append(n) }
      if waiting.count > depth {
        waiting.removeFirst()
        times.append(clock.nextDecodeTime(frameDuration: time(1)))
      }
    }
    for _ in waiting { times.append(clock.nextDecodeTime(frameDuration: time(1))) }
    #expect(times.count == kept.count)
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
    for n in depth..<times.count { #expect(times[n] == time(kept[n - depth])) }
  }

  /// An encoder may say only later that a frame is dropped.
  @Test func framesThatAreDroppedLateLeaveTimesRising() {
    var clock = FrameClock(depth: 2)
    var last = CMTime.negativeInfinity
    for n in 0..<300 {
      clock.addInput(time(n))
      if n >= 200, n % 2 == 0 { clock.removeDropped(time(n - 190)) }
      if n < 2 || n >= 200 && n % 2 == 0 { continue }
      let decode = clock.nextDecodeTime(frameDuration: time(1))
      #expect(last < decode && decode <= time(n), "\(n)")
      last = decode
    }
  }
}
