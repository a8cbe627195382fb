// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import RealTimeTransport
import Testing

@testable import vtencode

/// How the audio of a device is placed by the times that it reports.
@Suite struct CaptureClockTests {
  private static let piece = 960

  @Test func jitterChangesNothing() {
    var clock = CaptureClock()
    var generator = SeededGenerator(seed: 5)
    for number in 0..<3000 {
      let jitter = Int64.random(in: -2000...2000, using: &generator)
      let captured = 1000 + Int64(number * Self.piece) + (number == 0 ? 0 : jitter)
      let (position, stretch) = clock.place(frames: Self.piece, captured: captured)
      #expect(position == 1000 + Int64(number * Self.piece))
      #expect(stretch == 0)
    }
    #expect(clock.gaps == 0)
  }

  @Test func lostAudioLeavesAGap() {
    var clock = CaptureClock()
    for number in 0..<100 {
      let lost: Int64 = number < 50 ? 0 : 30_000
      let (position, _) = clock.place(
        frames: Self.piece, captured: Int64(number * Self.piece) + lost)
      #expect(position == Int64(number * Self.piece) + lost)
    }
    #expect(clock.gaps == 1 && clock.lostFrames == 30_000)
  }

  /// A device whose clock differs by many millionths, as a simulation: it gives a thousandth more
  /// or less where it is asked to.
  @Test(arguments: [-300.0, -50, 50, 300])
  func clocksThatDifferStayTogether(millionths: Double) {
    var clock = CaptureClock()
    var (time, extra, worst) = (0.0, 0, 0.0)
    var generator = SeededGenerator(seed: 6)
    // An hour. A device that counts too slowly takes longer for its frames.
    for number in 0..<180_000 {
      let frames = Self.piece + extra
      let jitter = number == 0 ? 0 : Double.random(in: -0.002...0.002, using: &generator)
      let captured = Int64(((time + jitter) * 48_000).rounded())
      let (position, stretch) = clock.place(frames: frames, captured: captured)
      worst = max(worst, abs(Double(position) / 48_000 - time))
      time += Double(Self.piece) / 48_000 * (1 + millionths / 1e6)
      extra = stretch
    }
    // Without correction it were 180 ms or more.
    #expect(worst < 0.025, "\(worst)")
    #expect(clock.gaps == 0)
  }

  @Test func audioWithoutAClockIsCounted() {
    var clock = CaptureClock()
    // A file is read ten times as fast; then the reader has to wait for a minute.
    for number in 0..<400 {
      let wait: Int64 = number < 300 ? 0 : 60 * 48_000
      let (position, stretch) = clock.place(
        frames: Self.piece, captured: Int64(number * Self.piece / 10) + wait)
      #expect(position == Int64(number * Self.piece))
      // Up to half a second it may be drift.
      if number > 30 { #expect(stretch == 0) }
    }
    #expect(clock.gaps == 0)
    var counted = CaptureClock()
    #expect(counted.place(frames: 10, captured: nil) == (0, 0))
    #expect(counted.place(frames: 10, captured: nil) == (10, 0))
  }
}

/// Audio of an input that a test makes.
@Suite struct CapturedAudioTests {
  /// Pieces at given times, and then the end or an error.
  private final class Pieces: AudioInput {
    let channels = 1
    private var pieces: [AudioInputPiece]
    private let failure: Failure?

    init(_ pieces: [AudioInputPiece], failure: Failure? = nil) {
      (self.pieces, self.failure) = (pieces, failure)
    }

    func read() throws -> AudioInputPiece? {
      guard pieces.isEmpty else { return pieces.removeFirst() }
      if let failure { throw failure }
      return nil
    }

    func stretch(by frames: Int, over distance: Int) {}
  }

  private static func ones(_ seconds: Double) -> Data {
    [Float](repeating: 1, count: Int(seconds * 48_000)).withUnsafeBytes { Data($0) }
  }

  private static func values(_ sample: CMSampleBuffer) throws -> [Float] {
    let data = try #require(try sample.dataBuffer?.dataBytes())
    return data.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
  }

  @Test("Audio begins with the pictures, gaps are silent, and it ends where they end")
  func trackIsAsLongAsThePictures() throws {
    // From 0.5 s before the pictures to 1.5 s after their beginning, without 0.5 to 1.
    let input = Pieces([
      .init(data: Self.ones(1), captured: 9.5), .init(data: Self.ones(0.5), captured: 11),
    ])
    let audio = CapturedAudio(input, name: "alsa:x")
    let captured = MovieSource.Captured(audio)
    let synchronizer = AudioSynchronizer()
    let track = try CapturedAudioTrack(captured, volume: 0.5, bitRate: nil, synchronizer: synchronizer)
    // The pictures go from 7 to 9 s.
    captured.begin(CMTime(value: 7, timescale: 1), captured: 10)
    synchronizer.advance(to: CMTime(value: 9, timescale: 1))
    synchronizer.finish(isCut: true)
    var heard: [Float] = []
    while let sample = try track.next() {
      #expect(abs(sample.presentationTimeStamp.seconds - 7 - Double(heard.count) / 48_000) < 1e-6)
      heard += try Self.values(sample)
    }
    #expect(heard.count == 2 * 48_000)
    for (range, value) in [
      (0..<24_000, 0.5), (24_000..<48_000, 0), (48_000..<72_000, 0.5), (72_000..<96_000, 0),
    ] {
      let wrong = heard[range].count { $0 != Float(value) }
      #expect(wrong == 0, "\(range)")
    }
    let remark = try #require(track.remark)
    #expect(remark.contains("1 gap of 0.50 s in all filled with silence"), "\(remark)")
    #expect(remark.contains("alsa:x has ended"), "\(remark)")
  }

  @Test func failuresAreReported() throws {
    let audio = CapturedAudio(Pieces([], failure: Failure("'x' gives no audio any more")), name: "alsa:x")
    audio.begin(at: 0)
    #expect(audio.next() == nil)
    #expect(audio.failure == "'x' gives no audio any more")
    let sending = CapturedCallAudio(audio)
    #expect(throws: Failure.self) { try sending.next() }
  }

  @Test func stoppingEndsTheWait() throws {
    let audio = CapturedAudio(Pieces([]), name: "alsa:x")
    // It has not begun, so that without the stop the wait would last.
    audio.stop()
    #expect(audio.next() == nil && audio.failure == nil && audio.remark == nil)
  }

  @Test("The test tone is 440 Hz, and 880 Hz for a tenth of each second")
  func testTone() throws {
    let tone = TestTone()
    var values: [Float] = []
    while values.count < 2 * 48_000, let piece = try tone.read() {
      values += piece.data.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    }
    #expect(Sinusoid.share(of: 880, in: values[0..<4800]) > 0.999)
    #expect(Sinusoid.share(of: 440, in: values[4800..<48_000]) > 0.999)
    #expect(values[48_000..<96_000].elementsEqual(values[0..<48_000]))
  }

  @Test func namesOfSources() {
    #expect(AudioSource("pulse:") == .device(.pulse, name: "default"))
    #expect(AudioSource("pulse:alsa_input.usb-1") == .device(.pulse, name: "alsa_input.usb-1"))
    #expect(AudioSource("alsa:plughw:1,0") == .device(.alsa, name: "plughw:1,0"))
    #expect(AudioSource("test:") == .test)
    for bad in ["", "pulse", "test", "test:1", "movie.mp4", "v4l2:/dev/video0"] {
      #expect(AudioSource(bad) == nil, "\(bad)")
    }
  }
}
