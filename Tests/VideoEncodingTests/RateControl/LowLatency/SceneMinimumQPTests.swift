// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import VideoEncoding

/// The bits that an easy scene leaves for a difficult one, and those that a window of the even rate
/// leaves for the pictures to come.
@Suite struct SceneMinimumQPTests {
  @Test("An easy scene after a difficult one gets finer by and by, a still one at once")
  func anEasySceneAfterADifficultOneGetsFinerByAndBy() {
    func pictures(still: Bool) -> [LowLatencyRateControlTests.Picture] {
      (0..<300).map { n in
        if n < 180 { return LowLatencyRateControlTests.picture(bin: 19) }
        var picture = LowLatencyRateControlTests.picture(bin: n == 180 ? 14 : 8)
        picture.isNew = n == 180
        picture.isStill = still && n > 180
        return picture
      }
    }
    let c = LowLatencyRateControlTests.settings(rate: 400_000)
    let qp = LowLatencyRateControlTests.run(pictures(still: false), c).qp
    let before = Double(qp[120..<180].reduce(0, +)) / 60
    #expect(abs(Double(qp[180]) - (before - 6)) <= 1.5, "\(qp)")
    // Half a second later.
    #expect(abs(Double(qp[195]) - (before - 9)) <= 1.5, "\(qp)")
    // It stays, and may be as fine as the rate has it.
    #expect(Double(qp[270]) < before - 20, "\(qp)")
    let still = LowLatencyRateControlTests.run(pictures(still: true), c).qp
    #expect(Double(still[195]) < before - 17, "\(still)")
  }

  @Test("The floor follows the mean of two seconds, and falls within a scene")
  func theFloorFollowsTheMeanOfTwoSeconds() {
    var floor = SceneMinimumQP()
    #expect(floor.qp == -.infinity)
    floor.restart()
    #expect(floor.qp == -.infinity)
    for _ in 0..<100 { floor.record(40, duration: 0.04) }
    floor.restart()
    #expect(abs(floor.qp - 34) < 0.01)
    floor.pass(0.5)
    #expect(abs(floor.qp - 31) < 0.01)
    for _ in 0..<25 { floor.record(20, duration: 0.04) }
    floor.restart()
    // A second of two at 20: the mean has gone two fifths of the way.
    #expect(abs(floor.qp - 26.1) < 0.5)
    floor.forget()
    #expect(floor.qp == -.infinity)
  }

  @Test("What the window leaves keeps a part of their share for each of the pictures of two seconds")
  func theWindowKeepsAShareForEachPictureOfTwoSeconds() {
    let (rate, duration) = (100_000.0, 0.04)
    var line = TransmissionQueue(rate: rate, bound: 0.5)
    // All that the window holds was sent in its second half: nothing leaves it for a second.
    for n in 0..<50 {
      line.drain(duration)
      line.send(n < 25 ? 0 : 6000)
    }
    line.drain(duration)
    let free = line.evenRoom
    #expect(abs(free - (215_000 - 150_000)) < 1)
    let room = line.evenRoom(keeping: 0.5)
    // The pictures of the next second at half their share, 2000 bits each.
    #expect(abs(room - (free - 50_000)) <= 2001, "\(room)")
    // It is so: this picture takes all of that, the others their half, and the window is never
    // beyond the rate.
    line.send(room)
    for _ in 0..<50 {
      line.drain(duration)
      #expect(line.evenRoom >= 2000 - 1)
      line.send(2000)
    }
    var even = TransmissionQueue(rate: rate, bound: 0.5)
    for _ in 0..<100 {
      even.drain(duration)
      even.send(4000)
    }
    even.drain(duration)
    #expect(abs(even.evenRoom - even.evenRoom(keeping: 0.5) - 2000) < 1)
  }
}
