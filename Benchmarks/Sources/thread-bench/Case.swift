// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BenchmarkSupport
import CWaitCounter
import Foundation
import H264Encoder

/// The cost of an encoding: elapsed time, processor time and waiting time of threads in seconds,
/// and a hash of the stream.
struct Run {
  var threads: Int
  var wall: Double
  var processor: Double
  var waited: Double
  var hash: UInt64
}

/// An encoder with its settings.
struct Case: ExpressibleByArgument, CustomStringConvertible {
  enum Mode: String { case files, qp, calls }

  var mode: Mode
  var effort: Int
  /// The bit rate in kb/s, or the QP.
  var value: Int

  init(_ mode: Mode, _ effort: Int, _ value: Int) {
    self.mode = mode
    self.effort = effort
    self.value = value
  }

  init?(argument: String) {
    let parts = argument.split(separator: ":")
    guard parts.count == 3, let mode = Mode(rawValue: String(parts[0])), let effort = Int(parts[1]),
      let value = Int(parts[2])
    else { return nil }
    self.init(mode, effort, value)
  }

  var description: String { "\(mode.rawValue):\(effort):\(value)" }

  func run(_ clip: MappedClip, threads: Int) throws -> Run {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    func take(_ frame: consuming H264EncodedFrame) {
      frame.withBytes {
        for i in 0..<$0.count { hash = (hash ^ UInt64($0[i])) &* 0x100_0000_01B3 }
      }
    }
    var stream = H264EncoderConfiguration(width: clip.width, height: clip.height)
    stream.frameRate = clip.frameRate
    stream.profile = .high
    stream.effort = effort
    stream.threads = threads
    let start = (Self.now(CLOCK_MONOTONIC), Self.now(CLOCK_PROCESS_CPUTIME_ID), waited_seconds())
    switch mode {
    case .calls:
      stream.lowLatency.rateControl = .averageBitRate(value * 1000)
      stream.lowLatency.maximumQueueDelay = 0.5
      stream.maximumReferences = H264EncoderConfiguration.referencesUsed(effort: effort)
      let encoder = try H264Encoder(configuration: stream)
      for i in 0..<clip.count { take(try encoder.encode(clip.picture(i))) }
    case .files, .qp:
      var configuration = stream
      configuration.lookAhead.rate = mode == .qp ? .constantQP(value) : .average(value * 1000)
      // For each effort, as sessions set it.
      let lookAheads = [0, 10, 20, 20, 30, 40, 50, 60, 80, 100]
      configuration.lookAhead.frames = lookAheads[min(effort, lookAheads.count - 1)]
      configuration.lookAhead.adaptiveQuantisation = 0
      configuration.maximumReferences = 4
      configuration.minimumQP = 0
      let encoder = try H264Encoder(configuration: configuration)
      for i in 0..<clip.count { try encoder.encode(clip.picture(i)) { take($0) } }
      encoder.flush { take($0) }
    }
    // All threads have ended by now. Waiting time is counted when a thread is woken, so the count
    // is complete.
    return Run(
      threads: threads,
      wall: Self.now(CLOCK_MONOTONIC) - start.0, processor: Self.now(CLOCK_PROCESS_CPUTIME_ID) - start.1,
      waited: waited_seconds() - start.2, hash: hash)
  }

  private static func now(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }
}

/// The raw frames of a clip in memory, repeated several times.
struct MappedClip {
  let width: Int
  let height: Int
  let frameRate: Double
  let count: Int
  private let frames: Int
  private let base: UnsafePointer<UInt8>

  init(_ clip: RawClip, loops: Int) throws {
    (width, height, frameRate, frames) = (clip.width, clip.height, clip.frameRate, clip.frames)
    count = clip.frames * max(loops, 1)
    let file = open(clip.rawPath, O_RDONLY)
    let size = clip.frameSize * clip.frames
    guard file >= 0, let mapped = mmap(nil, size, PROT_READ, MAP_SHARED | Int32(MAP_POPULATE), file, 0),
      mapped != MAP_FAILED
    else { throw BenchmarkError(description: "cannot map \(clip.rawPath)") }
    close(file)
    base = UnsafePointer(mapped.assumingMemoryBound(to: UInt8.self))
  }

  func picture(_ i: Int) -> SourcePicture {
    let luma = base + i % frames * (width * height * 3 / 2)
    let cb = luma + width * height
    return SourcePicture(
      width: width, height: height, luma: luma, lumaBytesPerRow: width,
      chroma: .planar(
        cb: cb, cbBytesPerRow: width / 2, cr: cb + width / 2 * (height / 2), crBytesPerRow: width / 2))
  }
}
