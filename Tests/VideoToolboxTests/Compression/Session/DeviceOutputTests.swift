// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import Foundation
import Synchronization
import TestSupport
import Testing
import VideoToolbox

/// Tests an encoder that delivers its frames when a device has finished them: from any thread, and
/// between two calls.
@Suite struct DeviceOutputTests {
  /// The results that a session's callbacks received, and their threads.
  private final class Results: Sendable {
    struct Entry: @unchecked Sendable {
      let status: OSStatus
      let flags: VTEncodeInfoFlags
      let sample: CMSampleBuffer?
      let thread: ObjectIdentifier
    }
    private let entries = Mutex<[Entry]>([])
    private let came = DispatchSemaphore(value: 0)

    func add(_ status: OSStatus, _ flags: VTEncodeInfoFlags, _ sample: CMSampleBuffer?) {
      let thread = ObjectIdentifier(Thread.current)
      entries.withLock {
        $0.append(Entry(status: status, flags: flags, sample: sample, thread: thread))
      }
      came.signal()
    }

    /// Waits for a number of further results.
    /// - Returns: False if they do not come.
    func wait(_ count: Int = 1) -> Bool {
      (0..<count).allSatisfy { _ in waitForSignal(came) }
    }

    var all: [Entry] { entries.withLock { $0 } }
    var statuses: [OSStatus] { all.map(\.status) }
    /// The numbers of the frames, by their presentation times; nil for a result without a sample.
    var frames: [Int?] {
      all.map { $0.sample.map { Int(($0.presentationTimeStamp.seconds * 30).rounded()) } }
    }
  }

  private static let clip = TestClip(width: 64, height: 48)

  /// Returns the time stamp of a frame as the encoder gets it, in microseconds.
  private static func tick(_ frame: Int) -> Int64 { (Int64(frame) * 1_000_000 + 15) / 30 }

  private func encode(_ session: VTCompressionSession, _ frame: Int, into results: Results) -> OSStatus {
    VTCompressionSessionEncodeFrame(
      session, imageBuffer: Self.clip.buffer(frame), presentationTimeStamp: Self.clip.time(frame),
      duration: .invalid, frameProperties: nil, infoFlagsOut: nil
    ) { results.add($0, $1, $2) }
  }

