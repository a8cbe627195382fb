// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import CoreMedia
import Dispatch

/// Delivers a movie's frames when their time has come on a timebase, as a camera would.
final class PacedSource: @unchecked Sendable {
  private let timebase: CMTimebase
  private let timer: DispatchSourceTimer
  private let queue = DispatchQueue(label: "source")
  private let output: AVAssetReaderTrackOutput
  private let reader: AVAssetReader
  private var next: CMSampleBuffer?
  private let limit: Int
  private var delivered = 0

  init(asset: AVAsset, track: AVAssetTrack, pixelFormat: OSType, limit: Int) throws {
    self.limit = limit
    reader = try AVAssetReader(asset: asset)
    output = AVAssetReaderTrackOutput(
      track: track, outputSettings: [kCVPixelBufferPixelFormatTypeKey as String: pixelFormat])
    output.alwaysCopiesSampleData = false
    reader.add(output)

    var timebaseOut: CMTimebase?
    let status = CMTimebaseCreateWithSourceClock(
      allocator: kCFAllocatorDefault, sourceClock: CMClockGetHostTimeClock(), timebaseOut: &timebaseOut)
    guard status == noErr, let timebaseOut else {
      throw NSError(domain: NSOSStatusErrorDomain, code: Int(status))
    }
    timebase = timebaseOut
    timer = DispatchSource.makeTimerSource(queue: queue)
  }

  /// The frames, in time. The stream ends with the movie or the limit.
  func frames() throws -> AsyncStream<CMSampleBuffer> {
    guard reader.startReading() else {
      throw reader.error ?? NSError(domain: NSOSStatusErrorDomain, code: -1)
    }
    let (stream, continuation) = AsyncStream.makeStream(of: CMSampleBuffer.self)
    timer.setEventHandler { [self] in tick(continuation) }
    guard CMTimebaseAddTimerDispatchSource(timebase, timerSource: timer) == noErr else {
      throw NSError(domain: NSOSStatusErrorDomain, code: -2)
    }
    timer.resume()
    queue.async { [self] in
      next = output.copyNextSampleBuffer()
      guard let first = next else { return continuation.finish() }
      CMTimebaseSetTime(timebase, time: first.presentationTimeStamp)
      CMTimebaseSetRate(timebase, rate: 1)
      tick(continuation)
    }
    return stream
  }

  private func tick(_ continuation: AsyncStream<CMSampleBuffer>.Continuation) {
    let now = CMTimebaseGetTime(timebase)
    while let sample = next, sample.presentationTimeStamp <= now {
      continuation.yield(sample)
      delivered += 1
      next = delivered < limit ? output.copyNextSampleBuffer() : nil
    }
    if let next {
      CMTimebaseSetTimerDispatchSourceNextFireTime(
        timebase, timerSource: timer, fireTime: next.presentationTimeStamp, flags: 0)
    } else {
      CMTimebaseRemoveTimerDispatchSource(timebase, timerSource: timer)
      timer.cancel()
      reader.cancelReading()
      continuation.finish()
    }
  }
}
