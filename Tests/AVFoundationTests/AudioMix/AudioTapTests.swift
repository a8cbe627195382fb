// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing
import TestSupport

/// The samples that an audio tap receives and changes, compared with the samples that ffmpeg
/// decodes.
@Suite struct AudioTapTests {
  /// The callbacks of a tap. Its callbacks come one at a time.
  private final class Record: @unchecked Sendable {
    var calls: [String] = []
    var formats: [AudioStreamBasicDescription] = []
    var frames = 0
    var times: [CMTimeRange] = []
    var flags: [MTAudioProcessingTapFlags] = []
    var first: [Float] = []
    var gain: Float = 1
    /// The tap reads no source audio, and outputs a constant.
    var constant: Float?
    var hasOwnMemory = false
  }

  private static func makeTap(
    _ record: Record,
    _ flags: MTAudioProcessingTapCreationFlags = kMTAudioProcessingTapCreationFlag_PreEffects
  ) throws -> MTAudioProcessingTap {
    var callbacks = MTAudioProcessingTapCallbacks(
      version: kMTAudioProcessingTapCallbacksVersion_0, clientInfo: Unmanaged.passRetained(record).toOpaque(),
      init: { tap, info, storage in
        storage.pointee = info
        AudioTapTests.record(of: info)?.calls.append("init")
      },
      finalize: { tap in
        let storage = MTAudioProcessingTapGetStorage(tap)
        AudioTapTests.record(of: storage)?.calls.append("finalize")
        Unmanaged<Record>.fromOpaque(storage).release()
      },
      prepare: { tap, maximum, format in
        guard let record = AudioTapTests.record(of: MTAudioProcessingTapGetStorage(tap)) else { return }
        record.calls.append("prepare \(maximum)")
        record.formats.append(format.pointee)
      },
      unprepare: { tap in
        AudioTapTests.record(of: MTAudioProcessingTapGetStorage(tap))?.calls.append("unprepare")
      },
      process: { tap, count, flags, list, framesOut, flagsOut in
        guard let record = AudioTapTests.record(of: MTAudioProcessingTapGetStorage(tap)) else { return }
        record.flags.append(flags)
        let buffers = UnsafeMutableAudioBufferListPointer(list)
        if let constant = record.constant {
          for buffer in buffers {
            let samples = buffer.mData?.assumingMemoryBound(to: Float.self)
            for index in 0..<count { samples?[index] = constant }
          }
          framesOut.pointee = count
          return
        }
        if record.hasOwnMemory {
          // The source audio is returned in memory of the system.
          for index in buffers.indices { buffers[index].mData = nil }
        }
        var range = CMTimeRange()
        let status = MTAudioProcessingTapGetSourceAudio(tap, count, list, flagsOut, &range, framesOut)
        record.calls.append(status == noErr ? "source" : "error \(status)")
        record.times.append(range)
        record.frames += framesOut.pointee
        for (index, buffer) in buffers.enumerated() {
          guard let samples = buffer.mData?.assumingMemoryBound(to: Float.self) else { continue }
          if index == 0 { record.first += (0..<framesOut.pointee).map { samples[$0] } }
          for frame in 0..<framesOut.pointee { samples[frame] *= record.gain }
        }
      })
    var tap: MTAudioProcessingTap?
    #expect(MTAudioProcessingTapCreate(kCFAllocatorDefault, &callbacks, flags, &tap) == noErr)
    return try #require(tap)
  }

  private static func record(of storage: UnsafeMutableRawPointer?) -> Record? {
    storage.map { Unmanaged<Record>.fromOpaque($0).takeUnretainedValue() }
  }

  /// A movie with audio, and its samples.
  private static func audio() throws -> (path: String, samples: [Float]) {
    let path = try Fixture.make(
      "tap.mov",
      [
        "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=44100:duration=1", "-ac", "2", "-c:a",
        "pcm_s16le",
      ])
    let raw = Scratch().path + ".raw"
    defer { try? FileManager.default.removeItem(atPath: raw) }
    try Tool.run(["ffmpeg", "-v", "error", "-i", path, "-f", "f32le", raw])
    let samples = try Data(contentsOf: URL(fileURLWithPath: raw)).withUnsafeBytes {
      Array($0.bindMemory(to: Float.self))
    }
    return (path, samples)
  }

  private static func read(
    _ asset: AVAsset, _ parameters: AVMutableAudioMixInputParameters, range: CMTimeRange? = nil
  ) throws -> [Float] {
    let mix = AVMutableAudioMix()
    mix.inputParameters = [parameters]
    let output = AVAssetReaderAudioMixOutput(
      audioTracks: asset.tracks(withMediaType: .audio),
      audioSettings: [
        AVFormatIDKey: kAudioFormatLinearPCM, AVLinearPCMBitDepthKey: 32, AVLinearPCMIsFloatKey: true,
      ])
    output.audioMix = mix
    return try ReaderTests.read(output, of: asset, range: range).flatMap { sample in
      try ReaderTests.bytes(sample).withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    }
  }

