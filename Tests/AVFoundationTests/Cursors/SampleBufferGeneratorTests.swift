// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// Sample buffers made at cursors, compared with what ffprobe reads of the file.
@Suite(.serialized) struct SampleBufferGeneratorTests {
  private func movie(_ name: String = "generated.mp4", _ more: [String] = []) throws -> String {
    try Fixture.make(
      name,
      [
        "-f", "lavfi", "-i", "testsrc2=s=128x96:r=25:d=8", "-c:v", "libx264", "-preset", "veryfast", "-g",
        "100", "-bf", "3",
      ] + more)
  }

  private struct Source {
    let asset: AVURLAsset
    let track: AVAssetTrack
    let generator: AVSampleBufferGenerator

    init(_ path: String, timebase: CMTimebase? = nil) async throws {
      asset = AVURLAsset(url: URL(fileURLWithPath: path))
      track = try #require(try await asset.loadTracks(withMediaType: .video).first)
      generator = AVSampleBufferGenerator(asset: asset, timebase: timebase)
    }

    func cursor(_ number: Int64 = 0) throws -> AVSampleCursor {
      let cursor = try #require(track.makeSampleCursorAtFirstSampleInDecodeOrder())
      #expect(cursor.stepInDecodeOrder(byCount: number) == number)
      return cursor
    }
  }

  private func hash(_ data: Data) -> String { "MD5:" + md5(data) }

  private func bytes(_ buffer: CMSampleBuffer) throws -> Data {
    try #require(CMSampleBufferGetDataBuffer(buffer)).dataBytes()
  }

