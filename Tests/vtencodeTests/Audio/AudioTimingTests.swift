// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import RealTimeTransport
import Testing
import TestSupport
import WebRTC

@testable import vtencode

/// Whether audio and pictures that were sent by WebRTC are received at the same times: of a movie
/// that flashes and beeps at once. Between the ends is a line on a virtual clock that delays audio
/// and pictures by different times, and loses packets.
@Suite struct AudioTimingTests {
  /// A movie whose picture is white, and whose audio is a tone, in the first 100 ms of each second.
  private static func movie(
    _ folder: Folder, seconds: Double, audioOffset: Double = 0, audioSeconds: Double? = nil
  ) throws -> String {
    let path = folder.path("source.mov")
    let run = try CommandLine.run(
      "ffmpeg",
      [
        "-nostdin", "-v", "error", "-f", "lavfi", "-i",
        "color=black:size=160x128:rate=30:duration=\(seconds),drawbox=color=white:t=fill:enable='lt(mod(t,1),0.099)'",
        "-itsoffset", "\(audioOffset)", "-f", "lavfi", "-i",
        "aevalsrc='if(lt(mod(t+\(audioOffset),1),0.1),0.5*sin(2*PI*1000*t),0)':s=44100:duration=\(audioSeconds ?? seconds)",
        "-c:v", "mpeg4", "-q:v", "2", "-g", "1", "-c:a", "pcm_s16le", "-ac", "2", path,
      ])
    try #require(run.status == 0, Comment(rawValue: run.complaints))
    return path
  }

  /// The times at which the pictures become white, and the audio begins after silence.
  private static func onsets(_ path: String) async throws -> (flashes: [Double], beeps: [Double]) {
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    let video = try #require(try await asset.loadTracks(withMediaType: .video).first)
    let audio = try #require(try await asset.loadTracks(withMediaType: .audio).first)
    let reader = try AVAssetReader(asset: asset)
    let pictures = AVAssetReaderTrackOutput(
      track: video,
      outputSettings: [
        kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange
      ])
    let samples = AVAssetReaderTrackOutput(
      track: audio,
      outputSettings: [
        AVFormatIDKey: kAudioFormatLinearPCM, AVSampleRateKey: 48_000, AVNumberOfChannelsKey: 1,
        AVLinearPCMBitDepthKey: 32, AVLinearPCMIsFloatKey: true,
      ])
    reader.add(pictures)
    reader.add(samples)
    try #require(reader.startReading())
    var (flashes, wasWhite) = ([Double](), false)
    while let sample = pictures.copyNextSampleBuffer(), let buffer = sample.imageBuffer {
      CVPixelBufferLockBaseAddress(buffer, .readOnly)
      defer { CVPixelBufferUnlockBaseAddress(buffer, .readOnly) }
      let base = try #require(CVPixelBufferGetBaseAddressOfPlane(buffer, 0))
      let isWhite =
        base.load(fromByteOffset: 64 * CVPixelBufferGetBytesPerRowOfPlane(buffer, 0) + 80, as: UInt8.self)
        > 128
      if isWhite, !wasWhite { flashes.append(sample.presentationTimeStamp.seconds) }
      wasWhite = isWhite
    }
    var (beeps, lastLoud) = ([Double](), -1.0)
    while let sample = samples.copyNextSampleBuffer() {
      let data = try sample.dataBuffer?.dataBytes() ?? Data()
      let values = data.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
      for (index, value) in values.enumerated() where abs(value) > 0.05 {
        let time = sample.presentationTimeStamp.seconds + Double(index) / 48_000
        if time - lastLoud > 0.5 { beeps.append(time) }
        lastLoud = time
      }
    }
    return (flashes, beeps)
  }

