// SPDX-License-Identifier: Apache-2.0
import BenchmarkSupport
import Foundation
import SessionSupport
import VideoToolbox

/// Measures the time from EncodeFrame to the output of a frame and the number of frames that the
/// encoder holds back, with frames at the rate of the clip.
enum LatencyTable {
  private struct Mode {
    var name: String
    var isLowLatency: Bool
    var properties: [CFString: Any]
  }

  private static var modes: [Mode] {
    [
      Mode(name: "low latency", isLowLatency: true, properties: [:]),
      Mode(
        name: "low latency, two layers, LTR", isLowLatency: true,
        properties: [
          kVTCompressionPropertyKey_BaseLayerFrameRateFraction: 0.5,
          kVTCompressionPropertyKey_EnableLTR: true,
        ]),
      Mode(
        name: "default, without reordering", isLowLatency: false,
        properties: [kVTCompressionPropertyKey_AllowFrameReordering: false]),
      Mode(name: "default, with reordering", isLowLatency: false, properties: [:]),
    ]
  }

  static func table(_ clips: [TableClip]) throws -> ResultTable {
    var table = ResultTable(
      "From EncodeFrame to output, in milliseconds, in real time",
      ["clip", "session", "frames", "held back", "p50", "p95", "p99", "longest"])
    for clip in clips where clip.pictures.height >= 700 {
      for mode in modes {
        let (held, times) = try measure(clip, mode)
        let row = [0.5, 0.95, 0.99, 1].map { Figure.milliseconds(Figure.quantile($0, of: times), 1) }
        table.add([clip.name, mode.name, "\(times.count)", "\(held)"] + row)
      }
    }
    return table
  }

  /// Returns the largest number of frames that were held back when the next one was due, and the
  /// encoding time of each frame.
  private static func measure(_ clip: TableClip, _ mode: Mode) throws -> (Int, [Double]) {
    var session: VTCompressionSession?
    let specification: CFDictionary? =
      mode.isLowLatency
      ? [kVTVideoEncoderSpecification_EnableLowLatencyRateControl: true] as CFDictionary : nil
    VTCompressionSessionCreate(
      allocator: nil, width: Int32(clip.pictures.width), height: Int32(clip.pictures.height),
      codecType: kCMVideoCodecType_H264, encoderSpecification: specification, imageBufferAttributes: nil,
      compressedDataAllocator: nil, outputCallback: nil, refcon: nil, compressionSessionOut: &session)
    guard let session else { throw BenchmarkError(description: "there is no encoder for \(mode.name)") }
    defer { VTCompressionSessionInvalidate(session) }
    var properties = mode.properties
    properties[kVTCompressionPropertyKey_RealTime] = true
    properties[kVTCompressionPropertyKey_ExpectedFrameRate] = clip.frameRate
    properties[kVTCompressionPropertyKey_AverageBitRate] = clip.rate
    guard
      VTSessionSetProperties(session, propertyDictionary: properties as CFDictionary) == noErr,
      VTCompressionSessionPrepareToEncodeFrames(session) == noErr
    else { throw BenchmarkError(description: "the encoder does not take the properties of \(mode.name)") }

    let count = Int(clip.frameRate * 5)
    let buffers = try (0..<min(clip.pictures.count, count)).map { try PixelBuffers.nv12(clip.pictures, $0) }
    let watch = OutputWatch()
    let start = DispatchTime.now().uptimeNanoseconds
    var held = 0
    for index in 0..<count {
      let due = start + UInt64(Double(index) / clip.frameRate * 1e9)
      let now = DispatchTime.now().uptimeNanoseconds
      if due > now { Thread.sleep(forTimeInterval: Double(due - now) * 1e-9) }
      held = max(held, watch.pending)
      let given = watch.begin()
      VTCompressionSessionEncodeFrame(
        session, imageBuffer: buffers[clip.pictures.index(of: index)],
        presentationTimeStamp: CMTime(seconds: Double(index) / clip.frameRate, preferredTimescale: 90_000),
        duration: .invalid, frameProperties: nil, infoFlagsOut: nil
      ) { _, _, _ in watch.end(given) }
    }
    VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid)
    return (held, watch.times)
  }
}

/// Unchecked: the lock protects all members.
private final class OutputWatch: @unchecked Sendable {
  private let lock = NSLock()
  private var open = 0
  private var done: [Double] = []

  var pending: Int { lock.withLock { open } }
  var times: [Double] { lock.withLock { done } }

  func begin() -> UInt64 {
    lock.withLock { open += 1 }
    return DispatchTime.now().uptimeNanoseconds
  }
  func end(_ start: UInt64) {
    let seconds = Double(DispatchTime.now().uptimeNanoseconds - start) * 1e-9
    lock.withLock {
      open -= 1
      done.append(seconds)
    }
  }
}
