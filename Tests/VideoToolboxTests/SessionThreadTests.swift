// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Synchronization
import Testing
import TestSupport

@testable import VideoToolbox

/// A callback that blocks for a while, and its state as seen from outside.
private final class ConcurrentCaller: Sendable {
  let isRunning = Atomic(false)
  private let hasCome = Atomic(false)
  private let entered = DispatchSemaphore(value: 0)

  /// Blocks in the first call only, after `first`.
  func visit(_ first: () -> Void = {}) {
    guard !hasCome.exchange(true, ordering: .relaxed) else { return }
    isRunning.store(true, ordering: .sequentiallyConsistent)
    first()
    entered.signal()
    letOthersRun(turns: 400_000)
    isRunning.store(false, ordering: .sequentiallyConsistent)
  }

  func hasEntered() -> Bool { waitForSignal(entered) }
  var isStillThere: Bool { isRunning.load(ordering: .sequentiallyConsistent) }
}

/// Runs something on a thread of its own. What it returns waits for that, and says whether it has
/// ended.
private func onThread(_ work: @escaping @Sendable () -> Void) -> () -> Bool {
  let done = DispatchSemaphore(value: 0)
  Thread.detachNewThread {
    work()
    done.signal()
  }
  return { waitForSignal(done) }
}

private let smallClip = TestClip(width: 64, height: 48)

private func put(
  _ session: VTCompressionSession, _ time: CMTime, picture: Int = 0,
  _ handler: @escaping VTCompressionOutputHandler = { _, _, _ in }
) -> OSStatus {
  VTCompressionSessionEncodeFrame(
    session, imageBuffer: smallClip.buffer(picture), presentationTimeStamp: time, duration: .invalid,
    frameProperties: nil, infoFlagsOut: nil, outputHandler: handler)
}

@discardableResult
private func complete(_ session: VTCompressionSession) -> OSStatus {
  VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid)
}

/// Compression sessions that several threads, and their own callbacks, use at once.
@Suite struct CompressionSessionThreadTests {
  private func session(
    reorders: Bool = false, _ properties: [CFString: Any] = [:]
  ) throws -> VTCompressionSession {
    try makeSession(
      width: 64, height: 48,
      properties: properties.merging([kVTCompressionPropertyKey_AllowFrameReordering: reorders]) { $1 })
  }

  @Test(
    "No output callback runs after VTCompressionSessionInvalidate returns, from any thread and after repeated calls"
  )
  func noCallbackRunsAfterACompressionSessionIsInvalidated() throws {
    // Once by the callback itself, once by another thread.
    for isInside in [true, false] {
      let session = try session([kVTCompressionPropertyKey_RealTime: true])
      let caller = ConcurrentCaller()
      let sent = onThread {
        _ = put(session, .zero) { _, _, _ in
          caller.visit { if isInside { VTCompressionSessionInvalidate(session) } }
        }
        complete(session)
      }
      #expect(caller.hasEntered())
      let other = onThread { if !isInside { VTCompressionSessionInvalidate(session) } }
      if !isInside { letOthersRun(turns: 100_000) }
      VTCompressionSessionInvalidate(session)
      #expect(!caller.isStillThere, "inside: \(isInside)")
      #expect(sent() && other())
    }
  }

