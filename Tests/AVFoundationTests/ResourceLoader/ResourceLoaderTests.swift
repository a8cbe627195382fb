// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing
import TestSupport

/// Serves a file's bytes, as a program does that has them encrypted, in an archive, or from a
/// server of its own.
private final class FileDelegate: NSObject, AVAssetResourceLoaderDelegate, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  struct Behaviour {
    var hasParts = true
    var tellsLength = true
    /// Bytes of one response.
    var chunk = 100_000
    /// Answers later, from another queue.
    var isAsynchronous = false
    /// Bytes after which the content ends, whatever was said of its length.
    var end = Int.max
    /// Requests that are answered; the others wait forever.
    var answers = Int.max
    var failure: NSError?
    var redirect: URL?
    var isResponsible = true
  }

  let content: Data
  let behaviour: Behaviour
  private let lock = NSLock()
  private var log: [(offset: Int64, length: Int, isFirst: Bool)] = []
  private var cancellations = 0
  private var waiting: [AVAssetResourceLoadingRequest] = []
  private var isSilent = false

  init(_ path: String, _ behaviour: Behaviour = Behaviour()) throws {
    content = try Data(contentsOf: URL(fileURLWithPath: path))
    self.behaviour = behaviour
  }

  var requests: [(offset: Int64, length: Int, isFirst: Bool)] { lock.withLock { log } }
  var cancelled: Int { lock.withLock { cancellations } }
  var unanswered: Int { lock.withLock { waiting.count } }
  /// Answers nothing from now on.
  func fallSilent() { lock.withLock { isSilent = true } }

  func resourceLoader(
    _ resourceLoader: AVAssetResourceLoader,
    shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest
  ) -> Bool {
    guard behaviour.isResponsible, let data = loadingRequest.dataRequest else { return false }
    let count = lock.withLock {
      log.append(
        (data.requestedOffset, data.requestedLength, loadingRequest.contentInformationRequest != nil))
      return log.count
    }
    if count > behaviour.answers || lock.withLock({ isSilent }) {
      lock.withLock { waiting.append(loadingRequest) }
      return true
    }
    if behaviour.isAsynchronous {
      DispatchQueue.global().async {
        letOthersRun(turns: 1000)
        self.answer(loadingRequest, data)
      }
    } else {
      answer(loadingRequest, data)
    }
    return true
  }

  private func answer(_ request: AVAssetResourceLoadingRequest, _ data: AVAssetResourceLoadingDataRequest) {
    if let failure = behaviour.failure { return request.finishLoading(with: failure) }
    if let redirect = behaviour.redirect {
      request.redirect = URLRequest(url: redirect)
      return request.finishLoading()
    }
    if let information = request.contentInformationRequest {
      information.contentType = "public.mpeg-4"
      if behaviour.tellsLength { information.contentLength = Int64(content.count) }
      information.isByteRangeAccessSupported = behaviour.hasParts
    }
    let last =
      data.requestsAllDataToEndOfResource ? Int.max : Int(data.requestedOffset) + data.requestedLength
    while Int(data.currentOffset) < min(last, content.count, behaviour.end) {
      let from = Int(data.currentOffset)
      data.respond(with: content[from..<min(from + behaviour.chunk, last, content.count, behaviour.end)])
    }
    request.finishLoading()
  }

  func resourceLoader(
    _ resourceLoader: AVAssetResourceLoader, didCancel loadingRequest: AVAssetResourceLoadingRequest
  ) {
    lock.withLock { cancellations += 1 }
  }
}