  /// Sends the movie, and receives it into another.
  /// - Parameter lag: how much later audio is read and sent than it is due, in seconds. With
  ///   `--loop` it is needed, as the audio of a repetition waits for its first picture, which is
  ///   read here by the same thread.
  private static func send(
    _ path: String, to out: String, loss: Double, options: [String] = [], lag: Double = 0
  ) async throws {
    let source = try await SendSource.open(
      try SendOptions.parse([path, "--whip", "https://127.0.0.1:1/whip"] + options))
    var pictures = try source.pictures()
    let callAudio = try #require(source.audio())
    defer { callAudio.stop() }
    let encoder = try CallEncoder(
      .init(
        width: source.width, height: source.height, frameRate: source.frameRate, recovery: .keyframe,
        rate: 400_000, maxRate: 400_000))
    let opus = try OpusEncoding(channels: callAudio.channels)
    var sending = AudioSender.Configuration(source: 3, payloadType: 120)
    var receiving = AudioReceiver.Configuration(source: 4, payloadTypes: [120])
    (sending.retransmits, receiving.retransmits) = (true, true)
    var (video, audio) = (VideoSender(.init(source: 1, payloadType: 96)), AudioSender(sending))
    var (seen, heard) = (
      VideoReceiver(.init(source: 4, payloadTypes: [96])), AudioReceiver(receiving)
    )
    let output = ReceivedOutput(try ReceivedFile.Place(out, codec: nil, overwrites: false), maxFrames: .max)
    output.audio = try ReceivedAudio()
    func decode(_ frame: VideoReceiver.Frame) throws -> Bool {
      var descriptor = FrameDescriptor(number: UInt16(frame.number), previous: UInt16(frame.number - 1))
      descriptor.isKeyFrame = frame.isKeyFrame
      return try output.decode(
        .init(number: frame.number, timestamp: frame.timestamp, units: frame.units, descriptor: descriptor))
    }
    var generator = SeededGenerator(seed: 11)
    var line: [(at: Double, order: Int, bytes: [UInt8], isControl: Bool, toReceiver: Bool)] = []
    var picture = try pictures.next()
    var waiting: [OpusPacket] = []
    var (hasAudio, order) = (true, 0)
    // The pictures' time 0 is at second 1.
    for millisecond in 0..<6500 {
      let time = Double(millisecond) / 1000
      if let due = picture, 1 + due.time <= time, time < 5.5 {
        var needs = RecoveryPolicy.FrameRequirements()
        needs.forcesKeyFrame = video.wantsKeyFrame
        if let coded = try encoder.encode(due, options: CallEncoder.options(needs, lostTimes: [])) {
          video.send(coded.units, isKeyFrame: coded.coded.isKeyFrame, captured: 1 + due.time, at: time)
        }
        picture = try pictures.next()
      }
      while time >= 1 + lag, time < 5.5, hasAudio,
        waiting.last.map({ Double($0.position) / 48_000 < time - 1 - lag }) ?? true
      {
        guard let (data, start) = try callAudio.next() else {
          hasAudio = false
          break
        }
        waiting += try opus.encode(data, at: Int64((start * 48_000).rounded()))
      }
      while let packet = waiting.first, 1 + lag + Double(packet.position) / 48_000 <= time {
        waiting.removeFirst()
        audio.send(
          packet.bytes, position: packet.position, samples: packet.samples,
          captured: 1 + Double(packet.position) / 48_000, at: time)
      }
      video.poll(at: time)
      audio.poll(at: time)
      try seen.poll(at: time, decode: decode)
      heard.poll(at: time)
      let sent = video.takeOutgoing().map { ($0, 0.02) } + audio.takeOutgoing().map { ($0, 0.07) }
      for ((bytes, isControl), delay) in sent {
        let isLost = !isControl && Double.random(in: 0..<1, using: &generator) < loss
        order += 1
        if !isLost {
          line.append(
            (time + delay + .random(in: 0..<0.01, using: &generator), order, bytes, isControl, true))
        }
      }
      for bytes in seen.takeOutgoing() + heard.takeOutgoing().map({ RTCPPacket.compound($0) }) {
        order += 1
        line.append((time + 0.02, order, bytes, true, false))
      }
      for packet in line.filter({ $0.at <= time }).sorted(by: { ($0.at, $0.order) < ($1.at, $1.order) }) {
        let control = packet.isControl ? RTCPPacket.parse(packet.bytes) ?? [] : []
        if !packet.toReceiver {
          video.receive(control, at: time)
          audio.receive(control, at: time)
        } else if packet.isControl {
          seen.receiveControl(control, at: time)
          heard.receiveControl(control, at: time)
        } else {
          try seen.receive(packet.bytes, at: time, decode: decode)
          heard.receive(packet.bytes, at: time)
        }
      }
      line.removeAll { $0.at <= time }
      try output.take(heard.takePackets()) {
        seen.captureTime(of: $0)
      } audioTime: {
        heard.captureTime(of: $0)
      }
    }
    #expect(try await output.finish() != nil)
  }

  private static func check(_ path: String, count: Int) async throws {
    let (flashes, beeps) = try await onsets(path)
    #expect(flashes.count >= count && beeps.count >= count, "\(flashes) \(beeps)")
    var worst = 0.0
    for flash in flashes.dropFirst() {
      let nearest = try #require(beeps.min { abs($0 - flash) < abs($1 - flash) })
      worst = max(worst, abs(nearest - flash))
    }
    #expect(worst < 0.02, "audio and pictures are \(worst) s apart: \(flashes) \(beeps)")
  }