  @Test(
    "A tap receives every frame with its time, its changes are output, and it is notified when audio begins and ends"
  )
  func aTapSeesAndChangesEveryFrame() throws {
    let (path, samples) = try Self.audio()
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    let record = Record()
    record.gain = 0.5
    let tap = try Self.makeTap(record)
    do {
      let parameters = AVMutableAudioMixInputParameters(track: asset.tracks(withMediaType: .audio).first)
      parameters.audioTapProcessor = tap
      #expect(parameters.audioTapProcessor === tap)
      let heard = try Self.read(asset, parameters)
      #expect(heard.count == samples.count)
      #expect(zip(heard, samples).allSatisfy { abs($0 - $1 / 2) < 1e-6 })
    }
    #expect(record.frames == samples.count / 2)
    #expect(record.first == stride(from: 0, to: samples.count, by: 2).map { samples[$0] })
    #expect(record.calls.prefix(2) == ["init", "prepare 4096"])
    #expect(record.calls.filter { $0.hasPrefix("error") }.isEmpty)
    #expect(record.calls.filter { $0 == "unprepare" }.count == 1)
    let format = try #require(record.formats.first)
    #expect(format.mSampleRate == 44_100 && format.mChannelsPerFrame == 2 && format.mBytesPerFrame == 4)
    #expect(format.mFormatFlags & kAudioFormatFlagIsNonInterleaved != 0)
    #expect(record.times.first?.start == .zero && record.times.last?.end == CMTime(value: 1, timescale: 1))
    #expect(record.flags.first == kMTAudioProcessingTapFlag_StartOfStream)
    #expect(record.flags.last == kMTAudioProcessingTapFlag_EndOfStream)
    #expect(record.flags.dropFirst().dropLast().allSatisfy { $0 == 0 })
  }

  @Test(
    "A tap before the effects receives the track unchanged, one after them at its volume",
    arguments: [kMTAudioProcessingTapCreationFlag_PreEffects, kMTAudioProcessingTapCreationFlag_PostEffects])
  func aTapBeforeTheEffectsHearsTheTrackAsItIs(_ flags: MTAudioProcessingTapCreationFlags) throws {
    let (path, samples) = try Self.audio()
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    let record = Record()
    let parameters = AVMutableAudioMixInputParameters(track: asset.tracks(withMediaType: .audio).first)
    parameters.setVolume(0.25, at: .zero)
    parameters.audioTapProcessor = try Self.makeTap(record, flags)
    let heard = try Self.read(asset, parameters)
    #expect(heard.count == samples.count && zip(heard, samples).allSatisfy { abs($0 - $1 / 4) < 1e-6 })
    let factor: Float = flags == kMTAudioProcessingTapCreationFlag_PreEffects ? 1 : 0.25
    #expect(record.first.enumerated().allSatisfy { abs($0.element - samples[2 * $0.offset] * factor) < 1e-6 })
  }

  @Test("A range begins at its time, also when read twice, and the buffers may belong to the system")
  func aRangeOfTheAssetBeginsAtItsTime() throws {
    let (path, samples) = try Self.audio()
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    let record = Record()
    record.hasOwnMemory = true
    record.gain = 2
    let tap = try Self.makeTap(record)
    let range = CMTimeRange(
      start: CMTime(value: 10_000, timescale: 44_100), duration: CMTime(value: 9000, timescale: 44_100))
    for round in 1...2 {
      record.times = []
      let parameters = AVMutableAudioMixInputParameters(track: asset.tracks(withMediaType: .audio).first)
      parameters.audioTapProcessor = tap
      let heard = try Self.read(asset, parameters, range: range)
      #expect(heard.count == 18_000)
      #expect(heard.enumerated().allSatisfy { abs($0.element - 2 * samples[20_000 + $0.offset]) < 1e-6 })
      #expect(record.times.first?.start == range.start && record.times.last?.end == range.end)
      #expect(record.calls.filter { $0 == "unprepare" }.count == round)
    }
  }

  @Test("A tap that reads no source audio outputs as long as its track")
  func aTapThatAsksForNothingIsHeardAsLongAsItsTrackIs() throws {
    let (path, samples) = try Self.audio()
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    let record = Record()
    record.constant = 0.125
    let parameters = AVMutableAudioMixInputParameters(track: asset.tracks(withMediaType: .audio).first)
    parameters.audioTapProcessor = try Self.makeTap(record)
    let heard = try Self.read(asset, parameters)
    #expect(heard.count == samples.count && heard.allSatisfy { $0 == 0.125 })
  }

