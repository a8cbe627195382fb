// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Synchronization
import TestSupport
import Testing

/// Programs that answer late or never: other requests do not wait for them.
@Suite(.timeLimit(.minutes(HangLimit.minutes))) struct SlowAnswerTests {
  /// More than there are threads for the loading of properties.
  private static let many = 200

  private func expectOthersLoad() async throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    #expect(try await asset.load(.duration).seconds > 1)
    #expect(try await asset.load(.tracks).count == 2)
    let item = AVMutableMetadataItem()
    item.value = NSString("at hand")
    #expect(try await item.load(.stringValue) == "at hand")
  }

  @Test func metadataValuesThatAreNotAnsweredBlockNobodyElse() async throws {
    let requests = Mutex<[AVMetadataItemValueRequest]>([])
    let (asked, ask) = AsyncStream.makeStream(of: Void.self)
    let items = (0..<Self.many).map { _ in
      AVMetadataItem(propertiesOf: AVMutableMetadataItem()) { request in
        requests.withLock { $0.append(request) }
        ask.yield()
      }
    }
    let values = items.map { item in Task { try await item.load(.stringValue) } }
    var count = 0
    for await _ in asked {
      count += 1
      if count == Self.many { break }
    }
    try await expectOthersLoad()
    for request in requests.withLock({ $0 }) { request.respond(value: NSString("late")) }
    for value in values { #expect(try await value.value == "late") }
  }

  /// The handlers themselves wait for something.
  @Test func handlersThatWaitBlockNobodyElse() async throws {
    let gate = DispatchSemaphore(value: 0)
    let (asked, ask) = AsyncStream.makeStream(of: Void.self)
    let items = (0..<Self.many).map { _ in
      AVMetadataItem(propertiesOf: AVMutableMetadataItem()) { request in
        ask.yield()
        gate.wait()
        request.respond(value: NSNumber(value: 7))
      }
    }
    let values = items.map { item in Task { try await item.load(.numberValue) } }
    var count = 0
    for await _ in asked {
      count += 1
      if count == Self.many { break }
    }
    try await expectOthersLoad()
    for _ in items { gate.signal() }
    for value in values { #expect(try await value.value == 7) }
  }

  /// A value requested in several ways is requested from the program once, and a released request
  /// ends all.
  @Test func aValueIsAskedForOnce() async throws {
    let count = Mutex(0)
    let kept = Mutex<AVMetadataItemValueRequest?>(nil)
    let (asked, ask) = AsyncStream.makeStream(of: Void.self)
    let item = AVMetadataItem(propertiesOf: AVMutableMetadataItem()) { request in
      count.withLock { $0 += 1 }
      kept.withLock { $0 = request }
      ask.yield()
    }
    #expect(item.status(of: .value).isNotYetLoaded)
    let first = Task { try await item.load(.stringValue) }
    let second = Task { try await item.load(.dataValue) }
    let third = Task { await item.loadValues(forKeys: ["identifier", "value"]) }
    for await _ in asked { break }
    var error: NSError?
    #expect(item.statusOfValue(forKey: "value", error: &error) == .loading)
    kept.withLock { $0 = nil }
    let (text, data) = (await first.result, await second.result)
    await third.value
    #expect(throws: AVError.self) { try text.get() }
    #expect(throws: AVError.self) { try data.get() }
    #expect(item.statusOfValue(forKey: "value", error: &error) == .failed)
    #expect(error?.domain == AVFoundationErrorDomain)
    #expect(count.withLock { $0 } == 1)
  }

  /// Never answers.
  private final class Silent: NSObject, AVAssetResourceLoaderDelegate, @unchecked Sendable {
    // Sendable: `requests` has a lock.
    let requests = Mutex<[AVAssetResourceLoadingRequest]>([])
    let asked: AsyncStream<Void>
    private let ask: AsyncStream<Void>.Continuation

    override init() {
      (asked, ask) = AsyncStream.makeStream(of: Void.self)
      super.init()
    }

    func resourceLoader(
      _ resourceLoader: AVAssetResourceLoader,
      shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest
    ) -> Bool {
      requests.withLock { $0.append(loadingRequest) }
      ask.yield()
      return true
    }
  }

  @Test func moviesWhoseBytesDoNotComeBlockNobodyElse() async throws {
    let delegate = Silent()
    let queue = DispatchQueue(label: "test.silent")
    let assets = try (0..<Self.many).map { number in
      let asset = AVURLAsset(url: try #require(URL(string: "silent://shelf/\(number).mp4")))
      asset.resourceLoader.setDelegate(delegate, queue: queue)
      return asset
    }
    let durations = assets.map { asset in Task { try await asset.load(.duration) } }
    let tracks = assets.map { asset in Task { try await asset.loadTracks(withMediaType: .video) } }
    var count = 0
    for await _ in delegate.asked {
      count += 1
      if count == Self.many { break }
    }
    try await expectOthersLoad()
    for asset in assets { asset.cancelLoading() }
    for duration in durations {
      let result = await duration.result
      #expect(throws: AVError.self) { try result.get() }
    }
    for track in tracks {
      let result = await track.result
      #expect(throws: AVError.self) { try result.get() }
    }
  }
}

extension AVAsyncProperty.Status {
  fileprivate var isNotYetLoaded: Bool { if case .notYetLoaded = self { true } else { false } }
}
