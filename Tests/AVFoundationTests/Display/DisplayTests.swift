// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing
import TestSupport

/// The pictures of the display layer: selection, order and times.
@Suite(.serialized) struct DisplayTests {
  final class Shown: @unchecked Sendable {
    private let lock = NSLock()
    private var list: [(sum: String?, time: CMTime, at: CMTime)] = []
    /// - Parameter now: the time of the timebase.
    func add(_ image: CVPixelBuffer?, _ time: CMTime, at now: CMTime = .invalid) {
      let sum = image.map { md5(ReaderTests.packed($0)) }
      lock.withLock { list.append((sum, time, now)) }
    }
    var all: [(sum: String?, time: CMTime, at: CMTime)] { lock.withLock { list } }
  }

  @Test func everyPictureIsShownInOrderAndNotTooEarly() async throws {
    let path = try Fixture.movie()
    let samples = try ReaderTests.read(AVURLAsset(url: URL(fileURLWithPath: path)))
    let layer = AVSampleBufferDisplayLayer()
    let shown = Shown()
    var made: CMTimebase?
    CMTimebaseCreateWithSourceClock(
      allocator: nil, sourceClock: CMClockGetHostTimeClock(), timebaseOut: &made)
    let timebase = try #require(made)
    layer.controlTimebase = timebase
    layer.frameHandler = { shown.add($0, $1, at: CMTimebaseGetTime(timebase)) }
    #expect(layer.status == .unknown && layer.timebase === timebase)
    let feed = DispatchQueue(label: "feed")
    nonisolated(unsafe) var next = 0
    layer.requestMediaDataWhenReady(on: feed) {
      while layer.isReadyForMoreMediaData, next < samples.count {
        layer.enqueue(samples[next])
        next += 1
      }
      if next == samples.count { layer.stopRequestingMediaData() }
    }
    // The time is stopped: the first picture, at zero, is due; no other.
    await waitUntil { !shown.all.isEmpty && !layer.isReadyForMoreMediaData }
    #expect(shown.all.map(\.time) == [.zero])
    #expect(layer.status == .rendering)
    // When the time is advanced by hand, no picture is skipped.
    func time(_ index: Int) -> CMTime { CMTime(value: CMTimeValue(index) * 1001, timescale: 30000) }
    for index in 1..<30 {
      CMTimebaseSetTime(timebase, time: time(index))
      await waitUntil { shown.all.last?.time == time(index) }
    }
    #expect(shown.all.map(\.time) == (0..<30).map(time))
    // While it runs, a busy machine may skip some.
    CMTimebaseSetRate(timebase, rate: 1)
    await waitUntil { shown.all.last?.time == time(59) }
    let all = shown.all
    #expect(zip(all, all.dropFirst()).allSatisfy { $0.time < $1.time })
    // No picture comes before its time.
    #expect(all.allSatisfy { $0.at >= $0.time })
    let theirs = try ReaderTests.frameMD5s(path, ["-pix_fmt", "nv12"])
    #expect(all.allSatisfy { $0.sum == theirs[Int($0.time.value / 1001)] })
    #expect(
      layer.videoRect(in: CGRect(x: 0, y: 0, width: 640, height: 240))
        == CGRect(x: 160, y: 0, width: 320, height: 240))
    layer.flushAndRemoveImage()
    await waitUntil { shown.all.last?.sum == nil }
    #expect(shown.all.last?.sum == nil && layer.status == .unknown)
  }

  @Test func damageIsReportedAndFlushHeals() async throws {
    let samples = try ReaderTests.read(AVURLAsset(url: URL(fileURLWithPath: Fixture.movie())))
    let layer = AVSampleBufferDisplayLayer()
    let shown = Shown()
    layer.frameHandler = { shown.add($0, $1) }
    let noise = Data((0..<500).map { UInt8(truncatingIfNeeded: $0 &* 73) })
    let block = try CMBlockBuffer(length: noise.count, flags: .assureMemoryNow)
    noise.withUnsafeBytes {
      _ = CMBlockBufferReplaceDataBytes(
        with: $0.baseAddress!, blockBuffer: block, offsetIntoDestination: 0, dataLength: noise.count)
    }
    var timing = CMSampleTimingInfo(duration: .invalid, presentationTimeStamp: .zero, decodeTimeStamp: .zero)
    var size = noise.count
    var bad: CMSampleBuffer?
    CMSampleBufferCreateReady(
      allocator: nil, dataBuffer: block, formatDescription: CMSampleBufferGetFormatDescription(samples[0]),
      sampleCount: 1,
      sampleTimingEntryCount: 1, sampleTimingArray: &timing, sampleSizeEntryCount: 1, sampleSizeArray: &size,
      sampleBufferOut: &bad)
    layer.enqueue(try #require(bad))
    await waitUntil { layer.status == .failed }
    #expect(layer.status == .failed && layer.requiresFlushToResumeDecoding)
    #expect((layer.error as? AVError)?.code == .decodeFailed)
    layer.flush()
    #expect(!layer.requiresFlushToResumeDecoding)
    // On the host clock, movie time zero is long over: shown at once.
    layer.enqueue(samples[0])
    await waitUntil { !shown.all.isEmpty }
    #expect(shown.all.first?.time == .zero)
  }

  /// A timebase stopped in the middle, as after a seek: pictures that only the decoder needs are
  /// not displayed.
  @Test func preRollIsNotShown() async throws {
    let path = try Fixture.movie()
    let samples = try ReaderTests.read(AVURLAsset(url: URL(fileURLWithPath: path)))
    let layer = AVSampleBufferDisplayLayer()
    let shown = Shown()
    layer.frameHandler = { shown.add($0, $1) }
    var made: CMTimebase?
    CMTimebaseCreateWithSourceClock(
      allocator: nil, sourceClock: CMClockGetHostTimeClock(), timebaseOut: &made)
    let timebase = try #require(made)
    layer.controlTimebase = timebase
    for target in [33, 47, 5] {
      layer.flush()
      let before = shown.all.count
      let time = CMTime(value: Int64(target) * 1001 + 500, timescale: 30000)
      CMTimebaseSetTime(timebase, time: time)
      let first = samples.indices.last {
        samples[$0].presentationTimeStamp <= time && samples[$0].sampleAttachments[0][.notSync] == nil
      }
      for sample in samples[(first ?? 0)...].prefix(20) {
        layer.enqueue(sample)
        letOthersRun(turns: 1000)
      }
      await waitUntil { shown.all.count > before }
      // The following pictures are displayed at once.
      let next = CMTime(value: Int64(target + 1) * 1001, timescale: 30000)
      CMTimebaseSetTime(timebase, time: next)
      await waitUntil { shown.all.last?.time == next }
      let pictures = shown.all.dropFirst(before)
      #expect(pictures.map(\.time) == [CMTime(value: Int64(target) * 1001, timescale: 30000), next])
    }
    // Marked so by the client, whatever the time.
    layer.flush()
    let before = shown.all.count
    CMTimebaseSetTime(timebase, time: .zero)
    let hidden = samples[0]
    hidden.sampleAttachments[0][.doNotDisplay] = true
    layer.enqueue(hidden)
    layer.enqueue(samples[1])
    let second = samples[1].presentationTimeStamp
    CMTimebaseSetTime(timebase, time: second)
    await waitUntil { shown.all.last?.time == second }
    #expect(shown.all.dropFirst(before).map(\.time) == [second])
  }

  /// Attachments of samples: an end of the picture, and a request to report when a sample was
  /// consumed.
  @Test func emptyMediaAndConsumptionAreHeeded() async throws {
    let samples = try ReaderTests.read(AVURLAsset(url: URL(fileURLWithPath: Fixture.movie())))
    let layer = AVSampleBufferDisplayLayer()
    let shown = Shown()
    layer.frameHandler = { shown.add($0, $1) }
    let consumed = Shown()
    let name = NSNotification.Name(kCMSampleBufferConsumerNotification_BufferConsumed as String)
    let observer = NotificationCenter.default.addObserver(forName: name, object: layer, queue: nil) { note in
      if note.userInfo?["number"] as? Int == 7 { consumed.add(nil, .zero) }
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    CMSetAttachment(
      samples[0], key: kCMSampleBufferAttachmentKey_PostNotificationWhenConsumed,
      value: ["number": 7] as NSDictionary, attachmentMode: kCMAttachmentMode_ShouldNotPropagate)
    layer.enqueue(samples[0])
    await waitUntil { shown.all.count == 1 && consumed.all.count == 1 }
    #expect(shown.all.first?.sum != nil && consumed.all.count == 1)
    var timing = CMSampleTimingInfo(
      duration: .invalid, presentationTimeStamp: CMTime(value: 1, timescale: 10), decodeTimeStamp: .invalid)
    var made: CMSampleBuffer?
    CMSampleBufferCreateReady(
      allocator: nil, dataBuffer: nil, formatDescription: nil, sampleCount: 0, sampleTimingEntryCount: 1,
      sampleTimingArray: &timing, sampleSizeEntryCount: 0, sampleSizeArray: nil, sampleBufferOut: &made)
    let empty = try #require(made)
    CMSetAttachment(
      empty, key: kCMSampleBufferAttachmentKey_EmptyMedia, value: kCFBooleanTrue,
      attachmentMode: kCMAttachmentMode_ShouldNotPropagate)
    layer.enqueue(empty)
    await waitUntil { shown.all.count == 2 }
    #expect(shown.all.count == 2 && shown.all.last?.sum == nil)
    #expect(layer.status == .rendering)
  }

  @Test func synchronizersDriveTimeAndObservers() async throws {
    let synchronizer = AVSampleBufferRenderSynchronizer()
    let layer = AVSampleBufferDisplayLayer()
    synchronizer.addRenderer(layer)
    #expect(synchronizer.renderers.count == 1 && layer.timebase === synchronizer.timebase)
    #expect(synchronizer.rate == 0 && synchronizer.currentTime() == .zero)
    let queue = DispatchQueue(label: "observe")
    let lock = NSLock()
    nonisolated(unsafe) var ticks: [CMTime] = []
    nonisolated(unsafe) var crossings = 0
    let periodic = synchronizer.addPeriodicTimeObserver(
      forInterval: CMTime(value: 1, timescale: 20), queue: queue
    ) { time in
      lock.withLock { ticks.append(time) }
    }
    let boundary = synchronizer.addBoundaryTimeObserver(
      forTimes: [
        NSValue(time: CMTime(value: 51, timescale: 10)), NSValue(time: CMTime(value: 52, timescale: 10)),
      ], queue: queue
    ) { lock.withLock { crossings += 1 } }
    synchronizer.setRate(1, time: CMTime(value: 5, timescale: 1))
    await waitUntil { lock.withLock { crossings == 2 && ticks.count > 4 } }
    #expect(synchronizer.currentTime() > CMTime(value: 51, timescale: 10))
    #expect(lock.withLock { crossings } == 2)
    synchronizer.removeTimeObserver(boundary)
    synchronizer.removeTimeObserver(periodic)
    queue.sync {}
    let count = lock.withLock { ticks.count }
    // While another hears of as much time.
    let others = Gathered<CMTime>()
    let other = synchronizer.addPeriodicTimeObserver(
      forInterval: CMTime(value: 1, timescale: 20), queue: queue
    ) { others.add($0) }
    await waitUntil { others.count >= 4 }
    synchronizer.removeTimeObserver(other)
    #expect(lock.withLock { ticks.count } == count)
    synchronizer.rate = 0
    let frozen = synchronizer.currentTime()
    #expect(synchronizer.currentTime() == frozen)
    let removed = await withCheckedContinuation { done in
      synchronizer.removeRenderer(layer, at: .invalid) { done.resume(returning: $0) }
    }
    #expect(removed && synchronizer.renderers.isEmpty && layer.timebase !== synchronizer.timebase)
  }

  /// Reports its release, and then asks a layer for room.
  private final class Asking: @unchecked Sendable {
    // Sendable: set once.
    private weak var layer: AVSampleBufferDisplayLayer?
    private let answers: Gathered<Bool>
    init(_ layer: AVSampleBufferDisplayLayer, _ answers: Gathered<Bool>) {
      (self.layer, self.answers) = (layer, answers)
    }
    deinit {
      guard let layer else { return }
      layer.stopRequestingMediaData()
      answers.add(layer.isReadyForMoreMediaData)
    }
  }

  private final class Window: PicturePresenter {
    func picturesChanged() {}
    func pictureRemoved() {}
  }

  /// A picture in memory of the program whose release callback asks the layer for room.
  private func asking(
    _ layer: AVSampleBufferDisplayLayer, _ answers: Gathered<Bool>, at seconds: Int64
  ) throws -> CMSampleBuffer {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 1024, alignment: 64)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: 1024)
    var made: CVPixelBuffer?
    CVPixelBufferCreateWithBytes(
      nil, 16, 16, kCVPixelFormatType_32BGRA, memory, 64,
      { asking, memory in
        memory?.deallocate()
        if let asking { Unmanaged<Asking>.fromOpaque(asking).release() }
      }, Unmanaged.passRetained(Asking(layer, answers)).toOpaque(), nil, &made)
    return try WriterBehaviourTests.sample(try #require(made), at: CMTime(value: seconds, timescale: 1))
  }

  /// Releasing a client's pictures and blocks may call the layer.
  @Test(.timeLimit(.minutes(HangLimit.minutes))) func picturesMayAskForRoomWhenTheyGo() async throws {
    let layer = AVSampleBufferDisplayLayer()
    let answers = Gathered<Bool>()
    var made: CMTimebase?
    CMTimebaseCreateWithSourceClock(
      allocator: nil, sourceClock: CMClockGetHostTimeClock(), timebaseOut: &made)
    let timebase = try #require(made)
    layer.controlTimebase = timebase
    for second in 0..<4 { layer.enqueue(try asking(layer, answers, at: Int64(second))) }
    await waitUntil { layer.isReadyForDisplay }
    // The displayed picture is released.
    CMTimebaseSetTime(timebase, time: CMTime(value: 1, timescale: 1))
    await waitUntil { answers.count == 1 }
    // Then that one, and one that was not displayed.
    CMTimebaseSetTime(timebase, time: CMTime(value: 7, timescale: 2))
    await waitUntil { answers.count == 3 }
    #expect(answers.count == 3)
    for second: Int64 in [10, 11] { layer.enqueue(try asking(layer, answers, at: second)) }
    layer.flush()
    await waitUntil { answers.count == 5 }
    layer.flushAndRemoveImage()
    await waitUntil { answers.count == 6 }
    #expect(answers.count == 6)
    // Those that a window's next picture makes superfluous.
    let window = Window()
    layer.setPresenter(window)
    for second: Int64 in [20, 21] { layer.enqueue(try asking(layer, answers, at: second)) }
    let last = CMTime(value: 21, timescale: 1)
    await waitUntil { layer.nextPicture(at: last)?.time == last && answers.count == 7 }
    #expect(answers.count == 7)
    layer.setPresenter(nil)
    withExtendedLifetime(window) {}
    // Blocks that capture such an object.
    let feed = DispatchQueue(label: "feed")
    func hold() {
      let (shown, wanted) = (Asking(layer, answers), Asking(layer, answers))
      layer.frameHandler = { _, _ in withExtendedLifetime(shown) {} }
      layer.requestMediaDataWhenReady(on: feed) { withExtendedLifetime(wanted) {} }
    }
    hold()
    feed.sync {}
    layer.stopRequestingMediaData()
    layer.frameHandler = nil
    await waitUntil { answers.count == 9 }
    #expect(answers.count == 9)
  }
}
