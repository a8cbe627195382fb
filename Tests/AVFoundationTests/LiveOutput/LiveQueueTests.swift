// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Testing

@testable import AVFoundation

/// The queueing of the samples of a live stream: the test sets the clock, so that nothing depends
/// on the duration of the test.
@Suite struct LiveQueueTests {
  private static let format = try? CMVideoFormatDescription(
    videoCodecType: .h264, width: 16, height: 16)

  private func picture(_ number: Int, isKey: Bool = false) throws -> CMSampleBuffer {
    let block = try CMBlockBuffer(length: 8, flags: .assureMemoryNow)
    let buffer = try CMSampleBuffer(
      dataBuffer: block, formatDescription: Self.format, numSamples: 1,
      sampleTimings: [
        CMSampleTimingInfo(
          duration: CMTime(value: 1, timescale: 25),
          presentationTimeStamp: CMTime(value: CMTimeValue(number), timescale: 25), decodeTimeStamp: .invalid)
      ], sampleSizes: [8])
    let notes =
      CMSampleBufferGetSampleAttachmentsArray(buffer, createIfNecessary: true) as? [NSMutableDictionary]
    if !isKey { notes?.first?[kCMSampleAttachmentKey_NotSync] = true }
    return buffer
  }

  private func queue() -> LiveQueue {
    LiveQueue(
      isVideo: [true], longest: CMTime(value: 4, timescale: 1), congested: CMTime(value: 1, timescale: 1))
  }

  private func push(
    _ number: Int, isKey: Bool = false, isAway: Bool = false, mayDrop: Bool = true, to queue: inout LiveQueue
  ) throws -> [OVTLiveOutput.Event] {
    queue.push(
      try picture(number, isKey: isKey), at: CMTime(value: CMTimeValue(number), timescale: 25), to: 0,
      isAway: isAway, isConnected: !isAway, mayDrop: mayDrop)
  }

  private func counts(_ queue: LiveQueue) -> OVTLiveOutput.Statistics {
    var counts = OVTLiveOutput.Statistics()
    queue.report(to: &counts)
    return counts
  }

  @Test(
    "If a server takes no data, the rate is lowered step by step, and then pictures are dropped up to a key frame"
  )
  func aServerThatTakesNothingLowersTheRate() throws {
    var queue = queue()
    var scales: [Double] = []
    var dropped = 0
    var wantsKey = 0
    for number in 0..<500 {
      // The next frame is the requested key frame.
      for event in try push(number, isKey: number == 0 || wantsKey > 0 && number == 120, to: &queue) {
        switch event {
        case .bitRateScale(let scale): scales.append(scale)
        case .dropped(let pictures): dropped += pictures
        case .keyFrameNeeded: wantsKey += 1
        default: Issue.record("\(event)")
        }
      }
      #expect(counts(queue).queuedDuration <= CMTime(value: 4, timescale: 1))
    }
    #expect(scales.count >= 2 && abs(scales[0] - 0.7) < 1e-9 && abs(scales[1] - 0.49) < 1e-9, "\(scales)")
    #expect(scales.allSatisfy { $0 >= 0.1 })
    #expect(wantsKey >= 1 && dropped >= 100)
    // All that is not dropped is in the queue.
    var rest = 0
    while queue.pop() != nil { rest += 1 }
    #expect(counts(queue).droppedPictureCount + rest == 500)
  }

  @Test("If a server takes all data again, the full rate is restored")
  func theRateComesBack() throws {
    var queue = queue()
    var scale = 1.0
    var lowest = 1.0
    for number in 0..<2000 {
      for case .bitRateScale(let now) in try push(number, isKey: number == 0, to: &queue) { scale = now }
      lowest = min(lowest, scale)
      // Nothing is sent for two seconds, and then all.
      if number > 50 { while queue.pop() != nil {} }
    }
    #expect(lowest < 0.75 && scale == 1)
    #expect(counts(queue).droppedPictureCount == 0)
  }

  @Test("After a lost connection the stream continues with a key frame, and dropped pictures are counted")
  func afterALostConnectionTheStreamGoesOnWithAKeyFrame() throws {
    var queue = queue()
    for number in 0..<10 { _ = try push(number, isKey: number == 0, to: &queue) }
    for _ in 0..<4 { _ = queue.pop() }
    queue.lose()
    for number in 10..<30 { _ = try push(number, isKey: number == 20, isAway: true, to: &queue) }
    #expect(queue.pop() == nil)
    for number in 30..<40 { _ = try push(number, isKey: number == 35, to: &queue) }
    #expect(queue.pop()?.time == CMTime(value: 35, timescale: 25))
    #expect(counts(queue).lostPictureCount == 6 + 20 + 5 && counts(queue).droppedPictureCount == 0)
  }

  @Test("A program that waits for room in the queue loses no pictures")
  func aProgramThatWaitsLosesNothing() throws {
    var queue = queue()
    for number in 0..<500 {
      #expect(try push(number, isKey: number == 0, mayDrop: false, to: &queue).isEmpty)
    }
    #expect(queue.isFull)
    var all = 0
    while queue.pop() != nil { all += 1 }
    #expect(all == 500)
  }

  @Test("The pauses before attempts to connect are 1, 2, 4, 8, 16 and then 30 s")
  func thePausesGrow() {
    #expect((0..<8).map(LiveEngine.pause) == [1, 2, 4, 8, 16, 30, 30, 30])
  }

  @Test("An output rejects unsupported formats, and never reports a stream key")
  func anOutputRefusesWhatNoServerTakes() throws {
    let format = try #require(Self.format)
    let http = try #require(URL(string: "http://localhost/hiddenkey"))
    #expect { _ = try OVTLiveOutput(url: http, formats: [format]) } throws: { error in
      (error as? AVError)?.code == .fileFormatNotRecognized && !"\(error)".contains("hidden")
    }
    let url = try #require(URL(string: "rtmp://localhost/app/hiddenkey"))
    #expect(throws: AVError.self) { _ = try OVTLiveOutput(url: url, formats: []) }
    let output = try OVTLiveOutput(url: url, formats: [format])
    #expect(output.redactedAddress == "rtmp://localhost/app/***" && output.status == .unknown)
    #expect { try output.append(try picture(0), toTrackAt: 0) } throws: {
      ($0 as? AVError)?.code == .operationNotAllowed
    }
    #expect { try output.append(try picture(0), toTrackAt: 1) } throws: {
      ($0 as? AVError)?.code == .invalidSourceMedia
    }
  }

  @Test("A first connection that is refused is a failure, and ends the output")
  func aFirstConnectionThatIsRefusedIsAFailure() async throws {
    // A port of a socket of this test that does not listen.
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = bind(socket, $0, length)
        _ = getsockname(socket, $0, &length)
      }
    }
    let url = try #require(
      URL(string: "rtmp://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/app/hiddenkey"))
    let output = try OVTLiveOutput(url: url, formats: [try #require(Self.format)])
    output.start()
    await output.finish()
    #expect(output.status == .failed)
    let error = try #require(output.error)
    #expect("\(error)".contains("rtmp://127.0.0.1") && !"\(error)".contains("hidden"), "\(error)")
    #expect(throws: AVError.self) { try output.append(try picture(0, isKey: true), toTrackAt: 0) }
  }
}
