// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing
import TestSupport

/// Functions of AVFoundation with numeric arguments, called with extreme values and with NaN: they
/// return, and the process continues.
@Suite(.serialized) struct ExtremeArgumentTests {
  private static let times: [CMTime] =
    [
      .invalid, .indefinite, .positiveInfinity, .negativeInfinity, .zero,
      CMTime(value: 1, timescale: 0, flags: .valid, epoch: 0),
      CMTime(value: 1, timescale: -30, flags: .valid, epoch: 0),
      CMTime(value: 1, timescale: 30, flags: .valid, epoch: .max),
      CMTime(value: .max, timescale: .max, flags: CMTimeFlags(rawValue: .max), epoch: .min),
    ]
    + [Int64.min, -1, 1, 1 << 53, .max].flatMap { value in
      [Int32.min, 1, .max].map { CMTime(value: value, timescale: $0, flags: .valid, epoch: 0) }
    }
  private static let ranges = times.flatMap { start in times.map { CMTimeRange(start: start, duration: $0) } }
  private static let doubles: [Double] = [
    .nan, .infinity, -.infinity, 0, -0.0, 1, -1, 0.5, 1e-300, 1e9, 1e19, 1e300, -1e300,
    .greatestFiniteMagnitude,
  ]

  private let asset: AVURLAsset
  private let video: AVAssetTrack
  private let audio: AVAssetTrack

  init() throws {
    asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    video = try #require(asset.tracks(withMediaType: .video).first)
    audio = try #require(asset.tracks(withMediaType: .audio).first)
  }

  @Test func assetsAndImagesTakeExtremes() async throws {
    let generator = AVAssetImageGenerator(asset: asset)
    for time in Self.times {
      _ = (video.segment(forTrackTime: time), video.samplePresentationTime(forTrackTime: time))
      _ = audio.samplePresentationTime(forTrackTime: time)
      generator.requestedTimeToleranceBefore = time
      generator.requestedTimeToleranceAfter = time
      _ = try? generator.copyCGImage(at: time, actualTime: nil)
    }
    generator.requestedTimeToleranceBefore = .zero
    generator.requestedTimeToleranceAfter = .zero
    for number in Self.doubles {
      generator.maximumSize = CGSize(width: number, height: 1 / number)
      _ = try? generator.copyCGImage(at: .zero, actualTime: nil)
      _ = AVMakeRect(
        aspectRatio: CGSize(width: number, height: 3),
        insideRect: CGRect(x: number, y: -number, width: number, height: 7))
      _ = AVURLAsset(
        url: asset.url, options: [OVTURLAssetElementaryStreamFrameRateKey: NSNumber(value: number)])
    }
    generator.maximumSize = .zero
    #expect(try generator.copyCGImage(at: .zero, actualTime: nil).width == 320)
  }

  @Test func readersTakeExtremes() throws {
    // Some with each start and each duration.
    for range in Self.ranges.indices.filter({ $0 % 5 == 0 }).map({ Self.ranges[$0] }) {
      let reader = try AVAssetReader(asset: asset)
      let output = AVAssetReaderTrackOutput(track: audio, outputSettings: nil)
      reader.add(output)
      reader.timeRange = range
      if reader.startReading() { _ = output.copyNextSampleBuffer() }
      reader.cancelReading()
      let mixing = try AVAssetReader(asset: asset)
      let mix = AVAssetReaderAudioMixOutput(audioTracks: [audio], audioSettings: nil)
      mixing.add(mix)
      mixing.timeRange = range
      if mixing.startReading() { _ = mix.copyNextSampleBuffer() }
      mixing.cancelReading()
    }
    for number in Self.doubles + [-5, 7, 1e6, 4_294_967_296] {
      for key in [AVSampleRateKey, AVNumberOfChannelsKey, AVLinearPCMBitDepthKey, AVFormatIDKey] {
        var settings: [String: Any] = [AVFormatIDKey: kAudioFormatLinearPCM]
        settings[key] = NSNumber(value: number)
        let reader = try AVAssetReader(asset: asset)
        let output = AVAssetReaderTrackOutput(track: audio, outputSettings: settings)
        reader.add(output)
        if reader.startReading() { _ = output.copyNextSampleBuffer() }
        reader.cancelReading()
      }
      for key in [kCVPixelBufferWidthKey, kCVPixelBufferHeightKey, kCVPixelBufferPixelFormatTypeKey] {
        let reader = try AVAssetReader(asset: asset)
        let output = AVAssetReaderTrackOutput(
          track: video, outputSettings: [key as String: NSNumber(value: number)])
        reader.add(output)
        if reader.startReading() { _ = output.copyNextSampleBuffer() }
        reader.cancelReading()
      }
    }
    let reader = try AVAssetReader(asset: asset)
    let output = AVAssetReaderTrackOutput(track: audio, outputSettings: nil)
    reader.add(output)
    #expect(reader.startReading() && output.copyNextSampleBuffer() != nil)
  }