  @Test("A call whose work has begun returns after it, also if the session is invalidated meanwhile")
  func begunWorkEndsWhenACallbackInvalidates() throws {
    let session = try session()
    let caller = ConcurrentCaller()
    #expect(
      put(session, .zero) { _, _, _ in caller.visit { VTCompressionSessionInvalidate(session) } } == noErr)
    // The callback runs in this call, or before it.
    let status = complete(session)
    #expect(!caller.isStillThere)
    #expect(status == noErr || status == kVTInvalidSessionErr)
    #expect(complete(session) == kVTInvalidSessionErr)
  }

  @Test("Objects of waiting frames may call the session when they are released")
  func whatWaitingFramesHoldMayCallTheSessionWhenItGoes() throws {
    final class Holder: Sendable {
      let session: VTCompressionSession
      let gone: DispatchSemaphore
      init(_ session: VTCompressionSession, _ gone: DispatchSemaphore) {
        (self.session, self.gone) = (session, gone)
      }
      deinit {
        VTCompressionSessionInvalidate(session)
        gone.signal()
      }
    }
    let session = try session([kVTCompressionPropertyKey_RealTime: true])
    let (caller, gone) = (ConcurrentCaller(), DispatchSemaphore(value: 0))
    let first = onThread {
      _ = put(session, .zero) { _, _, _ in caller.visit() }
      complete(session)
    }
    #expect(caller.hasEntered())
    let second = onThread {
      let holder = Holder(session, gone)
      _ = put(session, CMTime(value: 1, timescale: 30)) { _, _, _ in withExtendedLifetime(holder) {} }
    }
    letOthersRun(turns: 50_000)
    let ended = onThread { VTCompressionSessionInvalidate(session) }
    #expect(ended() && first() && second())
    #expect(waitForSignal(gone))
  }

  @Test("Frames from several threads are output in the order of their times, or are rejected")
  func framesOfSeveralThreadsComeOutInTheOrderOfTheirTimes() throws {
    for round in 0..<4 {
      let session = try session()
      let next = Atomic<Int64>(0)
      let accepted = Atomic<Int>(0)
      let times = Mutex<[CMTime]>([])
      let others = Atomic<Int>(0)
      let threads = (0..<4).map { _ in
        onThread {
          for _ in 0..<150 {
            let time = CMTime(value: next.add(1, ordering: .relaxed).newValue, timescale: 30)
            let status = put(session, time) { _, _, sample in
              if let sample { times.withLock { $0.append(sample.presentationTimeStamp) } }
            }
            switch status {
            case noErr: accepted.add(1, ordering: .relaxed)
            case kVTParameterErr: break
            default: others.add(1, ordering: .relaxed)
            }
          }
        }
      }
      for ended in threads { #expect(ended()) }
      #expect(complete(session) == noErr)
      let given = times.withLock { $0 }
      #expect(zip(given, given.dropFirst()).allSatisfy { $0 < $1 }, "round \(round)")
      #expect(given.count == accepted.load(ordering: .relaxed) && !given.isEmpty)
      #expect(others.load(ordering: .relaxed) == 0)
      VTCompressionSessionInvalidate(session)
    }
  }

  @Test("No decode time is after its presentation time, with threads and callbacks")
  func noDecodeTimeIsAfterItsPresentationTime() throws {
    for round in 0..<8 {
      let session = try session(reorders: true)
      let late = Atomic<Int>(0)
      let threads = (0..<3).map { thread in
        onThread {
          for index in 0..<30 {
            _ = put(session, CMTime(value: Int64(index), timescale: 30), picture: index) { _, _, sample in
              if index % 7 == 0 { complete(session) }
              guard let sample, sample.decodeTimeStamp.isNumeric else { return }
              if sample.decodeTimeStamp > sample.presentationTimeStamp { late.add(1, ordering: .relaxed) }
            }
            VTSessionSetProperty(
              session, key: kVTCompressionPropertyKey_AverageBitRate,
              value: (10_000 + index * 1000 * (thread + 1)) as NSNumber)
          }
        }
      }
      for ended in threads { #expect(ended()) }
      #expect(complete(session) == noErr)
      #expect(late.load(ordering: .relaxed) == 0, "round \(round)")
      VTCompressionSessionInvalidate(session)
    }
  }

  @Test("A frame rejected for lack of room may be submitted again with its time")
  func aFrameThatFindsNoRoomMayComeAgainWithItsTime() throws {
    let session = try session()
    let seen = Mutex<(refused: OSStatus, again: OSStatus, count: Int)>((noErr, -1, 0))
    let isFirst = Atomic(true)
    #expect(
      put(session, .zero) { _, _, _ in
        guard isFirst.exchange(false, ordering: .relaxed) else { return }
        for index in 1..<5000 {
          let time = CMTime(value: Int64(index), timescale: 30)
          let status = put(session, time)
          guard status != noErr else { continue }
          complete(session)
          let again = put(session, time)
          seen.withLock { $0 = (status, again, index) }
          return
        }
      } == noErr)
    #expect(complete(session) == noErr)
    #expect(seen.withLock { $0.refused } == kVTAllocationFailedErr)
    #expect(seen.withLock { $0.again } == noErr)
    #expect(seen.withLock { $0.count } > 1000)
    VTCompressionSessionInvalidate(session)
  }

  @Test("The times of a session have one epoch")
  func theTimesOfASessionAreOfOneEpoch() throws {
    func time(_ value: Int64, _ epoch: Int64) -> CMTime {
      CMTime(value: value, timescale: 30, flags: .valid, epoch: epoch)
    }
    for epoch in [0, 3] as [Int64] {
      let session = try session(reorders: true)
      let given = Mutex<[CMSampleBuffer]>([])
      func putOne(_ time: CMTime) -> OSStatus {
        put(session, time) { _, _, sample in if let sample { given.withLock { $0.append(sample) } } }
      }
      #expect(putOne(time(5, epoch)) == noErr)
      for other in [epoch - 1, epoch + 1] {
        for value in [1, 6, 9] { #expect(putOne(time(Int64(value), other)) == kVTParameterErr) }
      }
      for value in 6..<20 { #expect(putOne(time(Int64(value), epoch)) == noErr) }
      #expect(complete(session) == noErr)
      let samples = given.withLock { $0 }
      #expect(samples.count == 15)
      #expect(
        samples.allSatisfy {
          $0.presentationTimeStamp.epoch == epoch && $0.decodeTimeStamp.epoch == epoch
            && $0.decodeTimeStamp <= $0.presentationTimeStamp
        })
      VTCompressionSessionInvalidate(session)
    }
    // A duration has no epoch.
    let session = try session()
    #expect(
      VTCompressionSessionEncodeFrame(
        session, imageBuffer: smallClip.buffer(0), presentationTimeStamp: time(1, 2), duration: time(1, 2),
        frameProperties: nil, infoFlagsOut: nil
      ) { _, _, _ in } == kVTParameterErr)
  }

  // MARK: - Passes

  private func passSession() throws -> (VTCompressionSession, VTMultiPassStorage)? {
    let session = try session(reorders: true, [kVTCompressionPropertyKey_AverageBitRate: 200_000])
    var storage: VTMultiPassStorage?
    #expect(
      VTMultiPassStorageCreate(
        allocator: nil, fileURL: nil, timeRange: .invalid, options: nil, multiPassStorageOut: &storage)
        == noErr)
    let made = try #require(storage)
    // Only an encoder with several passes has the property.
    guard
      VTSessionSetProperty(session, key: kVTCompressionPropertyKey_MultiPassStorage, value: made) == noErr
    else { return nil }
    return (session, made)
  }

  @Test("A pass that is ending accepts no frames, and ends once")
  func passesEndOnce() throws {
    guard let (session, storage) = try passSession() else { return }
    defer { VTCompressionSessionInvalidate(session) }
    #expect(VTCompressionSessionBeginPass(session, flags: [], nil) == noErr)
    let seen = Mutex<[OSStatus]>([])
    let isLast = Atomic(false)
    for index in 0..<6 {
      let status = put(session, smallClip.time(index), picture: index) { _, _, _ in
        guard isLast.exchange(false, ordering: .sequentiallyConsistent) else { return }
        let statuses = [
          put(session, smallClip.time(50)),
          VTCompressionSessionEndPass(session, furtherPassesRequestedOut: nil, nil),
          VTCompressionSessionBeginPass(session, flags: [], nil),
        ]
        seen.withLock { $0 = statuses }
      }
      #expect(status == noErr)
    }
    isLast.store(true, ordering: .sequentiallyConsistent)
    var wantsMore = DarwinBoolean(false)
    #expect(VTCompressionSessionEndPass(session, furtherPassesRequestedOut: &wantsMore, nil) == noErr)
    // Its look-ahead keeps some of six frames until the end.
    #expect(seen.withLock { $0 } == [kVTParameterErr, kVTParameterErr, kVTParameterErr])
    #expect(wantsMore.boolValue)

    // Previously returned ranges stay valid.
    func ranges() -> UnsafePointer<CMTimeRange>? {
      var (count, list) = (0, UnsafePointer<CMTimeRange>?.none)
      #expect(
        VTCompressionSessionGetTimeRangesForNextPass(
          session, timeRangeCountOut: &count, timeRangeArrayOut: &list) == noErr)
      #expect(count == 1)
      return list
    }
    let before = ranges()
    #expect(before != nil && ranges() == before)
    withExtendedLifetime(storage) {}
  }

  @Test("A storage that is closed during a pass leaves no file")
  func closedDuringAPass() throws {
    var path = ""
    do {
      guard let (session, storage) = try passSession() else { return }
      path = storage.path
      #expect(VTCompressionSessionBeginPass(session, flags: [], nil) == noErr)
      for index in 0..<6 { #expect(put(session, smallClip.time(index), picture: index) == noErr) }
      #expect(VTMultiPassStorageClose(storage) == noErr)
      #expect(put(session, smallClip.time(6)) == kVTMultiPassStorageInvalidErr)
      _ = VTCompressionSessionEndPass(session, furtherPassesRequestedOut: nil, nil)
      VTCompressionSessionInvalidate(session)
    }
    #expect(!FileManager.default.fileExists(atPath: path))
  }
}

