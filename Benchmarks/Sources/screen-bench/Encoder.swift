// SPDX-License-Identifier: Apache-2.0
import BenchmarkSupport
import CReferenceEncoders
import H264Encoder

/// An encoder without delay: one that this tool compares.
enum EncoderChoice: Equatable {
  case engine(effort: Int)
  case x264(preset: String)
  case openH264Screen

  init?(name: String) {
    if name.hasPrefix("effort-"), let effort = Int(name.dropFirst(7)),
      (0...H264EncoderConfiguration.maxEffort).contains(effort)
    {
      self = .engine(effort: effort)
    } else if name.hasPrefix("x264-") {
      self = .x264(preset: String(name.dropFirst(5)))
    } else if name == "openh264-screen" {
      self = .openH264Screen
    } else {
      return nil
    }
  }

  var name: String {
    switch self {
    case .engine(let effort): "effort-\(effort)"
    case .x264(let preset): "x264-\(preset)"
    case .openH264Screen: "openh264-screen"
    }
  }

  /// Encodes a clip at a rate with one thread. A key frame is coded where an event asks for one.
  /// - Parameters:
  ///   - rate: the average bit rate in bits per second.
  ///   - delay: the bound of the queue in seconds; the size of the decoder's buffer for libx264.
  /// - Returns: the access unit of each frame, empty where it was dropped.
  func encode(_ desktop: Desktop, rate: Int, delay: Double) throws -> [[UInt8]] {
    let requests = Set(desktop.events.lazy.filter(\.isKeyFrameRequest).map(\.frame))
    if case .engine(let effort) = self {
      return try encode(desktop, rate: rate, delay: delay, effort: effort, requests)
    }
    let clip = desktop.pictures
    var stream = ReferenceStream(
      width: Int32(clip.width), height: Int32(clip.height), frameRate: clip.frameRate, threads: 1, qp: -1,
      bitRate: Int32(rate), bufferSeconds: delay, tune: nil)
    let opened: OpaquePointer? =
      if case .x264(let preset) = self { x264_reference_open(preset, &stream) } else {
        openh264_reference_open(0, 1, &stream)
      }
    guard let encoder = opened else { throw BenchmarkError(description: "\(name) cannot be set up") }
    defer { reference_encoder_close(encoder) }
    return try (0..<clip.count).map { n in
      if requests.contains(n) { reference_encoder_request_key_frame(encoder) }
      var data: UnsafePointer<UInt8>?
      var frame = 0
      let size = reference_encoder_encode(encoder, clip.picture(n), &data, &frame)
      guard size >= 0 else { throw BenchmarkError(description: "\(name) failed at frame \(n)") }
      return Array(UnsafeBufferPointer(start: data, count: size))
    }
  }

  private func encode(
    _ desktop: Desktop, rate: Int, delay: Double, effort: Int, _ requests: Set<Int>
  ) throws -> [[UInt8]] {
    let clip = desktop.pictures
    var configuration = H264EncoderConfiguration(width: clip.width, height: clip.height)
    configuration.frameRate = clip.frameRate
    configuration.profile = .high
    configuration.lowLatency.rateControl = .averageBitRate(rate)
    configuration.lowLatency.maximumQueueDelay = delay
    configuration.effort = effort
    configuration.threads = 1
    configuration.maximumReferences = H264EncoderConfiguration.referencesUsed(effort: effort)
    let encoder = try H264Encoder(configuration: configuration)
    return try (0..<clip.count).map { n in
      let luma = clip.picture(n)
      let cb = luma + clip.width * clip.height
      let source = SourcePicture(
        width: clip.width, height: clip.height, luma: luma, lumaBytesPerRow: clip.width,
        chroma: .planar(
          cb: cb, cbBytesPerRow: clip.width / 2, cr: cb + clip.width * clip.height / 4,
          crBytesPerRow: clip.width / 2))
      var options = H264FrameOptions()
      options.isKeyFrame = requests.contains(n)
      return try encoder.encode(source, options: options).withBytes {
        $0.withUnsafeBufferPointer { Array($0) }
      }
    }
  }
}
