// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// Presets, file types and track groups of an export, and reading options of compositions.
@Suite(.serialized) struct ExportChoiceTests {
  private func asset(_ path: String) -> AVURLAsset { AVURLAsset(url: URL(fileURLWithPath: path)) }

  /// Two languages, which ffmpeg puts into one alternate group.
  private func languages() throws -> String {
    try Fixture.make(
      "languages.mp4",
      Fixture.picture + [
        "-f", "lavfi", "-i", "sine=440:d=2", "-f", "lavfi", "-i", "sine=880:d=2", "-map", "0:v", "-map",
        "1:a",
        "-map", "2:a", "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", "-metadata:s:a:0",
        "language=eng", "-metadata:s:a:1", "language=deu", "-disposition:a:0", "0", "-disposition:a:1",
        "default",
      ])
  }

  private func audioLanguages(_ path: String) throws -> [String] {
    try Tool.run([
      "ffprobe", "-v", "error", "-select_streams", "a", "-show_entries", "stream_tags=language", "-of",
      "csv=p=0", path,
    ]).split(separator: "\n").map { String($0) }
  }

  @Test(
    "All tracks of an alternate group are written, or only the enabled one, as the session is configured"
  )
  func tracksThatStandInForEachOtherAreAllWritten() async throws {
    let scratch = Scratch()
    let cases: [(name: String, handling: AVAssetTrackGroupOutputHandling?, expected: [String])] = [
      ("unset.mov", nil, ["eng", "deu"]), ("all.mov", .preserveAlternateTracks, ["eng", "deu"]),
      ("one.mov", .defaultPolicy, ["deu"]),
    ]
    for preset in [AVAssetExportPresetPassthrough, AVAssetExportPreset640x480] {
      for (name, handling, expected) in cases {
        let session = try #require(
          AVAssetExportSession(asset: asset(try languages()), presetName: preset))
        if let handling { session.audioTrackGroupHandling = handling }
        #expect(session.audioTrackGroupHandling == handling ?? .preserveAlternateTracks)
        let url = scratch.url(preset + name)
        try await session.export(to: url, as: .mov)
        #expect(try audioLanguages(url.path) == expected, "\(preset) \(name)")
      }
    }
    let mixed = try #require(
      AVAssetExportSession(asset: asset(try languages()), presetName: AVAssetExportPreset640x480))
    mixed.audioTrackGroupHandling = .preserveAlternateTracks
    mixed.audioMix = AVMutableAudioMix()
    await #expect {
      try await mixed.export(to: scratch.url("mixed.mov"), as: .mov)
    } throws: { ($0 as? AVError)?.code == .incorrectlyConfigured }
    #expect(!FileManager.default.fileExists(atPath: scratch.file("mixed.mov")))
  }

  @Test("A range that begins within a long picture begins with that picture")
  func rangesBeginWithAPicture() async throws {
    let slides = try Fixture.make(
      "slides.mp4",
      [
        "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=0.25:duration=12", "-c:v", "libx264", "-preset",
        "ultrafast", "-pix_fmt", "yuv420p",
      ])
    let session = try #require(
      AVAssetExportSession(asset: asset(slides), presetName: AVAssetExportPreset640x480))
    session.timeRange = CMTimeRange(
      start: CMTime(value: 2, timescale: 1), end: CMTime(value: 11, timescale: 1))
    let scratch = Scratch()
    let url = scratch.url("part.mp4")
    try await session.export(to: url, as: .mp4)
    let packets = try Tool.run([
      "ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts_time,flags", "-of",
      "csv=p=0", url.path,
    ]).split(separator: "\n").map { $0.split(separator: ",") }
    #expect(packets.compactMap { Double($0[0]) }.sorted() == [0, 2, 6], "\(packets)")
    // Players discard pictures that begin before an edit does.
    #expect(!packets.contains { $0[1].contains("D") }, "\(packets)")
  }

  @Test("A first picture that is shortened does not decide the frame rate")
  func cutPicturesChangeNoLevel() async throws {
    let movie = try Fixture.make(
      "thirty.mp4",
      [
        "-f", "lavfi", "-i", "testsrc2=size=640x480:rate=30:duration=2", "-c:v", "libx264", "-preset",
        "ultrafast", "-pix_fmt", "yuv420p",
      ])
    func level(from start: Double) async throws -> String {
      let session = try #require(
        AVAssetExportSession(asset: asset(movie), presetName: AVAssetExportPreset640x480))
      session.timeRange = CMTimeRange(
        start: CMTime(seconds: start, preferredTimescale: 90_000), duration: CMTime(value: 1, timescale: 1))
      let scratch = Scratch()
      let url = scratch.url("level.mp4")
      try await session.export(to: url, as: .mp4)
      return try Tool.run([
        "ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "stream=level", "-of", "csv=p=0",
        url.path,
      ])
    }
    // The picture that is shown then ends 2 ms later.
    let (whole, cut) = (try await level(from: 0.5), try await level(from: 0.5313))
    #expect(whole == cut && !whole.isEmpty, "\(whole), \(cut)")
  }

  @Test("Apple's presets for .m4v files make only such files, of H.264 within their sizes")
  func applesPresetsFor() async throws {
    let scratch = Scratch()
    let source = try Fixture.make(
      "large.mp4",
      [
        "-f", "lavfi", "-i", "testsrc2=s=1280x720:r=25:d=0.4", "-f", "lavfi", "-i", "sine=440:d=0.4", "-c:v",
        "libx264", "-preset", "ultrafast", "-c:a", "pcm_s16le", "-f", "mov",
      ])
    let presets: [(String, width: Int, height: Int)] = [
      (AVAssetExportPresetAppleM4VCellular, 176, 98), (AVAssetExportPresetAppleM4ViPod, 640, 360),
      (AVAssetExportPresetAppleM4V480pSD, 640, 360), (AVAssetExportPresetAppleM4VAppleTV, 960, 540),
      (AVAssetExportPresetAppleM4VWiFi, 480, 270), (AVAssetExportPresetAppleM4V720pHD, 1280, 720),
      (AVAssetExportPresetAppleM4V1080pHD, 1280, 720),
    ]
    for (preset, width, height) in presets {
      #expect(AVAssetExportSession.allExportPresets().contains(preset))
      let session = try #require(AVAssetExportSession(asset: asset(source), presetName: preset))
      #expect(session.supportedFileTypes == [.m4v])
      #expect(session.allowsParallelizedExport)
      session.allowsParallelizedExport = false
      #expect(!session.allowsParallelizedExport)
      let url = scratch.url(preset)
      try await session.export(to: url, as: .m4v)
      let properties = try Tool.run([
        "ffprobe", "-v", "error", "-show_entries", "stream=codec_name,width,height", "-of", "csv=p=0",
        url.path,
      ]).split(separator: "\n").map { String($0) }
      #expect(properties == ["h264,\(width),\(height)", "aac"], "\(preset)")
      #expect(try Data(contentsOf: url)[8..<12].elementsEqual("M4V ".utf8))
    }
    await #expect {
      let session = try #require(
        AVAssetExportSession(asset: self.asset(source), presetName: AVAssetExportPresetAppleM4ViPod))
      try await session.export(to: scratch.url("no.mov"), as: .mov)
    } throws: { ($0 as? AVError)?.code == .operationNotSupportedForPreset }
  }

  @Test("Presets without an encoder are listed by name, but create no session")
  func presetsWithoutAnEncoderAreKnownByName() throws {
    let source = asset(try Fixture.movie())
    for preset in [
      AVAssetExportPresetAppleProRes422LPCM, AVAssetExportPresetAppleProRes4444LPCM,
      AVAssetExportPresetMVHEVC960x960, AVAssetExportPresetMVHEVC1440x1440,
    ] {
      #expect(!AVAssetExportSession.allExportPresets().contains(preset))
      #expect(AVAssetExportSession(asset: source, presetName: preset) == nil)
    }
  }

  @Test("File types that are not movies are refused by name")
  func fileTypesThatAreNoMoviesAreRefusedByName() throws {
    let scratch = Scratch()
    for type in [AVFileType.SCC, .appleiTT, .AHAP, .dicom] {
      #expect {
        try AVAssetWriter(outputURL: scratch.url("a"), fileType: type)
      } throws: { error in
        let error = error as? AVError
        return error?.code == .formatUnsupported && error?.fileType == type
      }
    }
    #expect(scratch.contents.isEmpty)
  }

  // MARK: - Compositions

  @Test("Segments with a URL are opened with the composition's options, also in copies")
  func segmentsThatNameAFileAreOpenedWithTheCompositionsOptions() async throws {
    let path = try Fixture.elementary()
    let options: [String: Any] = [OVTURLAssetElementaryStreamFrameRateKey: NSNumber(value: 10)]
    func duration(_ composition: AVMutableComposition) throws -> CMTime? {
      let track = try #require(composition.addMutableTrack(withMediaType: .video, preferredTrackID: 1))
      let range = CMTimeRange(start: .zero, duration: CMTime(value: 1, timescale: 1))
      track.segments = [
        AVCompositionTrackSegment(
          url: URL(fileURLWithPath: path), trackID: 1, sourceTimeRange: range, targetTimeRange: range)
      ]
      return track.minFrameDuration
    }
    let plain = AVMutableComposition()
    #expect(plain.urlAssetInitializationOptions.isEmpty)
    #expect(try duration(plain) == CMTime(value: 1001, timescale: 30000))
    let slow = AVMutableComposition(urlAssetInitializationOptions: options)
    #expect(slow.urlAssetInitializationOptions.keys.elementsEqual(options.keys))
    #expect(try duration(slow) == CMTime(value: 1, timescale: 10))
    let copy = try #require(slow.copy() as? AVComposition)
    #expect(copy.urlAssetInitializationOptions.keys.elementsEqual(options.keys))
    #expect(copy.tracks.first?.minFrameDuration == CMTime(value: 1, timescale: 10))
  }

  @Test(
    "A replaced format description is reported and attached to the samples; decoded pictures have its colours"
  )
  func aFormatThatAnotherTakesThePlaceOfIsReported() async throws {
    let source = asset(try Fixture.movie())
    let video = try #require(try await source.loadTracks(withMediaType: .video).first)
    let original = try #require(try await video.load(.formatDescriptions).first)
    let extensions = NSMutableDictionary(
      dictionary: CMFormatDescriptionGetExtensions(original) as? [AnyHashable: Any] ?? [:])
    extensions[kCMFormatDescriptionExtension_ColorPrimaries] = kCMFormatDescriptionColorPrimaries_P3_D65
    extensions[kCMFormatDescriptionExtension_TransferFunction] =
      kCMFormatDescriptionTransferFunction_ITU_R_709_2
    extensions[kCMFormatDescriptionExtension_YCbCrMatrix] = kCMFormatDescriptionYCbCrMatrix_ITU_R_709_2
    var made: CMFormatDescription?
    let size = CMVideoFormatDescriptionGetDimensions(original)
    CMVideoFormatDescriptionCreate(
      allocator: nil, codecType: CMFormatDescriptionGetMediaSubType(original), width: size.width,
      height: size.height, extensions: extensions, formatDescriptionOut: &made)
    let replacement = try #require(made)

    let composition = AVMutableComposition()
    let track = try #require(composition.addMutableTrack(withMediaType: .video, preferredTrackID: 1))
    try track.insertTimeRange(video.timeRange, of: video, at: .zero)
    #expect(track.formatDescriptionReplacements.isEmpty)
    track.replaceFormatDescription(original, with: replacement)
    #expect(track.formatDescriptionReplacements.map(\.replacementFormatDescription) == [replacement])
    #expect(track.formatDescriptionReplacements.map(\.originalFormatDescription) == [original])
    #expect(track.formatDescriptions as? [CMFormatDescription] == [replacement])

    func first(_ settings: [String: Any]?) throws -> CMSampleBuffer {
      let reader = try AVAssetReader(asset: composition)
      let output = AVAssetReaderTrackOutput(track: track, outputSettings: settings)
      reader.add(output)
      #expect(reader.startReading())
      return try #require(output.copyNextSampleBuffer())
    }
    #expect(CMSampleBufferGetFormatDescription(try first(nil)) == replacement)
    func primaries() throws -> String? {
      let image = try #require(CMSampleBufferGetImageBuffer(try first([:])))
      return CVBufferCopyAttachment(image, kCVImageBufferColorPrimariesKey, nil) as? String
    }
    #expect(try primaries() == kCVImageBufferColorPrimaries_P3_D65 as String)
    // The copy keeps it; a format of other media changes nothing, and nil takes it back.
    let copy = try #require(composition.copy() as? AVComposition)
    #expect(copy.tracks.first?.formatDescriptions as? [CMFormatDescription] == [replacement])
    track.replaceFormatDescription(
      original, with: try CMFormatDescription(mediaType: .text, mediaSubType: .mobile3GPP))
    #expect(track.formatDescriptionReplacements.isEmpty)
    #expect(CMSampleBufferGetFormatDescription(try first(nil)) == original)
    withExtendedLifetime(source) {}
  }

  // MARK: - Groups of pictures

  @Test("Groups of pictures are refused with the reason: no encoder takes them")
  func groupsOfPicturesAreRefusedWithTheReason() async throws {
    let scratch = Scratch()
    let settings: [String: Any] = [
      AVVideoCodecKey: AVVideoCodecType.h264, AVVideoWidthKey: 64, AVVideoHeightKey: 64,
    ]
    var picture: CVPixelBuffer?
    CVPixelBufferCreate(nil, 64, 64, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, nil, &picture)
    let tagged = CMTaggedBuffer(tags: [.stereoView(.leftEye)], pixelBuffer: try #require(picture))
    let writer = try AVAssetWriter(outputURL: scratch.url("a.mov"), fileType: .mov)
    let input = AVAssetWriterInput(mediaType: .video, outputSettings: settings)
    let adaptor = AVAssetWriterInputTaggedPixelBufferGroupAdaptor(
      assetWriterInput: input,
      sourcePixelBufferAttributes: [
        kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange
      ])
    #expect(adaptor.pixelBufferPool == nil)
    writer.add(input)
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    #expect(adaptor.pixelBufferPool != nil)
    #expect(!adaptor.appendTaggedBuffers([tagged, tagged], withPresentationTime: .zero))
    #expect(writer.status == .failed)
    #expect((writer.error as? AVError)?.code == .encoderNotFound)

    let other = try AVAssetWriter(outputURL: scratch.url("b.mov"), fileType: .mov)
    let receiver = other.inputTaggedPixelBufferGroupReceiver(
      for: AVAssetWriterInput(mediaType: .video, outputSettings: settings), pixelBufferAttributes: nil)
    try other.start()
    other.startSession(atSourceTime: .zero)
    await #expect {
      try await receiver.append([CMTaggedDynamicBuffer(unsafeBuffer: tagged)], with: .zero)
    } throws: { ($0 as? AVError)?.code == .encoderNotFound }
    #expect(scratch.contents.isEmpty)
  }

  // MARK: - Choices

  @Test("Media selections contain the choice in each group, and all possible choices")
  func mediaSelectionsHoldWhatIsChosenInEachGroup() async throws {
    let movie = asset(try languages())
    let group = try #require(try await movie.loadMediaSelectionGroup(for: .audible))
    let preferred = try await movie.load(.preferredMediaSelection)
    #expect(preferred.asset === movie)
    #expect(preferred.selectedMediaOption(in: group)?.extendedLanguageTag == "deu")
    #expect(preferred.mediaSelectionCriteriaCanBeAppliedAutomatically(to: group))
    let mutable = try #require(preferred.mutableCopy() as? AVMutableMediaSelection)
    mutable.select(group.options.first { $0.extendedLanguageTag == "eng" }, in: group)
    #expect(mutable.selectedMediaOption(in: group)?.extendedLanguageTag == "eng")
    #expect(!mutable.mediaSelectionCriteriaCanBeAppliedAutomatically(to: group))
    // Audio must be played.
    mutable.select(nil, in: group)
    #expect(mutable.selectedMediaOption(in: group)?.extendedLanguageTag == "eng")
    #expect(preferred.selectedMediaOption(in: group)?.extendedLanguageTag == "deu")
    let all = try await movie.load(.allMediaSelections)
    #expect(all.compactMap { $0.selectedMediaOption(in: group)?.extendedLanguageTag } == ["eng", "deu"])
    #expect(try await movie.load(.canContainFragments))
    #expect(try await movie.load(.containsFragments) == false)
    #expect(try await movie.load(.isCompatibleWithAirPlayVideo))
    let stream = asset(try Fixture.elementary())
    #expect(try await stream.load(.canContainFragments) == false)
    #expect(try await stream.load(.allMediaSelections).isEmpty)
    let fragments = asset(
      try Fixture.make(
        "in-fragments.mp4", Fixture.picture + ["-c:v", "libx264", "-movflags", "frag_keyframe+empty_moov"]))
    #expect(try await fragments.load(.containsFragments))
  }
}
