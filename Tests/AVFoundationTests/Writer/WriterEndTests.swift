// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Synchronization
import Testing
import TestSupport

/// How writers and exports end when several say so, and times that no file has units for.
@Suite(.serialized, .enabled(if: WriterTests.hasEncoder(kCMVideoCodecType_H264))) struct WriterEndTests {
  private let scratch = Scratch()

  /// A writer that has begun and taken pictures.
  private func writer(
    _ name: String, times: [CMTime], optimizes: Bool = false
  ) throws -> AVAssetWriter {
    let writer = try AVAssetWriter(url: scratch.url(name), fileType: .mp4)
    writer.shouldOptimizeForNetworkUse = optimizes
    let input = AVAssetWriterInput(mediaType: .video, outputSettings: WriterBehaviourTests.video())
    let adaptor = AVAssetWriterInputPixelBufferAdaptor(
      assetWriterInput: input, sourcePixelBufferAttributes: nil)
    writer.add(input)
    try #require(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    for (index, time) in times.enumerated() {
      try #require(
        adaptor.append(try WriterBehaviourTests.picture(index), withPresentationTime: time),
        "\(index): \(String(describing: writer.error))")
    }
    return writer
  }

  private static func frames(_ count: Int64) -> [CMTime] {
    (0..<count).map { CMTime(value: $0, timescale: 30) }
  }

  @Test func finishingTwiceFinishesOnce() async throws {
    for round in 0..<15 {
      let name = "twice\(round).mp4"
      let writer = try writer(name, times: Self.frames(10))
      let seen = Mutex<[AVAssetWriter.Status]>([])
      await onThread {
        let group = DispatchGroup()
        for _ in 0..<3 {
          group.enter()
          writer.finishWriting {
            seen.withLock { $0.append(writer.status) }
            group.leave()
          }
        }
        group.wait()
      }
      #expect(seen.withLock { $0 } == [.completed, .completed, .completed])
      #expect(try Probe.samples(scratch.file(name), data: false).count == 10)
    }
  }

  @Test func cancellingLeavesAFileOrIsTooLate() async throws {
    for round in 0..<40 {
      let name = "cancelled\(round).mp4"
      let writer = try writer(name, times: Self.frames(8), optimizes: true)
      await onThread {
        let ended = DispatchSemaphore(value: 0)
        writer.finishWriting { ended.signal() }
        letOthersRun(turns: round * 700)
        writer.cancelWriting()
        ended.wait()
      }
      let isThere = FileManager.default.fileExists(atPath: scratch.file(name))
      #expect([.completed, .cancelled].contains(writer.status), "\(round)")
      #expect(isThere == (writer.status == .completed), "\(round)")
      // Too late for this one.
      let status = writer.status
      writer.cancelWriting()
      #expect(writer.status == status && writer.startWriting() == false)
    }
  }

  @Test func cancellingAnExportLeavesAFileOrIsTooLate() async throws {
    let source = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    for round in 0..<40 {
      let url = scratch.url("export\(round).mp4")
      let session = try #require(
        AVAssetExportSession(asset: source, presetName: AVAssetExportPresetPassthrough))
      session.outputURL = url
      session.outputFileType = .mp4
      session.shouldOptimizeForNetworkUse = true
      await onThread {
        let ended = DispatchSemaphore(value: 0)
        session.exportAsynchronously { ended.signal() }
        letOthersRun(turns: round * 500)
        session.cancelExport()
        ended.wait()
      }
      #expect([.completed, .cancelled].contains(session.status), "\(round)")
      #expect(
        FileManager.default.fileExists(atPath: url.path) == (session.status == .completed), "\(round)")
    }
  }

  @Test func startingOnSeveralThreadsStartsOnce() async throws {
    for round in 0..<10 {
      let writer = try AVAssetWriter(url: scratch.url("start\(round).mp4"), fileType: .mp4)
      writer.add(AVAssetWriterInput(mediaType: .video, outputSettings: WriterBehaviourTests.video()))
      let begun = Mutex(0)
      await onThread {
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
          if writer.startWriting() { begun.withLock { $0 += 1 } }
        }
      }
      #expect(begun.withLock { $0 } == 1 && writer.status == .writing)
      writer.cancelWriting()
    }
    #expect(scratch.contents.isEmpty)
  }

  /// A host clock's times, in nanoseconds, which 32 bits hold two seconds of.
  @Test(arguments: [(60, 16_666_667), (1000, 1_000_000), (1200, 833_333), (240_000, 4167)])
  func timesInNanosecondsAreKept(rate: Int, step: Int64) async throws {
    let times = (0..<60).map { CMTime(value: $0 * step, timescale: 1_000_000_000) }
    let writer = try writer("ns\(rate).mp4", times: times)
    await writer.finishWriting()
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    let stored = try Probe.samples(scratch.file("ns\(rate).mp4"), data: false).map { sample in
      let parts = sample.pts.split(separator: "/").compactMap { Double($0) }
      return try #require(parts.count == 2 ? parts[0] / parts[1] : nil)
    }.sorted()
    #expect(stored.count == 60)
    // If there are more pictures than time units, two may have the same time; each is stored.
    guard rate <= 1200 else { return }
    #expect(zip(stored, stored.dropFirst()).allSatisfy { $0 < $1 })
    for (time, reported) in zip(times, stored) {
      #expect(abs(time.seconds - reported) <= 1 / 180_000.0 + 1e-9)
    }
  }

  /// The last pictures are still in the encoder when another thread ends the writing.
  @Test func finishingWhileAnInputIsBeingFinished() async throws {
    for round in 0..<40 {
      let name = "both\(round).mp4"
      let writer = try writer(name, times: Self.frames(6))
      let input = try #require(writer.inputs.first)
      await onThread {
        let ended = DispatchSemaphore(value: 0)
        DispatchQueue.concurrentPerform(iterations: 2) { index in
          if index == 0 {
            input.markAsFinished()
          } else {
            writer.finishWriting { ended.signal() }
          }
        }
        ended.wait()
      }
      #expect(writer.status == .completed, "\(String(describing: writer.error))")
      #expect(try ReaderTests.read(AVURLAsset(url: scratch.url(name))).count == 6, "\(round)")
    }
  }
}
