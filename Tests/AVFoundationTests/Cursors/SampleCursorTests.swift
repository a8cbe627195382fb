// SPDX-License-Identifier: Apache-2.0
@testable import AVFoundation
import Foundation
import Testing

/// Cursors over a track's samples, compared with ffprobe's list of packets.
@Suite(.serialized) struct SampleCursorTests {
  /// ffprobe's properties of a packet; times in the stream's units.
  struct Packet: Equatable {
    var pts: Int64
    var dts: Int64
    var duration: Int64
    var size: Int64
    var position: Int64
    var isKey: Bool
    var isDisposable: Bool
  }

  private func packets(_ path: String, _ stream: String = "v:0") throws -> [Packet] {
    let json = try Tool.run([
      "ffprobe", "-v", "error", "-select_streams", stream, "-show_entries",
      "packet=pts,dts,duration,size,pos,flags", "-of", "json", path,
    ])
    let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
    return try #require(object?["packets"] as? [[String: Any]]).map { packet in
      func number(_ key: String) -> Int64 {
        (packet[key] as? NSNumber)?.int64Value ?? Int64(packet[key] as? String ?? "") ?? -1
      }
      let flags = packet["flags"] as? String ?? ""
      let (position, size) = (number("pos"), number("size"))
      return Packet(
        pts: number("pts"), dts: number("dts"), duration: number("duration"), size: size,
        position: position, isKey: flags.contains("K"),
        isDisposable: false)
    }
  }

  private func packet(at cursor: AVSampleCursor, _ scale: CMTimeScale) -> Packet {
    func units(_ time: CMTime) -> Int64 {
      CMTimeConvertScale(time, timescale: scale, method: .roundHalfAwayFromZero).value
    }
    let range = cursor.currentSampleStorageRange
    let sync = cursor.currentSampleSyncInfo
    return Packet(
      pts: units(cursor.presentationTimeStamp), dts: units(cursor.decodeTimeStamp),
      duration: units(cursor.currentSampleDuration), size: range.length, position: range.offset,
      isKey: sync.sampleIsFullSync.boolValue, isDisposable: sync.sampleIsDroppable.boolValue)
  }

  /// H.264 with pictures that refer to later ones, key frames every 12, with audio, in chunks of
  /// a quarter of a second.
  private func movie(_ name: String = "cursors.mp4", seconds: Int = 4, _ more: [String] = []) throws -> String
  {
    try Fixture.make(
      name,
      [
        "-f", "lavfi", "-i", "testsrc2=s=128x96:r=25:d=\(seconds)", "-f", "lavfi", "-i",
        "sine=440:d=\(seconds)", "-c:v", "libx264", "-preset", "veryfast", "-g", "12", "-bf", "3", "-c:a",
        "aac",
      ] + more)
  }

  private func track(_ path: String, _ type: AVMediaType = .video) async throws -> (AVURLAsset, AVAssetTrack)
  {
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    return (asset, try #require(try await asset.loadTracks(withMediaType: type).first))
  }

  @Test("Steps in decode order meet every packet that ffprobe lists, with its times, size and place")
  func stepsInDecodeOrderMeetEveryPacketThatFfprobeLists() async throws {
    let path = try movie()
    for (type, stream) in [(AVMediaType.video, "v:0"), (.audio, "a:0")] {
      let (asset, track) = try await track(path, type)
      let listed = try packets(path, stream)
      #expect(try await track.load(.canProvideSampleCursors))
      let cursor = try #require(track.makeSampleCursorAtFirstSampleInDecodeOrder())
      var found: [Packet] = []
      repeat {
        found.append(packet(at: cursor, track.naturalTimeScale))
      } while cursor.stepInDecodeOrder(byCount: 1) == 1
      // ffmpeg's value for the last audio packet is a guess.
      found[found.count - 1].duration = listed[listed.count - 1].duration
      #expect(found == listed)
      let last = try #require(track.makeSampleCursorAtLastSampleInDecodeOrder())
      #expect(last.comparePositionInDecodeOrder(withPositionOf: cursor) == .orderedSame)
      #expect(last.stepInDecodeOrder(byCount: .min) == -Int64(listed.count - 1))
      #expect(last.comparePositionInDecodeOrder(withPositionOf: cursor) == .orderedAscending)
      #expect(last.stepInDecodeOrder(byCount: .max) == Int64(listed.count - 1))
      withExtendedLifetime(asset) {}
    }
  }

  @Test("Steps in presentation order, forth and back, are those of the packets sorted by their times")
  func stepsInPresentationOrderAreThoseOfTheSortedTimes() async throws {
    let path = try movie()
    let (asset, track) = try await track(path)
    let sorted = try packets(path).map(\.pts).sorted()
    let cursor = try #require(track.makeSampleCursor(presentationTimeStamp: .negativeInfinity))
    func time() -> Int64 { packet(at: cursor, track.naturalTimeScale).pts }
    var found = [time()]
    while cursor.stepInPresentationOrder(byCount: 1) == 1 { found.append(time()) }
    #expect(found == sorted)
    var back = [time()]
    while cursor.stepInPresentationOrder(byCount: -1) == -1 { back.append(time()) }
    #expect(back == sorted.reversed())
    #expect(cursor.stepInPresentationOrder(byCount: 7) == 7)
    #expect(time() == sorted[7])
    #expect(cursor.stepInPresentationOrder(byCount: -100) == -7)
    #expect(cursor.stepInPresentationOrder(byCount: 1000) == Int64(sorted.count - 1))
    withExtendedLifetime(asset) {}
  }

  @Test("A cursor is made at the last picture that is shown at a time or before")
  func aCursorIsMadeAtTheLastPictureThatIsShownAtATimeOrBefore() async throws {
    let path = try movie()
    let (asset, track) = try await track(path)
    let sorted = try packets(path).map(\.pts).sorted()
    let scale = track.naturalTimeScale
    for (index, presentationTime) in sorted.enumerated() {
      for offset in [Int64(0), 1, -1] {
        let wanted = presentationTime + offset
        let expected = offset < 0 ? sorted[max(0, index - 1)] : presentationTime
        let cursor = try #require(
          track.makeSampleCursor(presentationTimeStamp: CMTime(value: wanted, timescale: scale)))
        #expect(packet(at: cursor, scale).pts == expected)
      }
    }
    let beyond = try #require(track.makeSampleCursor(presentationTimeStamp: .positiveInfinity))
    #expect(packet(at: beyond, scale).pts == sorted.last)
    #expect(track.makeSampleCursor(presentationTimeStamp: .invalid) == nil)
    #expect(track.makeSampleCursor(presentationTimeStamp: .indefinite) == nil)
    withExtendedLifetime(asset) {}
  }

  @Test("Steps by time stop at samples, say how far they went, and where the track ends")
  func stepsByTimeStopAtSamples() async throws {
    let path = try movie()
    let (asset, track) = try await track(path)
    let listed = try packets(path)
    let scale = track.naturalTimeScale
    let cursor = try #require(track.makeSampleCursorAtFirstSampleInDecodeOrder())
    let other = try #require(cursor.copy() as? AVSampleCursor)
    var isPinned: ObjCBool = true
    // A second and half a picture.
    let moved = cursor.step(
      byDecodeTime: CMTime(value: 51, timescale: 50), wasPinned: &isPinned)
    #expect(moved == CMTime(value: 1, timescale: 1))
    #expect(!isPinned.boolValue)
    #expect(packet(at: cursor, scale) == listed[25])
    #expect(
      cursor.step(byDecodeTime: CMTime(value: -100, timescale: 1), wasPinned: &isPinned)
        == CMTimeMultiply(moved, multiplier: -1))
    #expect(isPinned.boolValue)
    #expect(
      cursor.step(byDecodeTime: .positiveInfinity, wasPinned: &isPinned) == CMTime(value: 99, timescale: 25))
    #expect(isPinned.boolValue)
    #expect(cursor.step(byDecodeTime: .invalid, wasPinned: &isPinned) == .zero)
    #expect(!isPinned.boolValue)
    // The copy has stayed.
    #expect(packet(at: other, scale) == listed[0])
    let sorted = listed.map(\.pts).sorted()
    #expect(
      other.step(byPresentationTime: CMTime(value: 51, timescale: 50), wasPinned: &isPinned)
        == CMTime(value: 1, timescale: 1))
    #expect(packet(at: other, scale).pts == sorted[25])
    #expect(
      other.step(byPresentationTime: .negativeInfinity, wasPinned: &isPinned)
        == CMTime(value: -1, timescale: 1))
    #expect(isPinned.boolValue)
    withExtendedLifetime(asset) {}
  }

  @Test("Dependencies follow the key frames and the pictures that no other needs")
  func dependenciesFollowTheKeyFramesAndThePicturesThatNoOtherNeeds() async throws {
    let path = try movie()
    let (asset, track) = try await track(path)
    let listed = try packets(path)
    let cursor = try #require(track.makeSampleCursorAtFirstSampleInDecodeOrder())
    var key = 0
    for (number, packet) in listed.enumerated() {
      if packet.isKey { key = number }
      #expect(cursor.samplesRequiredForDecoderRefresh == number - key)
      let info = cursor.currentSampleDependencyInfo
      #expect(info.sampleIndicatesWhetherItDependsOnOthers.boolValue)
      #expect(info.sampleDependsOnOthers.boolValue == !packet.isKey)
      #expect(!info.sampleIndicatesWhetherItHasDependentSamples.boolValue)
      #expect((cursor.currentSampleDependencyAttachments == nil) == packet.isKey)
      let here = packet.pts
      #expect(
        cursor.maySamplesWithEarlierDecodeTimeStampsHavePresentationTimeStamps(laterThan: cursor)
          == listed[..<number].contains { $0.pts > here })
      #expect(
        cursor.maySamplesWithLaterDecodeTimeStampsHavePresentationTimeStamps(earlierThan: cursor)
          == listed[(number + 1)...].contains { $0.pts < here })
      cursor.stepInDecodeOrder(byCount: 1)
    }
    #expect(listed.contains { $0.isKey } && listed.contains { !$0.isKey })
    withExtendedLifetime(asset) {}
  }

  @Test(
    "Chunks are those of the movie's table: their samples follow each other, and no chunk crosses another's beginning"
  )
  func chunksAreThoseOfTheMoviesTable() async throws {
    let path = try movie()
    let (asset, track) = try await track(path)
    let listed = try packets(path)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    // The table of the first track: a count, and places of four bytes.
    let box = try #require(bytes.range(of: Data("stco".utf8)))
    func number(_ at: Int) -> Int64 { bytes[at..<at + 4].reduce(0) { $0 << 8 | Int64($1) } }
    let count = Int(number(box.upperBound + 4))
    let starts = (0..<count).map { number(box.upperBound + 8 + 4 * $0) }.sorted()
    #expect(count > 1)
    let cursor = try #require(track.makeSampleCursorAtFirstSampleInDecodeOrder())
    for (index, packet) in listed.enumerated() {
      let start = try #require(starts.last { $0 <= packet.position })
      let members = listed.filter { sample in starts.last { $0 <= sample.position } == start }
      let info = cursor.currentChunkInfo
      #expect(cursor.currentChunkStorageURL == nil)
      #expect(cursor.currentChunkStorageRange.offset == start)
      #expect(cursor.currentChunkStorageRange.length == members.reduce(0) { $0 + $1.size })
      #expect(info.chunkSampleCount == Int64(members.count))
      #expect(info.chunkHasUniformSampleSizes.boolValue == (Set(members.map(\.size)).count == 1))
      #expect(info.chunkHasUniformFormatDescriptions.boolValue)
      #expect(
        cursor.currentSampleIndexInChunk
          == members.firstIndex { $0.position == packet.position }.map { Int64($0) })
      if index + 1 < listed.count { cursor.stepInDecodeOrder(byCount: 1) }
    }
    withExtendedLifetime(asset) {}
  }

  @Test("In containers without places of samples cursors have the same times, and no storage")
  func cursorsHaveTheSameTimesInOtherContainers() async throws {
    for name in ["cursors.mkv", "cursors.ts", "cursors.h264"] {
      let path = try movie(name, name.hasSuffix("h264") ? ["-map", "0:v"] : [])
      let (asset, track) = try await track(path)
      let reader = try AVAssetReader(asset: asset)
      let output = AVAssetReaderTrackOutput(track: track, outputSettings: nil)
      reader.add(output)
      #expect(reader.startReading())
      let cursor = try #require(track.makeSampleCursorAtFirstSampleInDecodeOrder())
      var isMore = true
      var count = 0
      while let sample = output.copyNextSampleBuffer() {
        #expect(isMore)
        #expect(cursor.presentationTimeStamp == CMSampleBufferGetPresentationTimeStamp(sample))
        #expect(cursor.decodeTimeStamp == CMSampleBufferGetDecodeTimeStamp(sample))
        #expect(cursor.currentSampleStorageRange.offset == -1)
        #expect(cursor.currentChunkStorageRange.offset == -1)
        #expect(cursor.copyCurrentSampleFormatDescription() == CMSampleBufferGetFormatDescription(sample))
        isMore = cursor.stepInDecodeOrder(byCount: 1) == 1
        count += 1
      }
      #expect(!isMore)
      #expect(count == 100)
    }
  }

  @Test("A composition's tracks, and tracks of files that are gone, make no cursors")
  func compositionsAndLostFilesMakeNoCursors() async throws {
    let path = try movie()
    let (asset, source) = try await track(path)
    let composition = AVMutableComposition()
    let made = try #require(composition.addMutableTrack(withMediaType: .video, preferredTrackID: 1))
    try made.insertTimeRange(source.timeRange, of: source, at: .zero)
    #expect(!made.canProvideSampleCursors)
    #expect(made.makeSampleCursorAtFirstSampleInDecodeOrder() == nil)
    #expect(made.makeSampleCursor(presentationTimeStamp: .zero) == nil)
    withExtendedLifetime(asset) {}
    let folder = Scratch()
    let copy = folder.file("gone.mp4")
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    let (gone, track) = try await track(copy)
    try FileManager.default.removeItem(atPath: copy)
    #expect(!track.canProvideSampleCursors)
    #expect(track.makeSampleCursorAtLastSampleInDecodeOrder() == nil)
    withExtendedLifetime(gone) {}
  }

  @Test(
    "Samples are packed without a loss, a usual one into a dozen bytes or so, and any one into a bounded number"
  )
  func samplesArePackedWithoutALoss() {
    func sample(_ number: Int64, _ random: inout SystemRandomNumberGenerator) -> IndexedSample {
      var sample = IndexedSample()
      sample.decodeTime = number * 512
      sample.presentationTime = sample.decodeTime + 512 * Int64.random(in: 0...3, using: &random)
      sample.duration = 512
      sample.size = Int64.random(in: 200...20_000, using: &random)
      sample.position = number * 30_000
      sample.flags = number % 25 == 0 ? .sync : []
      return sample
    }
    func extreme(_ random: inout SystemRandomNumberGenerator) -> IndexedSample {
      var sample = IndexedSample()
      for field in [
        \IndexedSample.decodeTime, \.presentationTime, \.duration, \.size, \.position, \.format,
      ] {
        sample[keyPath: field] =
          [Int64.min, -1, 0, 1, .max, .random(in: .min ... .max, using: &random)]
          .randomElement(using: &random) ?? 0
      }
      sample.flags = IndexedSample.Flags(rawValue: UInt8.random(in: 0...7, using: &random))
      return sample
    }
    var random = SystemRandomNumberGenerator()
    let baseline = (0..<Int64(SampleBlock.samples)).map { sample($0, &random) }
    let block = SampleBlock(baseline, from: 0, latestBefore: 0, syncBefore: -1)
    #expect(block.unpacked(baseline.count) == baseline)
    #expect(block.latestPresentationTime == baseline.map(\.presentationTime).max())
    #expect(block.byteCount <= 14 * baseline.count, "\(block.byteCount)")
    let odd = (0..<SampleBlock.samples).map { _ in extreme(&random) }
    let wide = SampleBlock(odd, from: 0, latestBefore: .min, syncBefore: -1)
    #expect(wide.unpacked(odd.count) == odd)
    #expect(wide.byteCount <= 61 * odd.count)
  }
}