  @Test("Each sample, requested in any order, has the bytes and times of ffprobe")
  func eachSampleHasTheBytesAndTimesOfFFprobe() async throws {
    let path = try movie()
    let source = try await Source(path)
    let listed = try Probe.samples(path)
    for number in [0, 1, 2, 150, 149, 40, 199, 199, 7, 100, 3] {
      let cursor = try source.cursor(Int64(number))
      let buffer = try source.generator.makeSampleBuffer(for: AVSampleBufferRequest(start: cursor))
      #expect(CMSampleBufferDataIsReady(buffer))
      #expect(CMSampleBufferGetNumSamples(buffer) == 1)
      #expect(hash(try bytes(buffer)) == listed[number].hash)
      #expect(CMSampleBufferGetPresentationTimeStamp(buffer) == cursor.presentationTimeStamp)
      #expect(CMSampleBufferGetDecodeTimeStamp(buffer) == cursor.decodeTimeStamp)
      let attachments = CMSampleBufferGetSampleAttachmentsArray(buffer, createIfNecessary: false)
      let isNotSync =
        (attachments?.firstObject as? NSDictionary)?[kCMSampleAttachmentKey_NotSync] as? NSNumber
      #expect((isNotSync?.boolValue ?? false) == !listed[number].isSync)
    }
    #expect(
      source.generator.createSampleBuffer(for: AVSampleBufferRequest(start: try source.cursor())) != nil)
  }

  @Test("Several samples are contiguous, with their own times and sizes, up to counts and limits")
  func severalSamplesLieOneAfterTheOther() async throws {
    let path = try movie()
    let source = try await Source(path)
    let listed = try Probe.samples(path)
    func numbers(
      _ direction: AVSampleBufferRequest.Direction, preferred: Int = 0, maximum: Int = 0, limit: Int64? = nil
    ) throws -> [Int] {
      let request = AVSampleBufferRequest(start: try source.cursor(50))
      request.direction = direction
      request.preferredMinSampleCount = preferred
      request.maxSampleCount = maximum
      if let limit { request.limitCursor = try source.cursor(limit) }
      let buffer = try source.generator.makeSampleBuffer(for: request)
      var place = 0
      let data = try bytes(buffer)
      return try (0..<CMSampleBufferGetNumSamples(buffer)).map { index in
        let size = CMSampleBufferGetSampleSize(buffer, at: index)
        defer { place += size }
        let found = hash(data[place..<place + size])
        var timing = CMSampleTimingInfo()
        CMSampleBufferGetSampleTimingInfo(buffer, at: index, timingInfoOut: &timing)
        let number = try #require(listed.firstIndex { $0.hash == found })
        #expect(timing.presentationTimeStamp == (try source.cursor(Int64(number))).presentationTimeStamp)
        return number
      }
    }
    #expect(try numbers(.none, preferred: 5, maximum: 5, limit: 60) == [50])
    #expect(try numbers(.forward) == [50])
    #expect(try numbers(.forward, preferred: 4) == Array(50...53))
    #expect(try numbers(.forward, maximum: 3) == Array(50...52))
    #expect(try numbers(.forward, preferred: 9, maximum: 3) == Array(50...52))
    #expect(try numbers(.forward, limit: 60) == Array(50...60))
    #expect(try numbers(.forward, preferred: 20, limit: 55) == Array(50...55))
    #expect(try numbers(.forward, preferred: 1000) == Array(50...199))
    #expect(try numbers(.reverse, maximum: 3) == Array(48...50))
    #expect(try numbers(.reverse, limit: 45) == Array(45...50))
    #expect(try numbers(.reverse, limit: 60) == [50])
    #expect(try numbers(.reverse, preferred: 1000) == Array(0...50))
  }

  @Test("Samples are decoded from a sync sample on, as for a thumbnail")
  func samplesAreDecodedFromASyncSampleOn() async throws {
    let source = try await Source(try movie())
    let cursor = try source.cursor(130)
    let target = try #require(cursor.copy() as? AVSampleCursor)
    cursor.stepInDecodeOrder(byCount: -Int64(cursor.samplesRequiredForDecoderRefresh))
    #expect(cursor.currentSampleSyncInfo.sampleIsFullSync.boolValue)
    var session: VTDecompressionSession?
    VTDecompressionSessionCreate(
      allocator: nil, formatDescription: cursor.copyCurrentSampleFormatDescription(),
      decoderSpecification: nil, imageBufferAttributes: nil, outputCallback: nil,
      decompressionSessionOut: &session)
    let decoder = try #require(session)
    nonisolated(unsafe) var times: [CMTime] = []
    repeat {
      let buffer = try source.generator.makeSampleBuffer(for: AVSampleBufferRequest(start: cursor))
      VTDecompressionSessionDecodeFrame(
        decoder, sampleBuffer: buffer, flags: [], infoFlagsOut: nil
      ) { status, _, image, time, _ in
        if status == noErr, image != nil { times.append(time) }
      }
    } while cursor.comparePositionInDecodeOrder(withPositionOf: target) == .orderedAscending
      && cursor.stepInDecodeOrder(byCount: 1) == 1
    VTDecompressionSessionWaitForAsynchronousFrames(decoder)
    #expect(times.contains(target.presentationTimeStamp))
  }

  @Test("Data that is read in the background arrives, and the caller is notified; nothing is read twice")
  func dataThatIsReadInTheBackgroundArrives() async throws {
    let path = try movie()
    let source = try await Source(path, timebase: try CMTimebase(sourceClock: CMClockGetHostTimeClock()))
    let listed = try Probe.samples(path)
    for mode in [AVSampleBufferRequest.Mode.scheduled, .opportunistic] {
      let request = AVSampleBufferRequest(start: try source.cursor(20))
      request.mode = mode
      request.overrideTime = CMTime(value: 3, timescale: 1)
      let buffer = try source.generator.makeSampleBuffer(for: request)
      #expect(CMSampleBufferGetOutputPresentationTimeStamp(buffer) == CMTime(value: 3, timescale: 1))
      let (isReady, _) = await AVSampleBufferGenerator.notifyOfDataReady(for: buffer)
      #expect(isReady)
      #expect(hash(try bytes(buffer)) == listed[20].hash)
      #expect(CMSampleBufferMakeDataReady(buffer) == noErr)
    }
    // A synchronous request is served at once.
    let request = AVSampleBufferRequest(start: try source.cursor(21))
    request.mode = .opportunistic
    let buffer = try source.generator.makeSampleBuffer(for: request)
    #expect(CMSampleBufferMakeDataReady(buffer) == noErr)
    #expect(hash(try bytes(buffer)) == listed[21].hash)
  }

  @Test("A batch reads its sample buffers together and once, and none after cancellation")
  func aBatchReadsItsSampleBuffersTogether() async throws {
    let path = try movie()
    let source = try await Source(path)
    let listed = try Probe.samples(path)
    let batch = source.generator.makeBatch()
    let buffers = try [5, 150, 33].map { number in
      try source.generator.makeSampleBuffer(
        for: AVSampleBufferRequest(start: try source.cursor(number)), addTo: batch)
    }
    #expect(buffers.allSatisfy { !CMSampleBufferDataIsReady($0) })
    try await batch.makeDataReady()
    #expect(try buffers.map { hash(try bytes($0)) } == [5, 150, 33].map { listed[$0].hash })
    func code(_ error: any Error) -> AVError.Code? { (error as? AVError)?.code }
    await #expect { try await batch.makeDataReady() } throws: { code($0) == .operationNotAllowed }
    let request = AVSampleBufferRequest(start: try source.cursor(1))
    #expect { try source.generator.makeSampleBuffer(for: request, addTo: batch) } throws: {
      code($0) == .operationNotAllowed
    }
    let other = AVSampleBufferGenerator(asset: source.asset, timebase: nil)
    #expect { try source.generator.makeSampleBuffer(for: request, addTo: other.makeBatch()) } throws: {
      code($0) == .operationNotAllowed
    }
    let cancelled = source.generator.makeBatch()
    let lost = try source.generator.makeSampleBuffer(for: request, addTo: cancelled)
    cancelled.cancel()
    await #expect { try await cancelled.makeDataReady() } throws: { code($0) == .operationCancelled }
    #expect(CMSampleBufferHasDataFailed(lost, statusOut: nil))
  }

  @Test("Cursors of another asset are refused, and so are samples that are gone")
  func cursorsOfAnotherAssetAreRefused() async throws {
    let source = try await Source(try movie())
    let other = try await Source(try movie())
    let request = AVSampleBufferRequest(start: try other.cursor())
    #expect { try source.generator.makeSampleBuffer(for: request) } throws: {
      ($0 as? AVError)?.code == .invalidSampleCursor
    }
    #expect(source.generator.createSampleBuffer(for: request) == nil)

    let folder = Scratch()
    try FileManager.default.copyItem(atPath: try movie(), toPath: folder.file("a.mp4"))
    let gone = try await Source(folder.file("a.mp4"))
    let last = try #require(gone.track.makeSampleCursorAtLastSampleInDecodeOrder())
    // Another movie has replaced the file.
    let shorter = try movie("other.mp4", ["-t", "1"])
    try FileManager.default.removeItem(atPath: folder.file("a.mp4"))
    try FileManager.default.copyItem(atPath: shorter, toPath: folder.file("a.mp4"))
    #expect { try gone.generator.makeSampleBuffer(for: AVSampleBufferRequest(start: last)) } throws: {
      ($0 as? AVError)?.code == .fileFailedToParse
    }
    let (isReady, error) = await AVSampleBufferGenerator.notifyOfDataReady(
      for: try CMSampleBuffer(
        dataBuffer: nil, formatDescription: nil, numSamples: 0, sampleTimings: [], sampleSizes: [],
        makeDataReadyHandler: { _ in noErr }))
    #expect(!isReady)
    #expect((error as? AVError)?.code == .operationNotAllowed)
  }
}
