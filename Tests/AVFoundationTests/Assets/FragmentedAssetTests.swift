// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing
import TestSupport

/// Assets whose file is written while they are open.
@Suite(.serialized) struct FragmentedAssetTests {
  /// Waits for notifications until a condition holds.
  private final class Waiter: @unchecked Sendable {
    // Sendable: `lock` guards what changes.
    private let lock = NSLock()
    private var names: Set<Notification.Name> = []
    private var isSo = false
    private var waiting: CheckedContinuation<Void, Never>?
    private var observers: [any NSObjectProtocol] = []

    var seen: Set<Notification.Name> { lock.withLock { names } }

    func watch(_ list: [Notification.Name], until condition: @escaping @Sendable () -> Bool) {
      for name in list {
        observers.append(
          NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { [self] _ in
            lock.withLock { _ = names.insert(name) }
            guard condition() else { return }
            lock.withLock {
              isSo = true
              waiting?.resume()
              waiting = nil
            }
          })
      }
    }

    func wait() async {
      await withCheckedContinuation { continuation in
        lock.withLock { if isSo { continuation.resume() } else { waiting = continuation } }
      }
    }

    func end() { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
  }

  @Test(
    "A minder finds fragments that are written meanwhile, and reports longer durations",
    .timeLimit(.minutes(HangLimit.minutes)))
  func aMinderFindsTheFragmentsThatAreWrittenMeanwhile() async throws {
    let scratch = Scratch()
    let url = scratch.url("growing.mp4")
    let source = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let video = try #require(try await source.loadTracks(withMediaType: .video).first)
    let reader = try AVAssetReader(asset: source)
    let output = AVAssetReaderTrackOutput(track: video, outputSettings: nil)
    reader.add(output)
    #expect(reader.startReading())
    let writer = try AVAssetWriter(outputURL: url, fileType: .mp4)
    writer.movieFragmentInterval = CMTime(value: 1, timescale: 2)
    let input = AVAssetWriterInput(
      mediaType: .video, outputSettings: nil,
      sourceFormatHint: try await video.load(.formatDescriptions).first)
    writer.add(input)
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    // The first fragment is in the file when the second has begun.
    for _ in 0..<25 { #expect(input.append(try #require(output.copyNextSampleBuffer()))) }

    let asset = AVFragmentedAsset(url: url)
    let track = try #require(
      try await asset.loadTracks(withMediaType: .video).first as? AVFragmentedAssetTrack)
    let before = (asset: asset.duration, track: track.timeRange.duration)
    #expect(before.asset > .zero)
    #expect(try await asset.load(.containsFragments))
    #expect(!asset.isAssociatedWithFragmentMinder)

    while let sample = output.copyNextSampleBuffer() { #expect(input.append(sample)) }
    input.markAsFinished()
    await writer.finishWriting()
    // An asset keeps the state of its file until it is examined again.
    #expect(asset.duration == before.asset)

    let last = CMTime(value: 19, timescale: 10)
    let waiter = Waiter()
    waiter.watch([.AVAssetDurationDidChange, .AVAssetTrackTimeRangeDidChange]) {
      asset.duration > last && track.timeRange.duration > last
    }
    let minder = AVFragmentedAssetMinder(asset: asset, mindingInterval: 3600)
    #expect(minder.mindingInterval == 3600)
    #expect(asset.isAssociatedWithFragmentMinder)
    #expect(minder.assets.count == 1)
    minder.mindingInterval = 0.02
    await waiter.wait()
    waiter.end()
    #expect(waiter.seen.contains(.AVAssetDurationDidChange))
    let length = try Double(
      Tool.run([
        "ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", url.path,
      ]).trimmingCharacters(in: .whitespacesAndNewlines))
    #expect(abs(asset.duration.seconds - (try #require(length))) < 0.002)
    #expect(asset.track(withTrackID: track.trackID) === track)
    let count = try Probe.samples(url.path).count
    let cursor = try #require(track.makeSampleCursorAtLastSampleInDecodeOrder())
    #expect(cursor.stepInDecodeOrder(byCount: .min) == -Int64(count - 1))
    minder.removeFragmentedAsset(asset)
    #expect(!asset.isAssociatedWithFragmentMinder)
    #expect(minder.assets.isEmpty)
    withExtendedLifetime(source) {}
  }
}