  @Test("An exported movie has the audio of the tap")
  func anExportedMovieHasTheAudioOfTheTap() async throws {
    let (path, samples) = try Self.audio()
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    let record = Record()
    record.gain = 0.5
    let parameters = AVMutableAudioMixInputParameters(track: asset.tracks(withMediaType: .audio).first)
    parameters.audioTapProcessor = try Self.makeTap(record)
    let mix = AVMutableAudioMix()
    mix.inputParameters = [parameters]
    let scratch = Scratch()
    let target = scratch.file("tapped.m4a")
    let session = try #require(AVAssetExportSession(asset: asset, presetName: AVAssetExportPresetAppleM4A))
    session.audioMix = mix
    try await session.export(to: URL(fileURLWithPath: target), as: .m4a)
    #expect(record.frames == samples.count / 2)
    let raw = scratch.file("raw")
    try Tool.run(["ffmpeg", "-v", "error", "-i", target, "-f", "f32le", raw])
    let decoded = try Data(contentsOf: URL(fileURLWithPath: raw)).withUnsafeBytes {
      Array($0.bindMemory(to: Float.self))
    }
    func power(_ values: ArraySlice<Float>) -> Double {
      (values.reduce(0) { $0 + Double($1 * $1) } / Double(values.count)).squareRoot()
    }
    let ratio = power(decoded[20_000..<60_000]) / power(samples[20_000..<60_000])
    #expect(abs(ratio - 0.5) < 0.01)
  }

  @Test("A player outputs the audio of the tap of its mix")
  func aPlayerIsHeardAsTheTapOfItsMixMakesIt() async throws {
    let player = PlayerTests.player(try Fixture.movie())
    let item = try #require(player.currentItem)
    let sink = TestSink()
    player.ovtAudioSink = sink
    let track = try #require(item.asset.tracks(withMediaType: .audio).first)
    func loudest(_ gain: Float) async throws -> Float {
      let record = Record()
      record.gain = gain
      let parameters = AVMutableAudioMixInputParameters(track: track)
      parameters.audioTapProcessor = try Self.makeTap(record)
      let mix = AVMutableAudioMix()
      mix.inputParameters = [parameters]
      item.audioMix = mix
      let ends = Heard(.AVPlayerItemDidPlayToEndTime, item)
      let before = sink.heard.count
      #expect(await player.seek(to: .zero, toleranceBefore: .zero, toleranceAfter: .zero))
      player.play()
      await waitUntil { ends.count > 0 }
      return sink.heard.all.dropFirst(before).flatMap(\.samples).map { abs($0) }.max() ?? 0
    }
    let plain = try await loudest(1)
    #expect(plain > 0.05)
    #expect(try await loudest(0) == 0)
    #expect(try await abs(loudest(0.25) / plain - 0.25) < 0.05)
  }

  @Test("A tap lives as long as it is retained, and its finalize callback is called")
  func aTapLivesAsLongAsSomebodyHasIt() throws {
    let record = Record()
    var tap: MTAudioProcessingTap? = try Self.makeTap(record)
    var parameters: AVMutableAudioMixInputParameters? = AVMutableAudioMixInputParameters()
    parameters?.audioTapProcessor = tap
    let mix = AVMutableAudioMix()
    mix.inputParameters = [try #require(parameters)]
    let copy = try #require(mix.copy() as? AVAudioMix)
    #expect(copy.inputParameters.first?.audioTapProcessor === tap)
    (tap, parameters) = (nil, nil)
    mix.inputParameters = []
    #expect(record.calls == ["init"])
    withExtendedLifetime(copy) {}
  }

  @Test("An unreferenced tap is finalized")
  func aTapThatNobodyHasIsFinalized() throws {
    let record = Record()
    var tap: MTAudioProcessingTap? = try Self.makeTap(record)
    #expect(record.calls == ["init"] && tap != nil)
    tap = nil
    #expect(record.calls == ["init", "finalize"])
  }

  @Test("Impossible arguments, and reading source audio outside of the callback, are errors")
  func impossibleArgumentsAreErrors() throws {
    let record = Record()
    let tap = try Self.makeTap(record)
    var list = AudioBufferList()
    #expect(
      MTAudioProcessingTapGetSourceAudio(tap, 10, &list, nil, nil, nil)
        == kMTAudioProcessingTapInvalidArgumentErr)
    var callbacks = MTAudioProcessingTapCallbacks(
      version: 1, clientInfo: nil, init: nil, finalize: nil, prepare: nil, unprepare: nil,
      process: { _, _, _, _, _, _ in })
    var made: Unmanaged<MTAudioProcessingTap>?
    let both = kMTAudioProcessingTapCreationFlag_PreEffects | kMTAudioProcessingTapCreationFlag_PostEffects
    #expect(
      MTAudioProcessingTapCreate(nil, &callbacks, kMTAudioProcessingTapCreationFlag_PreEffects, &made)
        == kMTAudioProcessingTapInvalidArgumentErr)
    callbacks.version = kMTAudioProcessingTapCallbacksVersion_0
    #expect(
      MTAudioProcessingTapCreate(nil, &callbacks, both, &made) == kMTAudioProcessingTapInvalidArgumentErr)
    #expect(MTAudioProcessingTapCreate(nil, &callbacks, 0, &made) == kMTAudioProcessingTapInvalidArgumentErr)
    #expect(made == nil)
    #expect(MTAudioProcessingTapCreate(nil, &callbacks, 1, &made) == noErr)
    let taken = try #require(made).takeRetainedValue()
    #expect(CFGetTypeID(taken) == MTAudioProcessingTapGetTypeID())
  }
}