/// Decompression sessions that several threads, and their own callbacks, use at once.
@Suite struct DecompressionSessionThreadTests {
  private func samples(_ profile: CFString, count: Int = 10) throws -> [CMSampleBuffer] {
    let session = try makeSession(
      width: 64, height: 48,
      properties: [
        kVTCompressionPropertyKey_AllowFrameReordering: false,
        kVTCompressionPropertyKey_ProfileLevel: profile,
      ])
    defer { VTCompressionSessionInvalidate(session) }
    return try encode(session, smallClip, count: count)
  }

  private func decoder(_ samples: [CMSampleBuffer]) throws -> VTDecompressionSession {
    try makeDecoder(try #require(samples.first?.formatDescription))
  }

  private func decode(
    _ session: VTDecompressionSession, _ sample: CMSampleBuffer, _ flags: VTDecodeFrameFlags = [],
    _ handler: @escaping VTDecompressionOutputHandler = { _, _, _, _, _ in }
  ) -> OSStatus {
    VTDecompressionSessionDecodeFrame(
      session, sampleBuffer: sample, flags: flags, infoFlagsOut: nil, outputHandler: handler)
  }

  @Test(
    "No output callback runs after VTCompressionSessionInvalidate returns, from any thread and after repeated calls"
  )
  func noCallbackRunsAfterADecompressionSessionIsInvalidated() throws {
    let samples = try samples(kVTProfileLevel_H264_Main_AutoLevel, count: 1)
    for isInside in [true, false] {
      let session = try decoder(samples)
      let caller = ConcurrentCaller()
      #expect(
        decode(session, samples[0], ._EnableAsynchronousDecompression) { _, _, _, _, _ in
          caller.visit { if isInside { VTDecompressionSessionInvalidate(session) } }
        } == noErr)
      #expect(caller.hasEntered())
      let other = onThread { if !isInside { VTDecompressionSessionInvalidate(session) } }
      if !isInside { letOthersRun(turns: 100_000) }
      VTDecompressionSessionInvalidate(session)
      #expect(!caller.isStillThere, "inside: \(isInside)")
      #expect(other())
      #expect(decode(session, samples[0]) == kVTInvalidSessionErr)
    }
  }

