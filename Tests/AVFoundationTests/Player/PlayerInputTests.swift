// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing
import TestSupport

/// Players with damaged movies, and the objects that they leave.
@Suite(.serialized) struct PlayerInputTests {
  @Test func moviesWithoutAudioOrPicturesArePlayed() async throws {
    let audio = try Fixture.make(
      "half.wav", ["-f", "lavfi", "-i", "sine=frequency=440:sample_rate=44100:duration=0.5"])
    for (path, seconds) in [(try Fixture.elementary(), 2.0), (audio, 0.5)] {
      let player = PlayerTests.player(path)
      let layer = AVPlayerLayer(player: player)
      let item = try #require(player.currentItem)
      let ends = Heard(.AVPlayerItemDidPlayToEndTime, item)
      player.play()
      await waitUntil { ends.count > 0 }
      #expect(ends.count == 1)
      if seconds == 2 { await waitUntil { layer.isReadyForDisplay } }
      #expect(abs(player.currentTime().seconds - seconds) < 0.05)
      #expect(layer.isReadyForDisplay == (seconds == 2))
    }
  }

  @Test func whatIsNotAMovieFails() async throws {
    let scratch = Scratch()
    try Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 73) }).write(to: scratch.url("noise.mp4"))
    for path in [scratch.file("noise.mp4"), scratch.file("absent.mp4")] {
      let player = PlayerTests.player(path)
      player.play()
      let item = try #require(player.currentItem)
      await waitUntil { item.status == .failed && player.rate == 0 }
      #expect(item.status == .failed && player.status == .failed && player.rate == 0)
      #expect(player.error is AVError)
      #expect(await player.seek(to: .zero) == false)
    }
  }

  /// With any damage playback ends, and nothing hangs.
  @Test(.timeLimit(.minutes(HangLimit.minutes))) func damagedMoviesEnd() async throws {
    let whole = try Data(contentsOf: URL(fileURLWithPath: Fixture.elementary()))
    let movie = try Data(contentsOf: URL(fileURLWithPath: Fixture.movie("moov.mov")))
    let scratch = Scratch()
    var random = Noise()
    for number in 0..<8 {
      var data = number % 2 == 0 ? whole : movie
      if number < 4 {
        data = data.prefix(data.count * (number + 3) / 8)
      } else {
        for _ in 0..<200 { data[Int.random(in: data.count / 8..<data.count * 3 / 4, using: &random)] ^= 0x55 }
      }
      let url = scratch.url(number % 2 == 0 ? "\(number).264" : "\(number).mov")
      try data.write(to: url)
      let player = AVPlayer(url: url)
      let layer = AVPlayerLayer(player: player)
      let item = try #require(player.currentItem)
      let ends = Heard(.AVPlayerItemDidPlayToEndTime, item)
      let failures = Heard(.AVPlayerItemFailedToPlayToEndTime, item)
      player.rate = 2
      await waitUntil { (ends.count + failures.count > 0 || item.status == .failed) && player.rate == 0 }
      #expect(ends.count + failures.count == 1 || item.status == .failed, "\(number)")
      #expect(player.rate == 0)
      withExtendedLifetime(layer) {}
    }
  }

  /// A truncated file is played as far as possible, the damage is reported, and it can be played
  /// again.
  @Test func whatBreaksOffIsPlayedAndReported() async throws {
    let whole = try Fixture.make("whole.mkv", ["-i", Fixture.movie(), "-c", "copy"])
    let scratch = Scratch()
    let bytes = try Data(contentsOf: URL(fileURLWithPath: whole))
    try bytes.prefix(bytes.count * 7 / 10).write(to: scratch.url("cut.mkv"))
    for (path, isWhole) in [(whole, true), (scratch.file("cut.mkv"), false)] {
      let player = PlayerTests.player(path)
      let layer = AVPlayerLayer(player: player)
      let item = try #require(player.currentItem)
      let ends = Heard(.AVPlayerItemDidPlayToEndTime, item)
      let failures = Heard(.AVPlayerItemFailedToPlayToEndTime, item)
      let errors = Gathered<NSError?>()
      let token = NotificationCenter.default.addObserver(
        forName: .AVPlayerItemFailedToPlayToEndTime, object: item, queue: nil
      ) { errors.add($0.userInfo?[AVPlayerItemFailedToPlayToEndTimeErrorKey] as? NSError) }
      defer { NotificationCenter.default.removeObserver(token) }
      // Before it breaks off, an end is an end.
      item.forwardPlaybackEndTime = CMTime(value: 1, timescale: 2)
      player.play()
      await waitUntil { ends.count + failures.count > 0 }
      #expect(ends.count == 1 && failures.count == 0)
      item.forwardPlaybackEndTime = .invalid
      player.rate = 2
      await waitUntil { ends.count + failures.count > 1 }
      #expect(failures.count == (isWhole ? 0 : 1) && ends.count == (isWhole ? 2 : 1))
      #expect(errors.all.count == failures.count && errors.all.allSatisfy { $0?.code != nil })
      #expect(item.status == .readyToPlay && item.error == nil && player.rate == 0)
      #expect((item.ovtDamage.failure == nil) == isWhole)
      #expect(item.currentTime().seconds > 1 && (item.currentTime() < item.duration) == !isWhole)
      #expect(await item.seek(to: .zero, toleranceBefore: .zero, toleranceAfter: .zero))
      player.rate = 4
      await waitUntil { ends.count + failures.count > 2 }
      #expect(failures.count == (isWhole ? 0 : 2) && ends.count == (isWhole ? 3 : 1))
      player.replaceCurrentItem(with: nil)
      #expect((item.ovtDamage.failure == nil) == isWhole)
      withExtendedLifetime(layer) {}
    }
  }

  @Test func nothingIsLeftOfAPlayer() async throws {
    let path = try Fixture.movie()
    let gone = Gathered<@Sendable () -> Bool>()
    for index in 0..<20 {
      let player = PlayerTests.player(path)
      let layer = AVPlayerLayer(player: player)
      let sink = TestSink()
      player.ovtAudioSink = sink
      player.play()
      if index % 2 == 0 { await waitUntil { player.currentTime().seconds > 0.05 } }
      let item = player.currentItem
      player.seek(to: CMTime(value: 1, timescale: 1)) { _ in }
      let all = [Weak(player), Weak(item), Weak(layer), Weak(sink)]
      gone.add { all.allSatisfy(\.isGone) }
      withExtendedLifetime(layer) {}
    }
    await waitUntil { gone.all.allSatisfy { $0() } }
    #expect(gone.all.allSatisfy { $0() })
  }

  /// The same numbers each time.
  private struct Noise: RandomNumberGenerator {
    private var state: UInt64 = 20_240_607
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 29)
    }
  }

  private final class Weak: @unchecked Sendable {
    private weak var object: AnyObject?
    init(_ object: AnyObject?) { self.object = object }
    var isGone: Bool { object == nil }
  }
}