  @Test func compositionsTakeExtremes() throws {
    for (index, range) in Self.ranges.enumerated() {
      let composition = AVMutableComposition()
      let track = try #require(
        composition.addMutableTrack(withMediaType: .audio, preferredTrackID: kCMPersistentTrackID_Invalid))
      try track.insertTimeRange(CMTimeRange(start: .zero, duration: asset.duration), of: audio, at: .zero)
      let time = Self.times[index % Self.times.count]
      let other = Self.ranges[(index * 7 + 3) % Self.ranges.count]
      _ = try? track.insertTimeRange(range, of: audio, at: time)
      track.insertEmptyTimeRange(range)
      track.scaleTimeRange(other, toDuration: time)
      track.scaleTimeRange(range, toDuration: time)
      track.removeTimeRange(other)
      composition.insertEmptyTimeRange(other)
      composition.scaleTimeRange(range, toDuration: time)
      composition.removeTimeRange(range)
      _ = try? composition.insertTimeRange(range, of: asset, at: time)
      _ = (composition.duration, track.timeRange, track.segments.count, track.segment(forTrackTime: time))
      // The rest can be read, or is refused.
      guard index % 25 == 0 else { continue }
      let reader = try AVAssetReader(asset: composition)
      for track in composition.tracks {
        let output = AVAssetReaderTrackOutput(
          track: track,
          outputSettings: track.mediaType == .audio ? [AVFormatIDKey: kAudioFormatLinearPCM] : nil)
        if reader.canAdd(output) { reader.add(output) }
      }
      if reader.startReading() { for output in reader.outputs { _ = output.copyNextSampleBuffer() } }
      reader.cancelReading()
    }
  }

  @Test func mixesAndVideoCompositionsTakeExtremes() throws {
    let parameters = AVMutableAudioMixInputParameters(track: audio)
    let layer = AVMutableVideoCompositionLayerInstruction(assetTrack: video)
    for number in Self.doubles {
      let rect = CGRect(x: number, y: number, width: 1 / number, height: number)
      let transform = CGAffineTransform(a: number, b: 1, c: -number, d: number, tx: number, ty: 1e9)
      for time in Self.times {
        parameters.setVolume(Float(number), at: time)
        layer.setOpacity(Float(number), at: time)
        layer.setTransform(transform, at: time)
        layer.setCropRectangle(rect, at: time)
      }
      for range in Self.ranges.indices.filter({ $0 % 9 == 0 }).map({ Self.ranges[$0] }) {
        parameters.setVolumeRamp(fromStartVolume: Float(number), toEndVolume: .nan, timeRange: range)
        layer.setOpacityRamp(fromStartOpacity: Float(number), toEndOpacity: -5, timeRange: range)
        layer.setTransformRamp(fromStart: transform, toEnd: .identity, timeRange: range)
        layer.setCropRectangleRamp(fromStartCropRectangle: rect, toEndCropRectangle: .zero, timeRange: range)
      }
      for time in Self.times {
        _ = parameters.getVolumeRamp(for: time, startVolume: nil, endVolume: nil, timeRange: nil)
        _ = layer.getOpacityRamp(for: time, startOpacity: nil, endOpacity: nil, timeRange: nil)
      }
      let mix = AVMutableAudioMix()
      mix.inputParameters = [parameters]
      let reader = try AVAssetReader(asset: asset)
      let output = AVAssetReaderAudioMixOutput(
        audioTracks: [audio], audioSettings: [AVFormatIDKey: kAudioFormatLinearPCM])
      output.audioMix = mix
      reader.add(output)
      #expect(reader.startReading() && output.copyNextSampleBuffer() != nil)
      reader.cancelReading()
    }
    for (index, range) in Self.ranges.enumerated() {
      let number = Self.doubles[index % Self.doubles.count]
      let instruction = AVMutableVideoCompositionInstruction()
      instruction.timeRange = index % 3 == 0 ? CMTimeRange(start: .zero, duration: asset.duration) : range
      instruction.layerInstructions = [layer]
      instruction.backgroundColor = CGColor(red: number, green: -number, blue: 2, alpha: number)
      let composition = AVMutableVideoComposition()
      composition.frameDuration = index % 3 == 0 ? CMTime(value: 1, timescale: 2) : range.duration
      composition.renderSize = CGSize(width: index % 3 == 0 ? 64 : number, height: 48)
      composition.renderScale = index % 3 == 0 ? 1 : Float(number)
      composition.instructions = [instruction]
      _ = composition.isValid(for: asset, timeRange: range, validationDelegate: nil)
      guard index % 6 == 0 else { continue }
      let reader = try AVAssetReader(asset: asset)
      let output = AVAssetReaderVideoCompositionOutput(videoTracks: [video], videoSettings: nil)
      output.videoComposition = composition
      reader.add(output)
      if reader.startReading() { _ = output.copyNextSampleBuffer() }
      reader.cancelReading()
    }
  }

  @Test func writersTakeExtremes() async throws {
    let scratch = Scratch()
    for (index, time) in Self.times.enumerated() {
      let number = Self.doubles[index % Self.doubles.count]
      let writer = try AVAssetWriter(url: scratch.url("\(index).mp4"), fileType: .mp4)
      writer.overallDurationHint = time
      writer.movieFragmentInterval = index % 2 == 0 ? time : .invalid
      writer.movieTimeScale = [Int32.min, -1, 0, 1, .max][index % 5]
      let input = AVAssetWriterInput(mediaType: .video, outputSettings: WriterBehaviourTests.video())
      input.transform = CGAffineTransform(a: number, b: 0, c: 0, d: 1, tx: number, ty: 0)
      input.preferredVolume = Float(number)
      input.mediaTimeScale = [Int32.min, -1, 0, 1, .max][index / 5 % 5]
      input.preferredMediaChunkDuration = time
      input.naturalSize = index % 2 == 0 ? .zero : CGSize(width: number, height: number)
      writer.add(input)
      let adaptor = AVAssetWriterInputPixelBufferAdaptor(
        assetWriterInput: input, sourcePixelBufferAttributes: nil)
      guard writer.startWriting() else {
        #expect(writer.error != nil)
        continue
      }
      writer.startSession(atSourceTime: time)
      for frame in 0..<3 {
        _ = adaptor.append(
          try WriterBehaviourTests.picture(frame),
          withPresentationTime: frame == 1 ? time : CMTime(value: Int64(frame), timescale: 30))
      }
      writer.endSession(atSourceTime: time)
      await writer.finishWriting()
      #expect(writer.status == .completed || writer.error != nil)
    }
    // The numbers of a track's header, in a movie that is whole otherwise.
    for (index, number) in Self.doubles.enumerated() {
      let writer = try AVAssetWriter(url: scratch.url("header\(index).mp4"), fileType: .mp4)
      let input = AVAssetWriterInput(mediaType: .video, outputSettings: WriterBehaviourTests.video())
      input.transform = CGAffineTransform(a: 1, b: number, c: 0, d: number, tx: -number, ty: number)
      input.preferredVolume = Float(number)
      writer.add(input)
      let adaptor = AVAssetWriterInputPixelBufferAdaptor(
        assetWriterInput: input, sourcePixelBufferAttributes: nil)
      try #require(writer.startWriting())
      writer.startSession(atSourceTime: .zero)
      for frame in 0..<3 {
        _ = adaptor.append(
          try WriterBehaviourTests.picture(frame),
          withPresentationTime: CMTime(value: Int64(frame), timescale: 30))
      }
      await writer.finishWriting()
      #expect(writer.status == .completed, "\(number) \(String(describing: writer.error))")
    }
    for number in Self.doubles {
      for key in [
        AVVideoAverageBitRateKey, AVVideoMaxKeyFrameIntervalKey, AVVideoMaxKeyFrameIntervalDurationKey,
        AVVideoQualityKey, AVVideoExpectedSourceFrameRateKey,
      ] {
        let writer = try AVAssetWriter(url: scratch.url("a.mp4"), fileType: .mp4)
        _ = writer.canApply(
          outputSettings: WriterBehaviourTests.video([key: NSNumber(value: number)]), forMediaType: .video)
      }
      for key in [AVSampleRateKey, AVNumberOfChannelsKey, AVEncoderBitRateKey, AVEncoderAudioQualityKey] {
        let writer = try AVAssetWriter(url: scratch.url("a.mp4"), fileType: .mp4)
        var settings: [String: Any] = [
          AVFormatIDKey: kAudioFormatMPEG4AAC, AVSampleRateKey: 48000, AVNumberOfChannelsKey: 2,
        ]
        settings[key] = NSNumber(value: number)
        _ = writer.canApply(outputSettings: settings, forMediaType: .audio)
      }
    }
  }

  @Test func exportsTakeExtremes() async throws {
    let scratch = Scratch()
    for (index, range) in Self.ranges.indices.filter({ $0 % 17 == 0 }).map({ Self.ranges[$0] }).enumerated() {
      let session = try #require(
        AVAssetExportSession(asset: asset, presetName: AVAssetExportPresetPassthrough))
      session.outputURL = scratch.url("\(index).mp4")
      session.outputFileType = .mp4
      session.timeRange = range
      session.fileLengthLimit = [Int64.min, -1, 0, 1, .max][index % 5]
      _ = (session.maxDuration, session.estimatedOutputFileLength)
      await session.export()
      #expect(session.status == .completed || session.error != nil)
    }
    for number in Self.times {
      let assistant = try #require(AVOutputSettingsAssistant(preset: .preset1280x720))
      assistant.sourceVideoAverageFrameDuration = number
      assistant.sourceVideoMinFrameDuration = number
      _ = (assistant.videoSettings, assistant.audioSettings)
    }
  }

  @Test func playersAndSynchronizersTakeExtremes() async throws {
    let player = AVPlayer(playerItem: AVPlayerItem(asset: asset))
    let item = try #require(player.currentItem)
    let output = AVPlayerItemVideoOutput(pixelBufferAttributes: nil)
    item.add(output)
    await waitUntil { item.status == .readyToPlay }
    let synchronizer = AVSampleBufferRenderSynchronizer()
    for (index, time) in Self.times.enumerated() {
      item.forwardPlaybackEndTime = time
      let after = Self.times[(index * 5) % Self.times.count]
      player.seek(to: time, toleranceBefore: time, toleranceAfter: after) { _ in }
      item.step(byCount: [Int.min, -1, 0, 1, .max][index % 5])
      _ = (
        output.hasNewPixelBuffer(forItemTime: time),
        output.copyPixelBuffer(forItemTime: time, itemTimeForDisplay: nil)
      )
      synchronizer.setRate(1, time: time)
      let observers = [
        player.addPeriodicTimeObserver(forInterval: time, queue: .global()) { _ in },
        player.addBoundaryTimeObserver(forTimes: [NSValue(time: time)], queue: .global()) {},
      ]
      let others = [
        synchronizer.addPeriodicTimeObserver(forInterval: time, queue: .global()) { _ in },
        synchronizer.addBoundaryTimeObserver(forTimes: [NSValue(time: time)], queue: .global()) {},
      ]
      for number in Self.doubles {
        player.rate = Float(number)
        player.volume = Float(number)
        player.defaultRate = Float(number)
        synchronizer.rate = Float(number)
        synchronizer.setRate(Float(number), time: time, atHostTime: time)
        _ = (synchronizer.currentTime(), player.currentTime())
      }
      player.rate = 0
      synchronizer.rate = 0
      for observer in observers { player.removeTimeObserver(observer) }
      for observer in others { synchronizer.removeTimeObserver(observer) }
    }
    // The player still plays.
    item.forwardPlaybackEndTime = .invalid
    player.defaultRate = 1
    // Pending steps overtake a seek; there are many, and the machine may be busy.
    #expect(
      await waitUntil { await player.seek(to: .zero, toleranceBefore: .zero, toleranceAfter: .zero) })
    let ends = Heard(.AVPlayerItemDidPlayToEndTime, item)
    player.play()
    await waitUntil { ends.count > 0 }
    #expect(ends.count == 1 && item.status == .readyToPlay)
  }

  /// Cropping to what is not a rectangle, or to all.
  @Test func cropRectanglesTakeExtremes() throws {
    let rects =
      Self.doubles.flatMap { number in
        [
          CGRect(x: number, y: 0, width: 8, height: 8), CGRect(x: 0, y: 0, width: number, height: 8),
          CGRect(x: number, y: number, width: 1 / number, height: number),
        ]
      } + [.null, .infinite, .zero]
    for rect in rects {
      let layer = AVMutableVideoCompositionLayerInstruction(assetTrack: video)
      layer.setCropRectangle(rect, at: .zero)
      let instruction = AVMutableVideoCompositionInstruction()
      instruction.timeRange = CMTimeRange(start: .zero, duration: asset.duration)
      instruction.layerInstructions = [layer]
      let composition = AVMutableVideoComposition()
      composition.frameDuration = CMTime(value: 1, timescale: 2)
      composition.renderSize = CGSize(width: 64, height: 48)
      composition.instructions = [instruction]
      let reader = try AVAssetReader(asset: asset)
      let output = AVAssetReaderVideoCompositionOutput(videoTracks: [video], videoSettings: nil)
      output.videoComposition = composition
      reader.add(output)
      #expect(reader.startReading() && output.copyNextSampleBuffer() != nil, "\(rect)")
      reader.cancelReading()
    }
  }
}
