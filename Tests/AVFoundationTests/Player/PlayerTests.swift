// SPDX-License-Identifier: Apache-2.0
@testable import AVFoundation
import Foundation
import Testing
import TestSupport

/// Players: the pictures and audio at each time, compared with ffmpeg's pictures and recomputed
/// times.
@Suite(.serialized) struct PlayerTests {
  static let frame = CMTime(value: 1001, timescale: 30000)

  static func player(_ path: String) -> AVPlayer { AVPlayer(url: URL(fileURLWithPath: path)) }

  @Test func playsEveryPictureInTimeAndEndsOnce() async throws {
    let path = try Fixture.movie()
    let item = AVPlayerItem(url: URL(fileURLWithPath: path))
    #expect(item.status == .unknown && item.duration == .indefinite)
    let player = AVPlayer(playerItem: item)
    #expect(player.rate == 0 && player.timeControlStatus == .paused)
    let layer = AVPlayerLayer(player: player)
    let shown = Gathered<(time: CMTime, sum: String, itemTime: CMTime)>()
    layer.frameHandler = { [weak item] image, time in
      guard let image, let item else { return }
      shown.add((time, md5(ReaderTests.packed(image)), item.currentTime()))
    }
    let sink = TestSink()
    player.ovtAudioSink = sink
    let ends = Heard(.AVPlayerItemDidPlayToEndTime, item)
    await waitUntil { item.status == .readyToPlay }
    #expect(item.status == .readyToPlay && player.status == .readyToPlay && item.error == nil)
    #expect(item.duration == AVURLAsset(url: URL(fileURLWithPath: path)).duration)
    #expect(item.presentationSize == CGSize(width: 320, height: 240))
    await waitUntil { layer.isReadyForDisplay }
    #expect(layer.isReadyForDisplay && player.currentTime() == .zero)
    player.rate = 0.5
    #expect(player.rate == 0.5)
    await waitUntil { ends.count > 0 }
    #expect(player.rate == 0 && player.timeControlStatus == .paused)
    #expect(player.currentTime() == item.duration)
    player.play()
    // Playback has ended. A seek follows pending operations.
    await waitUntil { player.rate == 0 }
    let (all, duration) = (shown.all, item.duration)
    #expect(await player.seek(to: duration, toleranceBefore: .zero, toleranceAfter: .zero))
    #expect(player.rate == 0)
    #expect(ends.count == 1 && player.currentTime() == item.duration)
    let theirs = try ReaderTests.frameMD5s(path, ["-pix_fmt", "yuv420p"])
    #expect(!all.isEmpty && zip(all, all.dropFirst()).allSatisfy { $0.time < $1.time })
    #expect(all.allSatisfy { $0.sum == theirs[Int($0.time.value * 30000 / Int64($0.time.timescale) / 1001)] })
    // Never before its time, except for the tolerance of a timer.
    #expect(all.allSatisfy { ($0.time - $0.itemTime).seconds < 0.005 })
    let loud = sink.heard.all.filter { $0.samples.contains { abs($0) > 0.05 } }
    #expect(!loud.isEmpty)
  }