  private func complete(_ session: VTCompressionSession) -> OSStatus {
    VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid)
  }

  /// Creates a session with the device's encoder, encodes a number of pictures, and waits until the
  /// device has taken them.
  private func session(
    _ device: TestDevice, pictures: Int, into results: Results
  ) throws -> VTCompressionSession {
    CodecRegistry.shared.register(device.description)
    let session = try makeSession(device.codec.rawValue, width: 64, height: 48)
    for frame in 0..<pictures { try check(encode(session, frame, into: results), "frame \(frame)") }
    try #require(device.waitForPictures(pictures))
    return session
  }

  @Test("A frame that a device finishes between two calls is delivered without another call")
  func framesFinishedBetweenCallsAreDeliveredAtOnce() throws {
    let device = TestDevice(0)
    let results = Results()
    let session = try session(device, pictures: 3, into: results)
    #expect(results.all.isEmpty)
    let pushers = Mutex<Set<ObjectIdentifier>>([])
    for frame in 0..<3 {
      onOtherThread {
        pushers.withLock { _ = $0.insert(ObjectIdentifier(Thread.current)) }
        device.finish(Self.tick(frame))
      }
      #expect(results.wait())
      #expect(results.frames == Array(0...frame))
    }
    // All callbacks run on the session's thread.
    let threads = Set(results.all.map(\.thread))
    #expect(threads.count == 1 && threads.isDisjoint(with: [ObjectIdentifier(Thread.current)]))
    #expect(results.statuses == [noErr, noErr, noErr])
    for (frame, entry) in results.all.enumerated() {
      let bytes = withUnsafeBytes(of: Self.tick(frame)) { [UInt8]($0) }
      #expect(entry.sample?.bytes == bytes)
    }
    // A frame counts as pending until its callback has returned.
    #expect(complete(session) == noErr)
    #expect(try property(session, kVTCompressionPropertyKey_NumberOfPendingFrames) as? Int == 0)
    VTCompressionSessionInvalidate(session)
  }

  @Test("Frames are delivered in decode order, whichever thread finishes them, with valid decode times")
  func framesAreDeliveredInDecodeOrder() throws {
    // When the device holds two pictures, it finishes them during the call: first the odd one on
    // another thread, and then the even one on the session's thread.
    let device = TestDevice(1, depth: 1) { (device, time) in
      guard device.heldTimes.count == 2 else { return }
      let held = device.heldTimes
      onOtherThread { device.finish(held[1]) }
      device.finish(held[0])
    }
    let results = Results()
    let session = try session(device, pictures: 20, into: results)
    #expect(complete(session) == noErr)
    #expect(results.statuses == Array(repeating: noErr, count: 20))
    let swapped: [Int?] = (0..<20).map { $0 ^ 1 }
    #expect(results.frames == swapped)
    let samples = results.all.compactMap(\.sample)
    #expect(samples.count == 20)
    #expect(zip(samples, samples.dropFirst()).allSatisfy { $0.decodeTimeStamp < $1.decodeTimeStamp })
    #expect(samples.allSatisfy { $0.decodeTimeStamp <= $0.presentationTimeStamp })
    VTCompressionSessionInvalidate(session)
  }

  @Test("Completing frames waits for the device, from a callback too")
  func completingFramesWaitsForTheDevice() throws {
    let device = TestDevice(2)
    let results = Results()
    let session = try session(device, pictures: 4, into: results)
    #expect(complete(session) == noErr)
    #expect(results.frames == [0, 1, 2, 3])
    for frame in 4..<8 { try check(encode(session, frame, into: results), "frame \(frame)") }
    let inside = Mutex<[Int?]>([])
    let done = DispatchSemaphore(value: 0)
    try check(
      VTCompressionSessionEncodeFrame(
        session, imageBuffer: Self.clip.buffer(8), presentationTimeStamp: Self.clip.time(8),
        duration: .invalid, frameProperties: nil, infoFlagsOut: nil
      ) { _, _, _ in
        _ = VTCompressionSessionEncodeFrame(
          session, imageBuffer: Self.clip.buffer(9), presentationTimeStamp: Self.clip.time(9),
          duration: .invalid, frameProperties: nil, infoFlagsOut: nil
        ) { results.add($0, $1, $2) }
        _ = VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid)
        inside.withLock { $0 = results.frames }
        done.signal()
      }, "frame 8")
    try #require(device.waitForPictures(5))
    onOtherThread { for frame in 4..<9 { device.finish(Self.tick(frame)) } }
    #expect(waitForSignal(done))
    #expect(inside.withLock { $0 } == [0, 1, 2, 3, 4, 5, 6, 7, 9])
    VTCompressionSessionInvalidate(session)
  }

  @Test("A frame that is further out of order than allowed is a malfunction, and a new encoder follows")
  func outOfOrder() throws {
    for depth in [0, 1] {
      let device = TestDevice(3 + UInt8(depth), depth: depth)
      let results = Results()
      let session = try session(device, pictures: 4, into: results)
      // With a depth of 1, a frame may come one place late, but not two.
      let order = depth == 0 ? [1, 0] : [1, 2, 0]
      onOtherThread { for frame in order { device.finish(Self.tick(frame)) } }
      #expect(results.wait(4))
      let expected: [Int?] = depth == 0 ? [1, nil] : [1, 2, nil]
      #expect(Array(results.frames.prefix(order.count)) == expected)
      // The frame that came late fails, and so do those that the encoder held.
      #expect(results.statuses.filter { $0 == kVTVideoEncoderMalfunctionErr }.count == 4 - order.count + 1)
      #expect(device.encoderCount == 1)
      try check(encode(session, 4, into: results), "after it")
      try #require(device.waitForPictures(1))
      #expect(device.encoderCount == 2)
      onOtherThread { device.finish(Self.tick(4)) }
      #expect(results.wait())
      #expect(results.frames.last == 4)
      VTCompressionSessionInvalidate(session)
    }
  }

  @Test("A picture that a device fails on is reported alone, and a dropped one as dropped")
  func aPictureThatADeviceFailsOnIsReportedAlone() throws {
    let device = TestDevice(5)
    let results = Results()
    let session = try session(device, pictures: 4, into: results)
    onOtherThread {
      device.finish(Self.tick(0))
      device.fail(Self.tick(1), .unsupported("this picture"))
      device.finish(Self.tick(2), isDropped: true)
      // Both are ignored: a frame of no picture, and the failure of a picture that is finished.
      device.finish(77)
      device.fail(Self.tick(0), .malfunction("none of it"))
      device.finish(Self.tick(3))
    }
    #expect(results.wait(4))
    #expect(results.statuses == [noErr, kVTPropertyNotSupportedErr, noErr, noErr])
    #expect(results.frames == [0, nil, nil, 3])
    #expect(results.all.map { $0.flags.contains(.frameDropped) } == [false, true, true, false])
    #expect(device.encoderCount == 1)
    VTCompressionSessionInvalidate(session)
  }

  @Test(
    "After a malfunction between calls, the pictures of the encoder fail, and its later frames are ignored")
  func aMalfunctionBetweenCallsEndsTheEncoder() throws {
    let device = TestDevice(6)
    let results = Results()
    let session = try session(device, pictures: 4, into: results)
    let first = try #require(device.output)
    onOtherThread {
      device.finish(Self.tick(0))
      device.fail(Self.tick(1), .malfunction("the device is gone"))
      device.finish(Self.tick(2))
    }
    #expect(results.wait(4))
    let malfunction = kVTVideoEncoderMalfunctionErr
    #expect(results.statuses == [noErr, malfunction, malfunction, malfunction])
    try check(encode(session, 4, into: results), "after it")
    try #require(device.waitForPictures(1))
    #expect(device.encoderCount == 2)
    onOtherThread {
      device.finish(Self.tick(4), to: first)
      device.finish(Self.tick(4))
    }
    #expect(results.wait())
    #expect(results.statuses.last == noErr && results.all.count == 5)
    VTCompressionSessionInvalidate(session)
  }

  @Test(
    "A picture that the encoder fails on during its call, after the device has finished it, has one outcome")
  func aPictureHasOneOutcomeThoughTheEncoderFailsOnIt() throws {
    let device = TestDevice(7) { (device, time) throws(CodecError) in
      guard time == Self.tick(1) else { return }
      onOtherThread { for held in device.heldTimes { device.finish(held) } }
      throw .malfunction("after the frame")
    }
    let results = Results()
    let session = try session(device, pictures: 3, into: results)
    #expect(results.wait(2))
    #expect(results.statuses == [noErr, noErr] && results.frames == [0, 1])
    #expect(complete(session) == noErr)
    #expect(results.frames == [0, 1, 2] && device.encoderCount == 2)
    VTCompressionSessionInvalidate(session)
  }

  @Test("Frames that an encoder loses when it is flushed are reported as failed")
  func framesLostInAFlushAreReportedAsFailed() throws {
    let device = TestDevice(8, flush: .loses)
    let results = Results()
    let session = try session(device, pictures: 3, into: results)
    #expect(complete(session) == noErr)
    #expect(results.statuses == Array(repeating: kVTVideoEncoderMalfunctionErr, count: 3))
    #expect(try property(session, kVTCompressionPropertyKey_NumberOfPendingFrames) as? Int == 0)
    // A frame that the device finishes afterwards is ignored.
    onOtherThread { device.finish(Self.tick(1)) }
    #expect(complete(session) == noErr)
    #expect(results.all.count == 3 && device.livingFrames == 0)
    VTCompressionSessionInvalidate(session)
  }

  @Test("No callback runs after a session of a busy device was invalidated, and no frame's memory leaks")
  func noCallbackRunsAfterInvalidationWithABusyDevice() throws {
    for round in 0..<20 {
      let device = TestDevice(9)
      let results = Results()
      var session: VTCompressionSession? = try session(device, pictures: 30, into: results)
      let output = try #require(device.output)
      let end = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        for frame in 0..<30 { device.finish(Self.tick(frame), to: output) }
        end.signal()
      }
      // Releasing the last reference ends the session as well as invalidation does.
      if round % 2 == 0, let session { VTCompressionSessionInvalidate(session) }
      session = nil
      let count = results.all.count
      #expect(waitForSignal(end))
      // No callback runs for later frames either.
      onOtherThread {
        device.finish(Self.tick(3), to: output)
        output.fail(pictureAt: Self.tick(4), with: .malfunction("too late"))
      }
      #expect(results.all.count == count)
      #expect(results.frames == Array(0..<count))
      #expect(device.livingFrames == count)
    }
  }

  @Test("All frames are delivered of a device that finishes them on its own threads during encoding")
  func allFramesOfABusyDeviceAreDelivered() throws {
    // Each picture is finished on its own thread, which waits for its turn.
    let turn = NSCondition()
    nonisolated(unsafe) var next = 0
    let device = TestDevice(10) { (device, time) in
      let number = Int((Double(time) * 30 / 1e6).rounded())
      Thread.detachNewThread {
        turn.lock()
        while next != number { turn.wait() }
        device.finish(time)
        next += 1
        turn.broadcast()
        turn.unlock()
      }
    }
    let results = Results()
    let session = try session(device, pictures: 300, into: results)
    #expect(results.wait(300))
    #expect(results.frames == Array(0..<300))
    VTCompressionSessionInvalidate(session)
  }
}