  @Test("A session may be called from the callback of another that its own callback calls")
  func sessionsMayBeCalledFromEachOthersCallbacks() throws {
    let samples = try samples(kVTProfileLevel_H264_Main_AutoLevel, count: 2)
    let (outer, inner) = (try decoder(samples), try decoder(samples))
    let seen = Mutex<[OSStatus]>([])
    #expect(
      decode(outer, samples[0]) { _, _, _, _, _ in
        let status = decode(inner, samples[0]) { status, _, _, _, _ in
          let again = decode(outer, samples[1]) { status, _, _, _, _ in seen.withLock { $0.append(status) } }
          let waited = VTDecompressionSessionWaitForAsynchronousFrames(outer)
          VTDecompressionSessionInvalidate(outer)
          seen.withLock { $0 += [status, again, waited] }
        }
        seen.withLock { $0.append(status) }
      } == noErr)
    #expect(seen.withLock { $0 } == [noErr, noErr, noErr, noErr, noErr])
  }

  @Test("What a callback has decoded at once comes after the frames that wait already")
  func whatACallbackDecodesAtOnceComesBehindWaitingFrames() throws {
    let samples = try samples(kVTProfileLevel_H264_Main_AutoLevel, count: 4)
    typealias Seen = (index: Int, status: OSStatus, picture: [UInt8])
    let seen = Mutex<[Seen]>([])
    let session = try decoder(samples)
    @Sendable func put(_ n: Int, _ flags: VTDecodeFrameFlags, _ more: @escaping @Sendable () -> Void = {})
      -> OSStatus
    {
      decode(session, samples[n], flags) { status, _, image, _, _ in
        seen.withLock { $0.append((n, status, image.map { planar($0) } ?? [])) }
        more()
      }
    }
    let inside = put(0, ._EnableAsynchronousDecompression) {
      #expect(put(1, ._EnableAsynchronousDecompression) == noErr)
      #expect(put(2, []) == noErr)
      #expect(seen.withLock { $0.map(\.index) } == [0, 1, 2])
      #expect(put(3, ._EnableAsynchronousDecompression) == noErr)
      #expect(VTDecompressionSessionWaitForAsynchronousFrames(session) == noErr)
      #expect(seen.withLock { $0.map(\.index) } == [0, 1, 2, 3])
    }
    #expect(inside == noErr)
    #expect(VTDecompressionSessionWaitForAsynchronousFrames(session) == noErr)
    let plain = try decoder(samples)
    for entry in seen.withLock({ $0 }) {
      let expected = Mutex<[UInt8]>([])
      #expect(
        VTDecompressionSessionDecodeFrame(
          plain, sampleBuffer: samples[entry.index], flags: [], frameOptions: nil, infoFlagsOut: nil
        ) { _, _, image, _, _ in expected.withLock { $0 = image.map { planar($0) } ?? [] } } == noErr)
      #expect(
        entry.status == noErr && !entry.picture.isEmpty && entry.picture == expected.withLock { $0 },
        "\(entry.index)")
    }
  }

  @Test("Each frame is decoded with its own format description, whichever thread is first")
  func eachFrameIsDecodedWithItsOwnFormatDescription() throws {
    let first = try samples(kVTProfileLevel_H264_Baseline_AutoLevel)
    let second = try samples(kVTProfileLevel_H264_High_AutoLevel)
    #expect(first[0].parameterSets != second[0].parameterSets)
    let reference = Mutex<[UInt8]>([])
    #expect(
      decode(try decoder(second), second[0]) { _, _, image, _, _ in
        if let image { reference.withLock { $0 = planar(image) } }
      } == noErr)
    let expected = reference.withLock { $0 }
    #expect(!expected.isEmpty)

    let session = try decoder(first)
    let caller = ConcurrentCaller()
    let asynchronous = VTDecodeFrameFlags._EnableAsynchronousDecompression
    #expect(decode(session, first[0], asynchronous) { _, _, _, _, _ in caller.visit() } == noErr)
    #expect(caller.hasEntered())
    // The maximum number of waiting frames.
    for sample in first[1..<9] { #expect(decode(session, sample, asynchronous) == noErr) }
    let images = ImageCollector()
    // This frame waits for room, and the other one overtakes it.
    let ended = [asynchronous, []].map { flags in
      let ended = onThread { _ = decode(session, second[0], flags, images.add) }
      letOthersRun(turns: 100_000)
      return ended
    }
    for ended in ended { #expect(ended()) }
    #expect(VTDecompressionSessionWaitForAsynchronousFrames(session) == noErr)
    #expect(images.count == 2)
    #expect(images.all.allSatisfy { $0.status == noErr && $0.image.map { planar($0) == expected } == true })
    VTDecompressionSessionInvalidate(session)
  }

  @Test("Times of several epochs are allowed: every frame is output with its time")
  func framesOfSeveralEpochsComeWithTheirTimes() throws {
    let samples = try samples(kVTProfileLevel_H264_Main_AutoLevel)
    for flags in [[], ._EnableTemporalProcessing] as [VTDecodeFrameFlags] {
      let session = try decoder(samples)
      let images = ImageCollector()
      for epoch in [0, 2, 1] as [Int64] {
        for sample in samples {
          var timing = CMSampleTimingInfo(
            duration: .invalid, presentationTimeStamp: sample.presentationTimeStamp, decodeTimeStamp: .invalid
          )
          timing.presentationTimeStamp.epoch = epoch
          var copy: CMSampleBuffer?
          #expect(
            CMSampleBufferCreateCopyWithNewTiming(
              allocator: nil, sampleBuffer: sample, sampleTimingEntryCount: 1, sampleTimingArray: &timing,
              sampleBufferOut: &copy) == noErr)
          #expect(decode(session, try #require(copy), flags, images.add) == noErr)
        }
      }
      #expect(VTDecompressionSessionFinishDelayedFrames(session) == noErr)
      #expect(images.images.count == 3 * samples.count)
      let times = samples.map(\.presentationTimeStamp)
      #expect(
        images.times
          == [0, 2, 1].flatMap { epoch in
            times.map { CMTime(value: $0.value, timescale: $0.timescale, flags: $0.flags, epoch: epoch) }
          })
      VTDecompressionSessionInvalidate(session)
    }
  }
}