  @Test func exactSeeksShowFFmpegsPictures() async throws {
    let path = try Fixture.movie()
    let player = Self.player(path)
    let item = try #require(player.currentItem)
    let output = AVPlayerItemVideoOutput(pixelBufferAttributes: [
      kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange
    ])
    item.add(output)
    #expect(item.outputs.count == 1)
    let theirs = try ReaderTests.frameMD5s(path, ["-pix_fmt", "nv12"])
    for index in [0, 17, 59, 20, 19, 3, 41, 58] {
      let time = CMTime(value: Int64(index) * 1001 + 300, timescale: 30000)
      #expect(await player.seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero))
      #expect(player.currentTime() == time)
      var own = CMTime.invalid
      #expect(output.hasNewPixelBuffer(forItemTime: time))
      let image = try #require(output.copyPixelBuffer(forItemTime: time, itemTimeForDisplay: &own))
      #expect(!output.hasNewPixelBuffer(forItemTime: time))
      #expect(own.seconds == Double(index) * 1001 / 30000)
      #expect(md5(ReaderTests.packed(image)) == theirs[index])
    }
    // After the end the last picture is displayed, and the time is that of the end.
    #expect(
      await player.seek(to: CMTime(value: 60, timescale: 1), toleranceBefore: .zero, toleranceAfter: .zero))
    #expect(player.currentTime() == item.duration)
    let last = try #require(output.copyPixelBuffer(forItemTime: item.duration, itemTimeForDisplay: nil))
    #expect(md5(ReaderTests.packed(last)) == theirs[59])
    #expect(await player.seek(to: CMTime(value: -5, timescale: 1)))
    #expect(player.currentTime() == .zero)
    #expect(await player.seek(to: .invalid) == false)
    #expect(await player.seek(to: .positiveInfinity) == false)
  }

  @Test func tolerantSeeksFindKeyFrames() async throws {
    let path = try Fixture.movie()
    let player = Self.player(path)
    let keys = try Probe.samples(path, data: false).filter(\.isSync).map(\.pts)
    #expect(keys.count == 3)
    for (target, key) in [(0.5, 0), (0.9, 1), (1.99, 2), (0.01, 0)] {
      #expect(await player.seek(to: CMTime(seconds: target, preferredTimescale: 600)))
      let time = player.currentTime()
      #expect(rational(Int(time.value), Int(time.timescale)) == keys[key])
    }
    // The key frame is outside the tolerance, so the seek is exact.
    let time = CMTime(value: 300, timescale: 600)
    let near = CMTime(value: 1, timescale: 10)
    #expect(await player.seek(to: time, toleranceBefore: near, toleranceAfter: near))
    #expect(player.currentTime() == time)
  }

  @Test(.timeLimit(.minutes(HangLimit.minutes))) func seekStormsEndAndAnswerEverybody() async throws {
    let path = try Fixture.movie()
    let player = Self.player(path)
    let layer = AVPlayerLayer(player: player)
    player.play()
    let answers = Gathered<Bool>()
    let group = DispatchGroup()
    for thread in 0..<4 {
      DispatchQueue.global().async(group: group) {
        for step in 0..<150 {
          let time = CMTime(value: Int64((step * 37 + thread * 11) % 60) * 1001, timescale: 30000)
          let isExact = step % 2 == 0
          player.seek(
            to: time, toleranceBefore: isExact ? .zero : .positiveInfinity, toleranceAfter: .zero
          ) { answers.add($0) }
          if step % 10 == 0 { letOthersRun(turns: 3000) }
          if step % 17 == 0 { player.rate = Float(step % 3) }
        }
      }
    }
    #expect(await onThread { waitForEnd(of: group) })
    player.pause()
    let time = CMTime(value: 30 * 1001, timescale: 30000)
    #expect(await player.seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero))
    await waitUntil { answers.count == 600 }
    #expect(answers.count == 600 && answers.all.contains(false))
    #expect(player.currentTime() == time && player.rate == 0)
    await waitUntil { layer.copyDisplayedPixelBuffer() != nil }
    let ends = Heard(.AVPlayerItemDidPlayToEndTime, try #require(player.currentItem))
    player.play()
    await waitUntil { ends.count > 0 }
    #expect(ends.count == 1)
  }

  @Test func aSeekThatIsOvertakenSaysSo() async throws {
    let player = Self.player(try Fixture.movie())
    let item = try #require(player.currentItem)
    let answers = Gathered<Int>()
    for number in 1...3 {
      item.seek(to: CMTime(value: Int64(number), timescale: 2), toleranceBefore: .zero, toleranceAfter: .zero)
      {
        answers.add($0 ? number : -number)
      }
    }
    await waitUntil { answers.count == 3 }
    // The first two may have been there already.
    #expect(Set(answers.all.map { abs($0) }) == [1, 2, 3] && answers.all.contains(3))
    #expect(player.currentTime() == CMTime(value: 3, timescale: 2))
    item.seek(to: .zero) { answers.add($0 ? 4 : -4) }
    item.cancelPendingSeeks()
    await waitUntil { answers.count == 4 }
    #expect(answers.count == 4)
    // The item plays whether the seek was cancelled or not.
    let ends = Heard(.AVPlayerItemDidPlayToEndTime, item)
    player.play()
    await waitUntil { ends.count > 0 }
    #expect(ends.count == 1 && answers.count == 4)
  }

  @Test func stepsGoByPictures() async throws {
    let player = Self.player(try Fixture.movie())
    let item = try #require(player.currentItem)
    await player.seek(
      to: CMTime(value: 10 * 1001, timescale: 30000), toleranceBefore: .zero, toleranceAfter: .zero)
    for (count, index) in [(1, 11), (1, 12), (-1, 11), (3, 14), (-4, 10)] {
      let jumps = Heard(.AVPlayerItemTimeJumped, item)
      item.step(byCount: count)
      await waitUntil { jumps.count > 0 }
      #expect(player.currentTime().seconds == Double(index) * 1001 / 30000)
    }
  }

  /// Pictures a millionth of a second apart, and seconds.
  @Test func stepsGoByPicturesThatComeIrregularly() async throws {
    let shown = [0, 1_000_000, 1_000_001, 1_400_000, 9_000_000]
    let place = shown.enumerated().dropFirst().reduce("0") {
      "if(eq(N\\,\($1.offset))\\,\($1.element)\\,\($0))"
    }
    let path = try Fixture.make(
      "irregular-steps.mp4",
      [
        "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=10:duration=0.5", "-vf",
        "settb=1/1000000,setpts=\(place)", "-fps_mode", "passthrough", "-enc_time_base", "1:1000000", "-c:v",
        "libx264", "-bf", "0", "-g", "3", "-video_track_timescale", "1000000",
      ])
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    let movie = try #require(asset.tracks.first)
    let composition = AVMutableComposition()
    let half = CMTimeRange(start: .zero, end: CMTime(value: 1_200_000, timescale: 1_000_000))
    try composition.insertTimeRange(half, of: asset, at: .zero)
    try composition.insertTimeRange(
      CMTimeRange(start: half.end, end: movie.timeRange.end), of: asset,
      at: CMTime(value: 2, timescale: 1))
    // From 1.2 s on the third picture is displayed once more, at 2 s.
    for (asset, times) in [
      (asset, shown), (composition, [0, 1_000_000, 1_000_001, 2_000_000, 2_200_000, 9_800_000]),
    ] as [(AVAsset, [Int])] {
      let player = AVPlayer(playerItem: AVPlayerItem(asset: asset))
      let item = try #require(player.currentItem)
      await player.seek(to: .zero, toleranceBefore: .zero, toleranceAfter: .zero)
      var place = 0
      for count in [1, 1, -1, 1, 1, 1, -2, 1, .max, -1, .min, 2] {
        place = max(0, min(times.count - 1, place + max(-10, min(10, count))))
        let jumps = Heard(.AVPlayerItemTimeJumped, item)
        item.step(byCount: count)
        let wanted = CMTime(value: Int64(times[place]), timescale: 1_000_000)
        // The notification of an earlier jump may be late.
        await waitUntil { jumps.count > 0 && player.currentTime() == wanted }
        #expect(jumps.count > 0 && player.currentTime() == wanted, "\(times), \(place)")
      }
    }
  }

  @Test func observersHearOfTimes() async throws {
    let player = Self.player(try Fixture.movie())
    let queue = DispatchQueue(label: "observers")
    let periods = Gathered<CMTime>()
    let boundaries = Gathered<CMTime>()
    let periodic = player.addPeriodicTimeObserver(
      forInterval: CMTime(value: 1, timescale: 10), queue: queue
    ) { periods.add($0) }
    let marks = [0.35, 0.7, 1.5]
    let boundary = player.addBoundaryTimeObserver(
      forTimes: marks.map { NSValue(time: CMTime(seconds: $0, preferredTimescale: 100)) }, queue: queue
    ) { [weak player] in if let player { boundaries.add(player.currentTime()) } }
    player.play()
    let item = try #require(player.currentItem)
    let ends = Heard(.AVPlayerItemDidPlayToEndTime, item)
    await waitUntil { ends.count > 0 }
    await waitUntil { boundaries.count > 0 && periods.count > 0 }
    // None twice and none early; a busy machine may be late for some, and report two at once.
    let passed = boundaries.all
    #expect(ends.count == 1 && (1...3).contains(passed.count))
    #expect(zip(passed, marks).allSatisfy { $0.seconds > $1 - 0.01 })
    let tenths = Set(periods.all.map { Int(($0.seconds * 10).rounded(.down)) })
    #expect(!tenths.isEmpty && tenths.isSubset(of: Set(0...20)))
    player.removeTimeObserver(periodic)
    player.removeTimeObserver(boundary)
    let before = periods.count
    await player.seek(to: .zero)
    // A pending notification may still come.
    #expect(periods.count <= before + 1 && boundaries.count <= passed.count + 1)
  }

  @Test func anotherItemTakesOverWhilePlaying() async throws {
    let first = try Fixture.movie()
    let second = try Fixture.hevc()
    let player = Self.player(first)
    let layer = AVPlayerLayer(player: player)
    let shown = Gathered<CMTime>()
    layer.frameHandler = { image, time in if image != nil { shown.add(time) } }
    let old = try #require(player.currentItem)
    let oldEnds = Heard(.AVPlayerItemDidPlayToEndTime, old)
    await waitUntil { layer.isReadyForDisplay }
    // Slowly, so that it has not ended when it is examined.
    player.rate = 0.125
    await waitUntil { player.currentTime().seconds > 0.05 }
    #expect(player.timeControlStatus == .playing)
    let item = AVPlayerItem(url: URL(fileURLWithPath: second))
    let ends = Heard(.AVPlayerItemDidPlayToEndTime, item)
    player.replaceCurrentItem(with: item)
    #expect(player.currentItem === item && player.rate == 0.125)
    let (stopped, seen) = (old.currentTime(), shown.count)
    player.play()
    await waitUntil { ends.count > 0 && shown.count > seen }
    #expect(ends.count == 1 && oldEnds.count == 0 && old.currentTime() == stopped)
    #expect(shown.all.first == .zero && shown.count > seen)
    player.replaceCurrentItem(with: nil)
    #expect(player.currentItem == nil && player.currentTime() == .zero && player.status == .unknown)
    player.play()
    #expect(player.timeControlStatus == .waitingToPlayAtSpecifiedRate)
    #expect(player.reasonForWaitingToPlay == .noItemToPlay)
    await waitUntil { !layer.isReadyForDisplay }
    #expect(!layer.isReadyForDisplay)
  }

  @Test func endActionNoneGoesOnAfterASeek() async throws {
    let player = Self.player(try Fixture.movie())
    let item = try #require(player.currentItem)
    player.actionAtItemEnd = .none
    item.forwardPlaybackEndTime = CMTime(value: 1, timescale: 4)
    let ends = Heard(AVPlayerItem.didPlayToEndTimeNotification, item)
    let token = NotificationCenter.default.addObserver(
      forName: .AVPlayerItemDidPlayToEndTime, object: item, queue: nil
    ) { [weak player] _ in player?.seek(to: .zero) }
    defer { NotificationCenter.default.removeObserver(token) }
    player.play()
    await waitUntil { ends.count >= 3 }
    #expect(ends.count >= 3 && player.rate == 1)
  }

  /// A time of another epoch, or an infinite one, is not in the movie: the item continues.
  @Test func timesOutsideTheMovieLeaveTheItemGoing() async throws {
    let player = Self.player(try Fixture.movie())
    let item = try #require(player.currentItem)
    let output = AVPlayerItemVideoOutput(pixelBufferAttributes: nil)
    item.add(output)
    await waitUntil { item.status == .readyToPlay }
    let other = CMTime(value: 1, timescale: 30, flags: .valid, epoch: .max)
    #expect(!(await item.seek(to: other, toleranceBefore: .zero, toleranceAfter: .zero)))
    item.forwardPlaybackEndTime = other
    let middle = CMTime(value: 1, timescale: 2)
    #expect(await item.seek(to: middle, toleranceBefore: .zero, toleranceAfter: .zero))
    #expect(item.status == .readyToPlay && item.forwardPlaybackEndTime == other)
    let timebase = try #require(item.timebase)
    CMTimebaseSetTime(timebase, time: CMTime(value: .max, timescale: 1))
    item.forwardPlaybackEndTime = .invalid
    item.remove(output)
    item.add(output)
    #expect(await item.seek(to: .zero, toleranceBefore: .zero, toleranceAfter: .zero))
    let ends = Heard(.AVPlayerItemDidPlayToEndTime, item)
    player.play()
    await waitUntil { ends.count > 0 }
    #expect(ends.count == 1 && item.error == nil && item.currentTime() == item.duration)
  }

  /// Steps as from a held arrow key, and then seeks as from a slider.
  @Test func stepsInARowAndSeeksLandOnTheirPictures() async throws {
    let player = Self.player(try Fixture.movie())
    let item = try #require(player.currentItem)
    func time(_ index: Int) -> CMTime { CMTime(value: CMTimeValue(index) * 1001, timescale: 30000) }
    await player.seek(to: time(10), toleranceBefore: .zero, toleranceAfter: .zero)
    for _ in 0..<5 { item.step(byCount: 1) }
    await waitUntil { player.currentTime() == time(15) }
    #expect(player.currentTime() == time(15))
    item.step(byCount: 1)
    #expect(await player.seek(to: time(40), toleranceBefore: .zero, toleranceAfter: .zero))
    #expect(player.currentTime() == time(40))
  }

  /// `playImmediately` restores the property as it is set at its end, not as it was at the call.
  @Test func waitingThatIsSwitchedOffAfterPlayingAtOnceStaysOff() async throws {
    let player = Self.player(try Fixture.movie())
    let item = try #require(player.currentItem)
    await waitUntil { item.status == .readyToPlay }
    for _ in 0..<50 {
      player.automaticallyWaitsToMinimizeStalling = true
      player.playImmediately(atRate: 1)
      player.automaticallyWaitsToMinimizeStalling = false
      item.playback.control.sync {}
      #expect(!item.playback.lock.withLock { item.playback.shared.waits })
      #expect(!player.automaticallyWaitsToMinimizeStalling)
    }
    player.pause()
  }
}