  @Test(arguments: [0, 0.05]) func audioAndPicturesStayTogether(loss: Double) async throws {
    let folder = try Folder()
    let out = folder.path("received.mp4")
    try await Self.send(try Self.movie(folder, seconds: 4), to: out, loss: loss)
    try await Self.check(out, count: 4)
    let probe = try CommandLine.run(
      "ffprobe",
      [
        "-v", "error", "-select_streams", "a", "-show_entries", "stream=codec_name,channels,sample_rate",
        "-of", "csv=p=0", out,
      ])
    #expect(probe.text.trimmingCharacters(in: .whitespacesAndNewlines) == "aac,48000,2")
  }

  @Test func audioThatBeginsLateComesLate() async throws {
    let folder = try Folder()
    let out = folder.path("received.mov")
    try await Self.send(try Self.movie(folder, seconds: 4, audioOffset: 1.5), to: out, loss: 0)
    let (flashes, beeps) = try await Self.onsets(out)
    #expect(flashes.count == 4 && beeps.count >= 2)
    for beep in beeps where beep < 4 {
      #expect(flashes.contains { abs($0 - beep) < 0.02 }, "\(flashes) \(beeps)")
    }
  }

  /// A movie of 1.8 s that begins again: its flashes are 1 s and 0.8 s apart by turns, so that
  /// audio of another repetition would be found. Its audio is as long as the pictures, or longer.
  @Test(arguments: [1.8, 2.6]) func repetitionsStayTogether(audioSeconds: Double) async throws {
    let folder = try Folder()
    let out = folder.path("received.mov")
    let path = try Self.movie(folder, seconds: 1.8, audioSeconds: audioSeconds)
    try await Self.send(path, to: out, loss: 0, options: ["--loop"], lag: 0.2)
    try await Self.check(out, count: 5)
    let (flashes, beeps) = try await Self.onsets(out)
    let distances = zip(flashes, flashes.dropFirst()).map { $1 - $0 }
    for (distance, expected) in zip(distances, [1, 0.8, 1, 0.8]) {
      #expect(abs(distance - expected) < 0.001, "\(flashes)")
    }
    // Audio after the pictures' end is not heard in the next repetition.
    for beep in beeps where beep < 4 {
      #expect(flashes.contains { abs($0 - beep) < 0.02 }, "\(flashes) \(beeps)")
    }
  }

  /// Audio that reads ahead waits for the next repetition's first picture on its own thread: the
  /// pictures never wait for it, and the end of the session ends its waiting.
  @Test func audioAheadOfThePicturesWaits() async throws {
    let folder = try Folder()
    let path = try Self.movie(folder, seconds: 1.8)
    let source = try await SendSource.open(
      try SendOptions.parse([path, "--whip", "https://127.0.0.1:1/whip", "--loop"]))
    var pictures = try source.pictures()
    let audio = try #require(source.audio())
    let heard = HeardAudio(audio)
    async let end: Void = onThread("audio") { try heard.readToTheEnd() }
    defer { audio.stop() }
    // The first picture of the second repetition is the 55th.
    for number in 1...54 {
      let picture = try pictures.next()
      #expect(picture != nil, "picture \(number)")
    }
    heard.wait(until: 1.79)
    #expect((1.79...1.81).contains(heard.last))
    let next = try pictures.next()
    let again = try #require(next)
    #expect(abs(again.time - 1.8) < 0.001)
    heard.wait(until: 3.59)
    #expect((3.59...3.61).contains(heard.last))
    audio.stop()
    try await end
  }
}

/// Reads audio on a thread of its own, and tells how far it has come.
private final class HeardAudio: @unchecked Sendable {
  // Sendable: `condition` guards the mutable state; one thread alone reads the audio.
  private let audio: any CallAudio
  private let condition = NSCondition()
  private var end = 0.0
  private var isFinished = false

  init(_ audio: any CallAudio) { self.audio = audio }

  func readToTheEnd() throws {
    defer {
      condition.lock()
      isFinished = true
      condition.broadcast()
      condition.unlock()
    }
    while let (data, time) = try audio.next() {
      condition.lock()
      end = time + Double(data.count / (4 * audio.channels)) / 48_000
      condition.broadcast()
      condition.unlock()
    }
  }

  /// The end of what was read, in seconds.
  var last: Double {
    condition.lock()
    defer { condition.unlock() }
    return end
  }

  /// Waits until it has come to a time in seconds, or has ended.
  func wait(until time: Double) {
    condition.lock()
    defer { condition.unlock() }
    while end < time, !isFinished { condition.wait() }
  }
}
