// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// Captions, and timed text written and read through them.
@Suite(.serialized) struct CaptionTests {
  private func range(_ start: Double, _ end: Double) -> CMTimeRange {
    CMTimeRange(
      start: CMTime(seconds: start, preferredTimescale: 1000),
      end: CMTime(seconds: end, preferredTimescale: 1000))
  }

  private func nsRange(_ part: String, in text: String) throws -> NSRange {
    NSRange(try #require(text.range(of: part)), in: text)
  }

  // MARK: - Captions

  @Test("Looks hold for the parts they are set for, counted in UTF-16 units, and end where they are removed")
  func looksHoldForThePartsTheyAreSetFor() throws {
    let text = "aé🎬bold end"
    let caption = AVMutableCaption(text, timeRange: range(0, 1))
    caption.setFontWeight(.bold, in: try nsRange("🎬bold", in: text))
    caption.setTextColor(CGColor(srgbRed: 1, green: 0, blue: 0, alpha: 1), in: try nsRange("é🎬", in: text))
    let film = try #require(text.range(of: "🎬"))
    let (weight, weightRange) = caption.fontWeight(at: film.lowerBound)
    #expect(weight == .bold)
    #expect(text[weightRange] == "🎬bold")
    #expect(text[caption.textColor(at: film.lowerBound).1] == "é🎬")
    #expect(caption.textColor(at: text.startIndex).0 == nil)
    #expect(text[caption.fontWeight(at: text.startIndex).1] == "aé")
    #expect(caption.fontWeight(at: text.startIndex).0 == .unknown)
    caption.removeFontWeight(in: try nsRange("ol", in: text))
    #expect(caption.fontWeight(at: try #require(text.range(of: "o")).lowerBound).0 == .unknown)
    #expect(text[caption.fontWeight(at: film.lowerBound).1] == "🎬b")
    #expect(text[caption.fontWeight(at: try #require(text.range(of: "d e")).lowerBound).1] == "d")
    // Ranges beyond the text are cut, and those that are none change nothing.
    caption.setFontStyle(.italic, in: NSRange(location: 8, length: Int.max))
    #expect(caption.fontStyle(at: text.index(before: text.endIndex)).0 == .italic)
    caption.setDecoration(.underline, in: NSRange(location: NSNotFound, length: 1))
    caption.setDecoration(.underline, in: NSRange(location: -3, length: 5))
    #expect(caption.decoration(at: text.startIndex).0 == [])
    #expect(caption.decoration(at: text.endIndex).0 == [])

    let copy = try #require(caption.copy() as? AVCaption)
    #expect(copy == caption)
    caption.text = "other"
    #expect(copy.text == text)
    #expect(copy != caption)
    #expect(caption.fontStyle(at: caption.text.startIndex).0 == .unknown)
    let ruby = AVCaption.Ruby(text: "r", position: .after, alignment: .start)
    caption.setRuby(ruby, in: NSRange(location: 0, length: 2))
    #expect(caption.ruby(at: caption.text.startIndex).0 == ruby)
    caption.removeRuby(in: NSRange(location: 0, length: 5))
    #expect(caption.ruby(at: caption.text.startIndex).0 == nil)
  }

  @Test("Regions are equal by what they say, and copies change on their own")
  func regionsAreEqualByWhatTheySay() throws {
    let region = AVMutableCaptionRegion(identifier: "r")
    region.origin = AVCaptionPoint(
      x: AVCaptionDimension(value: 10, units: .percent), y: AVCaptionDimensionMake(80, .percent))
    region.size = AVCaptionSizeMake(
      AVCaptionDimensionMake(80, .percent), AVCaptionDimensionMake(15, .percent))
    region.displayAlignment = .after
    region.scroll = .rollUp
    region.writingMode = .topToBottomAndRightToLeft
    let copy = try #require(region.copy() as? AVCaptionRegion)
    #expect(copy == region)
    region.scroll = .none
    #expect(copy != region)
    #expect(copy.scroll == .rollUp)
    let bottom = try #require(AVCaptionRegion.appleITTBottom.mutableCopy() as? AVMutableCaptionRegion)
    #expect(bottom == AVCaptionRegion.appleITTBottom)
    bottom.displayAlignment = .before
    #expect(bottom != AVCaptionRegion.appleITTBottom)
    let caption = AVMutableCaption("a", timeRange: range(0, 1))
    caption.region = region
    region.displayAlignment = .center
    #expect(caption.region?.displayAlignment == .after)
  }

  @Test("Captions are grouped by what is shown together")
  func captionsAreGroupedByWhatIsShownTogether() {
    let grouper = AVCaptionGrouper()
    for (text, start, end) in [("a", 0.0, 2.0), ("b", 1, 3), ("c", 4, 5), ("d", 4, 6)] {
      grouper.add(AVCaption(text, timeRange: range(start, end)))
    }
    grouper.add(AVCaption("never", timeRange: .invalid))
    func described(_ groups: [AVCaptionGroup]) -> [String] {
      groups.map { group in
        "\(group.timeRange.start.seconds)-\(group.timeRange.end.seconds) "
          + group.captions.map(\.text).joined(separator: "+")
      }
    }
    #expect(
      described(grouper.flushAddedCaptions(upTo: CMTime(value: 3, timescale: 2)))
        == ["0.0-1.0 a", "1.0-1.5 a+b"])
    #expect(
      described(grouper.flushAddedCaptions(upTo: .positiveInfinity))
        == ["1.5-2.0 a+b", "2.0-3.0 b", "3.0-4.0 ", "4.0-5.0 c+d", "5.0-6.0 d"])
    #expect(grouper.flushAddedCaptions(upTo: .positiveInfinity).isEmpty)
    #expect(grouper.flushAddedCaptions(upTo: .invalid).isEmpty)
  }

  // MARK: - Files

  /// Writes a picture every half second, and captions with them.
  private func write(
    to url: URL, _ type: AVMediaType, _ append: (AVAssetWriterInputCaptionAdaptor) -> Bool
  ) async throws -> AVAssetWriter {
    let writer = try AVAssetWriter(outputURL: url, fileType: .mov)
    let video = AVAssetWriterInput(
      mediaType: .video,
      outputSettings: [AVVideoCodecKey: AVVideoCodecType.h264, AVVideoWidthKey: 64, AVVideoHeightKey: 64])
    let pictures = AVAssetWriterInputPixelBufferAdaptor(assetWriterInput: video)
    let text = AVAssetWriterInput(mediaType: type, outputSettings: nil)
    let captions = AVAssetWriterInputCaptionAdaptor(assetWriterInput: text)
    writer.add(video)
    writer.add(text)
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    if append(captions) {
      for index in 0..<12 {
        var picture: CVPixelBuffer?
        CVPixelBufferCreate(nil, 64, 64, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, nil, &picture)
        #expect(
          pictures.append(
            try #require(picture), withPresentationTime: CMTime(value: Int64(index), timescale: 2)))
      }
    }
    video.markAsFinished()
    text.markAsFinished()
    await writer.finishWriting()
    return writer
  }

  private func groups(
    _ path: String, _ delegate: (any AVAssetReaderCaptionValidationHandling)? = nil
  ) async throws -> [AVCaptionGroup] {
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    let track = try #require(try await asset.loadTracks(withMediaType: .subtitle).first)
    let reader = try AVAssetReader(asset: asset)
    let output = AVAssetReaderTrackOutput(track: track, outputSettings: nil)
    let adaptor = AVAssetReaderOutputCaptionAdaptor(assetReaderTrackOutput: output)
    adaptor.validationDelegate = delegate
    reader.add(output)
    #expect(reader.startReading())
    var found: [AVCaptionGroup] = []
    while let group = adaptor.nextCaptionGroup() {
      #expect(adaptor.captionsNotPresentInPreviousGroups(in: group).count == group.captions.count)
      found.append(group)
    }
    #expect(reader.status == .completed)
    return found
  }

  private func described(_ groups: [AVCaptionGroup]) -> [String] {
    groups.map { group in
      "\(group.timeRange.start.seconds)-\(group.timeRange.end.seconds) \(group.captions.map(\.text))"
    }
  }

  @Test(
    "Captions are stored with their times and looks, overlapping ones as one text, and ffmpeg reads them so")
  func captionsAreStoredWithTheirTimesAndLooks() async throws {
    let scratch = Scratch()
    let styled = AVMutableCaption("Été 🎬 bold", timeRange: range(0.5, 1.5))
    styled.setFontWeight(.bold, in: try nsRange("bold", in: styled.text))
    styled.setFontStyle(.italic, in: try nsRange("Été", in: styled.text))
    styled.setTextColor(
      CGColor(srgbRed: 1, green: 0, blue: 0, alpha: 1), in: try nsRange("🎬", in: styled.text))
    let writer = try await write(to: scratch.url("a.mov"), .subtitle) { adaptor in
      adaptor.append(styled)
        && adaptor.append(AVCaption("one", timeRange: range(2, 4)))
        && adaptor.append(AVCaption("two", timeRange: range(3, 5)))
        && adaptor.append(AVCaptionGroup(timeRange: range(5, 5.2)))
    }
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    let read = try await groups(scratch.file("a.mov"))
    let shown = described(read.filter { !$0.captions.isEmpty })
    #expect(
      shown == [
        "0.5-1.5 [\"Été 🎬 bold\"]", "2.0-3.0 [\"one\"]", "3.0-4.0 [\"one\\ntwo\"]", "4.0-5.0 [\"two\"]",
      ])
    let caption = try #require(read.first { !$0.captions.isEmpty }?.captions.first)
    let text = caption.text
    let bold = try #require(text.range(of: "bold"))
    #expect(caption.fontWeight(at: bold.lowerBound) == (.bold, bold))
    #expect(text[caption.fontStyle(at: text.startIndex).1] == "Été")
    #expect(caption.fontStyle(at: text.startIndex).0 == .italic)
    let film = try #require(text.range(of: "🎬"))
    #expect(caption.textColor(at: film.lowerBound).1 == film)
    #expect(caption.textColor(at: film.lowerBound).0?.components == [1, 0, 0, 1])
    // The result of ffmpeg.
    let lines = try Tool.run([
      "ffmpeg", "-v", "error", "-i", scratch.file("a.mov"), "-map", "0:s:0", "-f", "ass", "-",
    ]).split(whereSeparator: \.isNewline).filter { $0.hasPrefix("Dialogue:") }
    #expect(lines.count == 4)
    let first = try #require(lines.first)
    #expect(first.contains("0:00:00.50,0:00:01.50"))
    #expect(first.contains("{\\i1}Été"))
    #expect(first.contains("{\\b1}bold"))
    #expect(first.contains("&HFF&}🎬") || first.contains("&H0000FF&}🎬"), "\(first)")
  }

  @Test("What timed text cannot say is refused with its name, and taken away by a conformer")
  func whatTimedTextCannotSayIsRefusedWithItsName() async throws {
    let scratch = Scratch()
    func changed(_ change: (AVMutableCaption) -> Void) -> AVCaption {
      let caption = AVMutableCaption("text", timeRange: range(0, 1))
      change(caption)
      return caption
    }
    let all = NSRange(location: 0, length: 4)
    let cases: [AVCaption] = [
      changed { $0.region = .appleITTTop }, changed { $0.textAlignment = .right },
      changed { $0.animation = .characterReveal },
      changed { $0.setRuby(AVCaption.Ruby(text: "r"), in: all) },
      changed { $0.setTextCombine(.all, in: all) },
      changed { $0.setBackgroundColor(CGColor(gray: 0, alpha: 1), in: all) },
      changed { $0.setDecoration([.underline, .lineThrough], in: all) },
      AVCaption(String(repeating: "é", count: 40_000), timeRange: range(0, 1)),
    ]
    let conformer = AVCaptionFormatConformer(conversionSettings: [
      .mediaType: AVMediaType.subtitle, .mediaSubType: NSNumber(value: kCMTextFormatType_3GText),
    ])
    for (index, caption) in cases.enumerated() {
      let url = scratch.url("\(index).mov")
      let refused = try await write(to: url, .subtitle) { $0.append(caption) }
      #expect((refused.error as? AVError)?.code == .invalidSourceMedia)
      #expect(!FileManager.default.fileExists(atPath: url.path))
      let conformed = try conformer.conformedCaption(for: caption)
      let written = try await write(to: url, .subtitle) { $0.append(conformed) }
      #expect(written.status == .completed, "\(index): \(String(describing: written.error))")
      let read = try await groups(url.path).compactMap(\.captions.first)
      #expect(read.first?.text == conformed.text)
      #expect(caption.text.hasPrefix(conformed.text) && !conformed.text.isEmpty)
    }
    #expect(try conformer.conformedCaption(for: cases[6]).decoration(at: "text".startIndex).0 == .underline)
    // Times in frames.
    let framed = AVCaptionFormatConformer(conversionSettings: [
      .mediaType: AVMediaType.text, .timeCodeFrameDuration: NSValue(time: CMTime(value: 1, timescale: 25)),
    ])
    let odd = AVCaption("a", timeRange: range(0.05, 0.055))
    #expect(try framed.conformedCaption(for: odd).timeRange == odd.timeRange)
    framed.conformsCaptionsToTimeRange = true
    #expect(
      try framed.conformedCaption(for: odd).timeRange
        == CMTimeRange(start: CMTime(value: 1, timescale: 25), duration: CMTime(value: 1, timescale: 25)))
    // Closed captions are not made.
    for settings: [AVCaptionSettingsKey: Any] in [
      [.mediaType: AVMediaType.closedCaption], [:],
      [.mediaType: AVMediaType.text, .mediaSubType: NSNumber(value: 0x6336_3038)],
      [.mediaType: AVMediaType.text, .useDropFrameTimeCode: true],
    ] {
      #expect {
        try AVCaptionFormatConformer(conversionSettings: settings).conformedCaption(for: odd)
      } throws: { ($0 as? AVError)?.code == .unsupportedOutputSettings }
    }
  }

  @Test("Captions out of order, without a time, or for other media fail the writer")
  func captionsThatDoNotFitFailTheWriter() async throws {
    let scratch = Scratch()
    let late = try await write(to: scratch.url("a.mov"), .subtitle) { adaptor in
      adaptor.append(AVCaption("a", timeRange: range(2, 3)))
        && adaptor.append(AVCaption("b", timeRange: range(1, 2)))
    }
    #expect((late.error as? AVError)?.code == .invalidSourceMedia)
    let timeless = try await write(to: scratch.url("b.mov"), .text) {
      $0.append(AVCaption("a", timeRange: .invalid))
    }
    #expect((timeless.error as? AVError)?.code == .invalidSourceMedia)
    let metadata = try await write(to: scratch.url("c.mov"), .metadata) {
      $0.append(AVCaption("a", timeRange: range(0, 1)))
    }
    #expect((metadata.error as? AVError)?.code == .operationNotAllowed)
    #expect(scratch.contents.isEmpty)
  }

  private final class Delegate: NSObject, AVAssetReaderCaptionValidationHandling, @unchecked Sendable {
    // Sendable: `lock` guards the list.
    private let lock = NSLock()
    private var list: [String] = []
    var skipped: [String] { lock.withLock { list } }

    func captionAdaptor(
      _ adaptor: AVAssetReaderOutputCaptionAdaptor, didVend caption: AVCaption,
      skippingUnsupportedSourceSyntaxElements syntaxElements: [String]
    ) { lock.withLock { list += syntaxElements } }
  }

  @Test("Subtitles of other files are read as captions, and what is left out of them is reported")
  func subtitlesOfOtherFilesAreReadAsCaptions() async throws {
    let scratch = Scratch()
    try "1\n00:00:00,500 --> 00:00:01,000\nplain <i>slanted</i>\n\n2\n00:00:01,200 --> 00:00:01,800\nlast\n"
      .write(toFile: scratch.file("a.srt"), atomically: true, encoding: .utf8)
    for name in ["a.mkv", "a.mp4"] {
      try Tool.run(
        ["ffmpeg", "-v", "error"] + Fixture.picture + [
          "-i", scratch.file("a.srt"), "-c:v", "libx264", "-preset", "ultrafast", "-c:s",
          name.hasSuffix("mkv") ? "srt" : "mov_text", scratch.file(name),
        ])
      let read = try await groups(scratch.file(name)).filter { !$0.captions.isEmpty }
      #expect(
        described(read) == ["0.5-1.0 [\"plain slanted\"]", "1.2-1.8 [\"last\"]"], "\(name)")
      let caption = try #require(read.first?.captions.first)
      let slanted = try #require(caption.text.range(of: "slanted"))
      #expect(caption.fontStyle(at: slanted.lowerBound) == (.italic, slanted))
    }
    // A box that ffmpeg writes for a highlight is none of a caption's.
    var bytes = try Data(contentsOf: scratch.url("a.mp4"))
    let box = try #require(bytes.range(of: Data("styl".utf8), in: 0..<bytes.count))
    bytes.replaceSubrange(box, with: Data("hclr".utf8))
    try bytes.write(to: scratch.url("b.mp4"))
    let delegate = Delegate()
    let read = try await groups(scratch.file("b.mp4"), delegate).filter { !$0.captions.isEmpty }
    #expect(read.first?.captions.first?.text == "plain slanted")
    #expect(delegate.skipped == ["hclr"])
  }

  private final class Warnings: @unchecked Sendable {
    // Sendable: `lock` guards the list.
    private let lock = NSLock()
    private var list: [AVCaptionConversionWarning] = []
    var all: [AVCaptionConversionWarning] { lock.withLock { list } }
    func add(_ warning: AVCaptionConversionWarning) { lock.withLock { list.append(warning) } }
  }

  @Test("A validator tells which captions lose something, and what time would do")
  func aValidatorTellsWhichCaptionsLoseSomething() async throws {
    let captions = [
      AVCaption("fits", timeRange: range(1, 2)), AVCaption("cut", timeRange: range(9, 11)),
      AVCaption(String(repeating: "a", count: 70_000), timeRange: range(2, 3)),
      AVCaption("outside", timeRange: range(20, 21)),
    ]
    func run(_ validator: AVCaptionConversionValidator) async -> [AVCaptionConversionWarning] {
      let warnings = Warnings()
      await withCheckedContinuation { continuation in
        validator.validateCaptionConversion { warning in
          if let warning { warnings.add(warning) } else { continuation.resume() }
        }
      }
      return warnings.all
    }
    let validator = AVCaptionConversionValidator(
      captions: captions, timeRange: range(0, 10), conversionSettings: [.mediaType: AVMediaType.subtitle])
    #expect(validator.status == .unknown)
    let found = await run(validator)
    #expect(validator.status == .completed)
    #expect(found.map(\.rangeOfCaptions.location) == [1, 2, 3])
    #expect(found == validator.warnings)
    #expect(found.allSatisfy { $0.warningType == .excessMediaData })
    let adjustment = try #require(found[0].adjustment as? AVCaptionConversionTimeRangeAdjustment)
    #expect(adjustment.startTimeOffset == .zero)
    #expect(adjustment.durationOffset == CMTime(value: -1, timescale: 1))
    #expect(found[1].adjustment == nil && found[2].adjustment == nil)
    let other = AVCaptionConversionValidator(
      captions: captions, timeRange: range(0, 10), conversionSettings: [.mediaType: AVMediaType.closedCaption]
    )
    #expect(await run(other).isEmpty)
    #expect(other.status == .stopped)
  }
}
