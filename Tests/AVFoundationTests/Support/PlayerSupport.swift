// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

/// Something that is counted or gathered across threads.
final class Gathered<Element: Sendable>: @unchecked Sendable {
  private let lock = NSLock()
  private var list: [Element] = []
  func add(_ element: Element) { lock.withLock { list.append(element) } }
  var all: [Element] { lock.withLock { list } }
  var count: Int { all.count }
}

/// Counts notifications of an object.
final class Heard: @unchecked Sendable {
  private let times = Gathered<Date>()
  private var token: (any NSObjectProtocol)?
  init(_ name: NSNotification.Name, _ object: AnyObject) {
    token = NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) { [times] _ in
      times.add(Date())
    }
  }
  deinit { if let token { NotificationCenter.default.removeObserver(token) } }
  var count: Int { times.count }
}

/// A device that asks when the test wants it to.
final class PulledSink: OVTAudioSink, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let lock = NSLock()
  private var source: Source?

  func start(sampleRate: Double, channels: Int, source: @escaping Source) throws {
    lock.withLock { self.source = source }
  }

  func stop() { lock.withLock { source = nil } }

  /// Asks for so many samples that are heard at a time; nil until audio has begun.
  var pull: ((_ count: Int, _ hostTime: CMTime) -> [Float])? {
    lock.withLock { source }.map { source in
      { count, time in
        var samples = [Float](repeating: 9, count: count)
        samples.withUnsafeMutableBufferPointer { source($0, time) }
        return samples
      }
    }
  }
}

/// An audio device of a test's: asks for 10 ms of audio every 10 ms, and keeps what it gets.
final class TestSink: OVTAudioSink, @unchecked Sendable {
  struct Piece: Sendable {
    let hostTime: CMTime
    let samples: [Float]
    let channels: Int
  }
  let heard = Gathered<Piece>()
  private let queue = DispatchQueue(label: "test-sink")
  private var timer: (any DispatchSourceTimer)?
  private(set) var rate = 0.0

  func start(sampleRate: Double, channels: Int, source: @escaping Source) throws {
    queue.sync {
      timer?.cancel()
      rate = sampleRate
      let made = DispatchSource.makeTimerSource(queue: queue)
      let frames = Int(sampleRate / 100)
      // As a device counts: evenly, however late it is asked on a busy machine.
      nonisolated(unsafe) var time =
        CMClockGetTime(CMClockGetHostTimeClock()) + CMTime(value: 20, timescale: 1000)
      made.setEventHandler { [heard] in
        let due = CMClockGetTime(CMClockGetHostTimeClock()) + CMTime(value: 20, timescale: 1000)
        while time < due {
          var samples = [Float](repeating: 9, count: frames * channels)
          samples.withUnsafeMutableBufferPointer { source($0, time) }
          heard.add(Piece(hostTime: time, samples: samples, channels: channels))
          time = time + CMTime(value: Int64(frames), timescale: CMTimeScale(sampleRate))
        }
      }
      made.schedule(deadline: .now(), repeating: .milliseconds(10))
      made.resume()
      timer = made
    }
  }

  func stop() {
    queue.sync {
      timer?.cancel()
      timer = nil
    }
  }
}
