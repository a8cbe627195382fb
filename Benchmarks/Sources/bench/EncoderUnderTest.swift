// SPDX-License-Identifier: Apache-2.0
import BenchmarkSupport
import CReferenceEncoders
import H264Encoder

extension EncoderName {
  static let all: [EncoderName] =
    ["ultrafast", "superfast", "veryfast", "faster", "medium"].map { .x264(preset: $0) }
    + [0, 2].map { .openH264(complexity: $0) } + [.openH264Screen]
    + (0...H264EncoderConfiguration.maxEffort).map { .engine(effort: $0) }
}

/// An encoder that takes planar 4:2:0 pictures without padding and outputs access units.
enum EncoderUnderTest {
  case reference(OpaquePointer)
  case engine(H264Encoder)
  case lookAhead(H264Encoder)

  init(_ m: Measurement) throws {
    var stream = ReferenceStream(
      width: Int32(m.width), height: Int32(m.height), frameRate: m.frameRate, threads: Int32(m.threads),
      qp: -1, bitRate: Int32(m.point), bufferSeconds: 1, tune: nil)
    switch m.mode {
    case .fixedQP: stream.qp = Int32(m.point)
    case .delay(let seconds): stream.bufferSeconds = seconds
    case .general, .files: break
    }
    let reference: OpaquePointer?
    switch m.encoder {
    case .x264(let preset):
      if case .files(let tune) = m.mode {
        reference = tune.rawValue.withCString {
          stream.tune = $0
          return x264_reference_open(preset, &stream)
        }
      } else {
        reference = x264_reference_open(preset, &stream)
      }
    case .openH264(let complexity): reference = openh264_reference_open(Int32(complexity), 0, &stream)
    case .openH264Screen: reference = openh264_reference_open(0, 1, &stream)
    case .engine(let effort):
      var configuration = H264EncoderConfiguration(width: m.width, height: m.height)
      configuration.frameRate = m.frameRate
      configuration.profile = .high
      switch m.mode {
      case .fixedQP:
        configuration.lowLatency.rateControl = .constantQP(m.point)
        configuration.minimumQP = 0
      case .delay(let seconds):
        configuration.lowLatency.rateControl = .averageBitRate(m.point)
        configuration.lowLatency.maximumQueueDelay = seconds
      case .general, .files: configuration.lowLatency.rateControl = .averageBitRate(m.point)
      }
      configuration.effort = effort
      configuration.threads = m.threads
      configuration.maximumReferences = H264EncoderConfiguration.referencesUsed(effort: effort)
      if case .files(let tune) = m.mode {
        self = .lookAhead(try Self.forFiles(configuration, m.point, effort, tune))
        return
      }
      self = .engine(try H264Encoder(configuration: configuration))
      return
    }
    guard let reference else { throw BenchmarkError(description: "\(m.encoder.name) cannot be set up") }
    self = .reference(reference)
  }

  /// The number of look-ahead frames for each effort, as sessions set it.
  private static let lookAheads = [0, 10, 20, 20, 30, 40, 50, 60, 80, 100]

  /// Creates the encoder with a look-ahead.
  private static func forFiles(
    _ stream: H264EncoderConfiguration, _ rate: Int, _ effort: Int, _ tune: Mode.Tune
  ) throws -> H264Encoder {
    var configuration = stream
    configuration.lookAhead.rate = .average(rate)
    configuration.lookAhead.frames = lookAheads[min(effort, lookAheads.count - 1)]
    configuration.lookAhead.adaptiveQuantisation = tune == .ssim ? 1 : 0
    configuration.maximumReferences = max(4, H264EncoderConfiguration.referencesUsed(effort: effort))
    configuration.minimumQP = 0
    return try H264Encoder(configuration: configuration)
  }

  /// Encodes a frame. `body` is called with each access unit that is output and the number of the
  /// frame that it shows. The unit of a dropped frame is empty. The measured time ends when `body`
  /// is called.
  func encode(
    _ i420: UnsafePointer<UInt8>, width: Int, height: Int,
    _ body: (Int, UnsafeBufferPointer<UInt8>) -> Void
  ) throws {
    switch self {
    case .reference(let encoder):
      var data: UnsafePointer<UInt8>?
      var frame = 0
      let size = reference_encoder_encode(encoder, i420, &data, &frame)
      guard size >= 0 else { throw BenchmarkError(description: "the encoder failed") }
      // No output means that the frame is in the look-ahead or that it was dropped.
      if size > 0 || reference_encoder_delayed(encoder) == 0 {
        body(frame, UnsafeBufferPointer(start: data, count: size))
      }
    case .engine(let encoder):
      let frame = try encoder.encode(Self.picture(i420, width, height))
      let index = Int(frame.properties.index)
      frame.withBytes { $0.withUnsafeBufferPointer { body(index, $0) } }
    case .lookAhead(let encoder):
      try encoder.encode(Self.picture(i420, width, height)) { give($0, body) }
    }
  }

  /// Outputs the remaining frames.
  func finish(_ body: (Int, UnsafeBufferPointer<UInt8>) -> Void) throws {
    switch self {
    case .reference(let encoder):
      while reference_encoder_delayed(encoder) > 0 {
        var data: UnsafePointer<UInt8>?
        var frame = 0
        let size = reference_encoder_encode(encoder, nil, &data, &frame)
        guard size >= 0 else { throw BenchmarkError(description: "the encoder failed") }
        if size > 0 { body(frame, UnsafeBufferPointer(start: data, count: size)) }
      }
    case .engine: break
    case .lookAhead(let encoder): encoder.flush { give($0, body) }
    }
  }

  private func give(
    _ frame: consuming H264EncodedFrame, _ body: (Int, UnsafeBufferPointer<UInt8>) -> Void
  ) {
    let index = Int(frame.properties.index)
    frame.withBytes { $0.withUnsafeBufferPointer { body(index, $0) } }
  }

  private static func picture(_ i420: UnsafePointer<UInt8>, _ width: Int, _ height: Int) -> SourcePicture {
    let cb = i420 + width * height
    let cr = cb + (width / 2) * (height / 2)
    return SourcePicture(
      width: width, height: height, luma: i420, lumaBytesPerRow: width,
      chroma: .planar(cb: cb, cbBytesPerRow: width / 2, cr: cr, crBytesPerRow: width / 2))
  }

  func close() {
    if case .reference(let encoder) = self { reference_encoder_close(encoder) }
  }
}