@Suite(.timeLimit(.minutes(HangLimit.minutes))) struct ResourceLoaderTests {
  private static let queue = DispatchQueue(label: "test.loader")
  /// A loader does not retain its delegate.
  private let delegates = Delegates()

  private final class Delegates {
    var list: [FileDelegate] = []
  }

  /// Some megabytes, with the index at the end or, optimized, at the beginning.
  private func large(optimized: Bool = false) throws -> String {
    try Fixture.make(
      optimized ? "large-front.mp4" : "large.mp4",
      [
        "-f", "lavfi", "-i", "testsrc2=size=640x480:rate=30:duration=2,noise=alls=40:allf=t", "-c:v",
        "libx264",
        "-preset", "ultrafast", "-qp", "12", "-g", "15", "-pix_fmt", "yuv420p",
      ] + (optimized ? ["-movflags", "+faststart"] : []))
  }

  private func asset(_ delegate: FileDelegate, _ url: String = "archive://shelf/movie.mp4") throws
    -> AVURLAsset
  {
    let asset = AVURLAsset(url: try #require(URL(string: url)))
    delegates.list.append(delegate)
    asset.resourceLoader.setDelegate(delegate, queue: Self.queue)
    return asset
  }

  /// The stored samples of all tracks: their bytes' checksums and times.
  private func samples(_ asset: AVAsset) throws -> [String] {
    let reader = try AVAssetReader(asset: asset)
    let outputs = asset.tracks.map { AVAssetReaderTrackOutput(track: $0, outputSettings: nil) }
    for output in outputs { reader.add(output) }
    #expect(reader.startReading(), "\(String(describing: reader.error))")
    var found: [String] = []
    for output in outputs {
      while let sample = output.copyNextSampleBuffer() {
        let bytes = try sample.dataBuffer?.dataBytes() ?? Data()
        found.append("\(sample.presentationTimeStamp.seconds) \(bytes.count) \(bytes.hashValue)")
      }
    }
    #expect(reader.status == .completed, "\(String(describing: reader.error))")
    return found
  }

  @Test(arguments: [
    FileDelegate.Behaviour(), .init(chunk: 1000), .init(hasParts: false), .init(isAsynchronous: true),
    .init(hasParts: false, isAsynchronous: true),
  ])
  private func aDelegatesBytesGiveTheSamplesOfTheFile(_ behaviour: FileDelegate.Behaviour) throws {
    let path = try large()
    let delegate = try FileDelegate(path, behaviour)
    let expected = try samples(AVURLAsset(url: URL(fileURLWithPath: path)))
    #expect(expected.count == 60 && delegate.content.count > 2_000_000)
    #expect(try samples(asset(delegate)) == expected)
    #expect(try samples(asset(FileDelegate(Fixture.movie(), behaviour))).count > 100)
    let requests = delegate.requests
    #expect(requests.first?.isFirst == true && requests.dropFirst().allSatisfy { !$0.isFirst })
    #expect(requests[0].offset == 0 && requests[0].length == 2)
    if behaviour.hasParts {
      // The index of this movie is at its end: not all was read to find it.
      #expect(requests.contains { $0.offset > 0 } && requests.allSatisfy { $0.length <= 1 << 20 })
    } else {
      #expect(requests.dropFirst().allSatisfy { $0.offset == 0 })
    }
  }

  @Test func otherContainersAreLoaded() throws {
    for (name, arguments) in [
      ("loader.mkv", ["-c", "copy"]), ("loader.ts", ["-c", "copy"]),
      ("front.mp4", ["-c", "copy", "-movflags", "+faststart"]),
    ] {
      let path = try Fixture.make(name, ["-i", Fixture.movie()] + arguments)
      let expected = try samples(AVURLAsset(url: URL(fileURLWithPath: path)))
      #expect(try samples(asset(FileDelegate(path), "archive://shelf/\(name)")) == expected)
    }
    // A byte stream without times or an index, of unknown length.
    let path = try Fixture.elementary()
    let expected = try samples(AVURLAsset(url: URL(fileURLWithPath: path)))
    #expect(try samples(asset(FileDelegate(path))) == expected)
    #expect(try samples(asset(FileDelegate(path, .init(tellsLength: false)))) == expected)
  }

  /// Timed metadata has a description that libavformat does not tell, wherever the bytes come from.
  @Test func timedMetadataIsDescribed() async throws {
    let scratch = Scratch()
    let file = scratch.url("metadata.mov")
    let item = AVMutableMetadataItem()
    item.identifier = AVMetadataIdentifier(rawValue: "mdta/com.example.count")
    item.value = NSNumber(value: 42)
    item.dataType = kCMMetadataBaseDataType_SInt32 as String
    let group = AVTimedMetadataGroup(
      items: [item], timeRange: CMTimeRange(start: .zero, duration: CMTime(value: 1, timescale: 2)))
    let writer = try AVAssetWriter(url: file, fileType: .mov)
    let metadata = AVAssetWriterInput(
      mediaType: .metadata, outputSettings: nil, sourceFormatHint: group.copyFormatDescription())
    let adaptor = AVAssetWriterInputMetadataAdaptor(assetWriterInput: metadata)
    let video = AVAssetWriterInput(
      mediaType: .video,
      outputSettings: [AVVideoCodecKey: AVVideoCodecType.h264, AVVideoWidthKey: 64, AVVideoHeightKey: 64])
    let pictures = AVAssetWriterInputPixelBufferAdaptor(assetWriterInput: video)
    writer.add(metadata)
    writer.add(video)
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    var picture: CVPixelBuffer?
    CVPixelBufferCreate(nil, 64, 64, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, nil, &picture)
    #expect(adaptor.append(group))
    #expect(pictures.append(try #require(picture), withPresentationTime: .zero))
    metadata.markAsFinished()
    video.markAsFinished()
    await writer.finishWriting()
    #expect(writer.status == .completed)
    for behaviour in [FileDelegate.Behaviour(), .init(hasParts: false)] {
      let asset = try asset(FileDelegate(file.path, behaviour), "archive://shelf/metadata.mov")
      let track = try #require(try await asset.loadTracks(withMediaType: .metadata).first)
      let format = try #require(try await track.load(.formatDescriptions).first)
      #expect(
        CMMetadataFormatDescriptionGetIdentifiers(format) as? [String] == ["mdta/com.example.count"])
      let reader = try AVAssetReader(asset: asset)
      let output = AVAssetReaderTrackOutput(track: track, outputSettings: nil)
      let groups = AVAssetReaderOutputMetadataAdaptor(assetReaderTrackOutput: output)
      reader.add(output)
      #expect(reader.startReading())
      #expect(groups.nextTimedMetadataGroup()?.items.map(\.numberValue) == [42])
    }
  }

  /// Decoded, from the middle, by several at a time.
  @Test func picturesAreDecodedFromADelegatesBytes() async throws {
    let path = try Fixture.movie()
    let asset = try asset(FileDelegate(path, .init(isAsynchronous: true)))
    #expect(try await asset.load(.duration).seconds > 1.9)
    let generator = AVAssetImageGenerator(asset: asset)
    generator.requestedTimeToleranceBefore = .zero
    generator.requestedTimeToleranceAfter = .zero
    let (image, time) = try await generator.image(at: CMTime(seconds: 1.5, preferredTimescale: 600))
    #expect(image.width == 320 && abs(time.seconds - 1.5) < 0.04)
    let direct = AVAssetImageGenerator(asset: AVURLAsset(url: URL(fileURLWithPath: path)))
    direct.requestedTimeToleranceBefore = .zero
    direct.requestedTimeToleranceAfter = .zero
    let other = try await direct.image(at: CMTime(seconds: 1.5, preferredTimescale: 600)).image
    #expect(image.dataProvider?.data as Data? == other.dataProvider?.data as Data?)
  }

  @Test func failuresOfADelegateAreErrors() async throws {
    let path = try Fixture.movie()
    let own = NSError(domain: "archive", code: 7)
    let failing = try asset(FileDelegate(path, .init(failure: own)))
    let error = await #expect(throws: AVError.self) { try await failing.load(.duration) }
    #expect(
      error?.code == .unknown && (error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.domain == "archive")
    #expect(failing.tracks.isEmpty)
    // Without a delegate, and with a released delegate.
    let refused = try asset(FileDelegate(path, .init(isResponsible: false)))
    let refusal = await #expect(throws: AVError.self) { try await refused.load(.duration) }
    let reason = refusal?.userInfo[NSUnderlyingErrorKey] as? NSError
    #expect(reason?.domain == NSURLErrorDomain && reason?.code == NSURLErrorUnsupportedURL)
    let alone = AVURLAsset(url: try #require(URL(string: "archive://shelf/movie.mp4")))
    await #expect(throws: AVError.self) { try await alone.load(.duration) }
    // It has less than it said: the movie is read as far as it goes.
    let short = try FileDelegate(
      Fixture.make("front.mp4", ["-i", path, "-c", "copy", "-movflags", "+faststart"]), .init(end: 60_000))
    let cut = try asset(short)
    #expect(try await cut.load(.tracks).count == 2)
    let reader = try AVAssetReader(asset: cut)
    let output = AVAssetReaderTrackOutput(
      track: try #require(cut.tracks(withMediaType: .video).first), outputSettings: nil)
    reader.add(output)
    #expect(reader.startReading())
    var count = 0
    while output.copyNextSampleBuffer() != nil { count += 1 }
    #expect(reader.status == .failed && count > 0 && count < 60)
    #expect((reader.error as? AVError)?.code == .fileFailedToParse)
  }

  @Test func redirectionsAreFollowed() async throws {
    let path = try Fixture.movie()
    let asset = try asset(FileDelegate(path, .init(redirect: URL(fileURLWithPath: path))))
    #expect(try await asset.load(.duration).seconds > 1.9)
  }

  /// A delegate that never answers does not block asynchronous callers.
  @Test func aSilentDelegateKeepsNobodyWaiting() async throws {
    for answers in 0...1 {
      let delegate = try FileDelegate(Fixture.movie(), .init(answers: answers))
      let asset = try asset(delegate)
      let loading = Task { try await asset.load(.duration) }
      await waitUntil { delegate.requests.count > answers }
      asset.cancelLoading()
      let error = await #expect(throws: AVError.self) { try await loading.value }
      #expect(error?.code == .operationCancelled)
      await waitUntil { delegate.cancelled > 0 }
      #expect(delegate.cancelled == 1, "the delegate was not notified")
    }
  }

  /// A delegate that stops answering while a reader reads.
  @Test(arguments: [true, false]) func aReaderOfASilentDelegateCanBeCancelled(decodes: Bool) async throws {
    let path = try large(optimized: true)
    let delegate = try FileDelegate(path)
    let asset = try asset(delegate)
    let track = try #require(try await asset.loadTracks(withMediaType: .video).first)
    let reader = try AVAssetReader(asset: asset)
    let output = AVAssetReaderTrackOutput(
      track: track,
      outputSettings: decodes
        ? [kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange] : nil)
    reader.add(output)
    #expect(reader.startReading())
    #expect(output.copyNextSampleBuffer() != nil)
    delegate.fallSilent()
    async let reading = onThread {
      var count = 0
      while output.copyNextSampleBuffer() != nil { count += 1 }
      return count
    }
    await waitUntil { delegate.unanswered > 0 }
    #expect(delegate.unanswered == 1, "the movie is too small for this test")
    reader.cancelReading()
    #expect(await reading < 60)
    #expect(reader.status == .cancelled)
    await waitUntil { delegate.cancelled > 0 }
    // One that a seek made useless may have been cancelled before.
    #expect(delegate.cancelled >= 1)
  }

  /// The same where the source is one of several, inside another source.
  @Test(arguments: [
    "mix", "audio", "scaled audio", "mix of a composition", "stored", "pictures", "opened late",
  ]) func whatIsComposedOfASilentDelegateCanBeCancelled(kind: String) async throws {
    let isVideo = kind == "pictures"
    let path =
      isVideo
      ? try large(optimized: true)
      : try Fixture.make(
        "long-sound.mov",
        [
          "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000:duration=60", "-c:a", "pcm_s16le", "-ac",
          "2", "-movflags", "+faststart",
        ])
    let delegate = try FileDelegate(path)
    let plain = try asset(delegate)
    let source = try #require(try await plain.loadTracks(withMediaType: isVideo ? .video : .audio).first)
    let composition = AVMutableComposition()
    let track = try #require(
      composition.addMutableTrack(withMediaType: source.mediaType, preferredTrackID: 1))
    try track.insertTimeRange(source.timeRange, of: source, at: .zero)
    if kind == "scaled audio" {
      track.scaleTimeRange(track.timeRange, toDuration: CMTime(value: 90, timescale: 1))
    }
    let pcm: [String: Any] = [AVFormatIDKey: kAudioFormatLinearPCM]
    let reader = try AVAssetReader(asset: kind == "mix" ? plain : composition)
    let output: AVAssetReaderOutput =
      switch kind {
      case "mix": AVAssetReaderAudioMixOutput(audioTracks: [source], audioSettings: pcm)
      case "mix of a composition": AVAssetReaderAudioMixOutput(audioTracks: [track], audioSettings: pcm)
      case "stored": AVAssetReaderTrackOutput(track: track, outputSettings: nil)
      case "pictures": AVAssetReaderTrackOutput(track: track, outputSettings: [:])
      default: AVAssetReaderTrackOutput(track: track, outputSettings: pcm)
      }
    // The remainder after a cancelled reader is not an end of the file: damage that is tolerated is
    // not reported either.
    let tolerant = output as? AVAssetReaderTrackOutput
    tolerant?.ovtToleratesDamage = true
    reader.add(output)
    #expect(reader.startReading())
    if kind != "opened late" { #expect(output.copyNextSampleBuffer() != nil) }
    delegate.fallSilent()
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      while output.copyNextSampleBuffer() != nil {}
      done.signal()
    }
    await waitUntil { delegate.unanswered > 0 }
    #expect(delegate.unanswered == 1, "the movie is too small for this test")
    reader.cancelReading()
    #expect(await onThread { waitForSignal(done) })
    #expect(reader.status == .cancelled)
    #expect(tolerant?.ovtDamage.isEmpty != false)
  }

  /// A server that takes the connection, and never says anything: without an interruption this has
  /// no end.
  @Test func aSilentServerCanBeCancelled() async throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let port = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> UInt16 in
        guard bind(listener, address, size) == 0, listen(listener, 4) == 0,
          getsockname(listener, address, &size) == 0
        else { return 0 }
        return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
          UInt16(bigEndian: $0.pointee.sin_port)
        }
      }
    }
    try #require(port != 0)
    let asset = AVURLAsset(url: try #require(URL(string: "http://127.0.0.1:\(port)/movie.mp4")))
    let loading = Task { try await asset.load(.duration) }
    // The request has arrived, and its caller waits for an answer.
    let connection = await onThread { () -> Int32 in
      let connection = accept(listener, nil, nil)
      var byte: UInt8 = 0
      return recv(connection, &byte, 1, 0) == 1 ? connection : -1
    }
    defer { close(connection) }
    try #require(connection >= 0)
    asset.cancelLoading()
    let error = await #expect(throws: AVError.self) { try await loading.value }
    #expect(error?.code == .operationCancelled)
  }
}
