// SPDX-License-Identifier: Apache-2.0
import BenchmarkSupport
import CReferenceEncoders
import H264Encoder

extension EncoderName {
  static let all: [EncoderName] =
    ["ultrafast", "superfast", "veryfast", "faster", "medium"].map { .x264(preset: $0) }
    + [0, 2].map { .openH264(complexity: $0) }
    + (0...EncoderConfiguration.fastestSpeed).reversed().map { .engine(speed: $0) }
}

/// An encoder that takes planar 4:2:0 without padding and gives access units.
enum EncoderUnderTest {
  case reference(OpaquePointer)
  case engine(LowLatencyEncoder)

  init(_ m: Measurement) throws {
    var stream = ReferenceStream(
      width: Int32(m.width), height: Int32(m.height), frameRate: m.frameRate, threads: Int32(m.threads),
      qp: -1, bitRate: Int32(m.point), bufferSeconds: 1)
    switch m.mode {
    case .fixedQP: stream.qp = Int32(m.point)
    case .delay(let seconds): stream.bufferSeconds = seconds
    case .general: break
    }
    let reference: OpaquePointer?
    switch m.encoder {
    case .x264(let preset): reference = x264_reference_open(preset, &stream)
    case .openH264(let complexity): reference = openh264_reference_open(Int32(complexity), &stream)
    case .engine(let speed):
      var configuration = EncoderConfiguration(width: m.width, height: m.height)
      configuration.frameRate = m.frameRate
      configuration.profile = .high
      switch m.mode {
      case .fixedQP:
        configuration.rateControl = .constantQP(m.point)
        configuration.minimumQP = 0
      case .delay(let seconds):
        configuration.rateControl = .averageBitRate(m.point)
        configuration.maximumQueueDelay = seconds
      case .general: configuration.rateControl = .averageBitRate(m.point)
      }
      configuration.speed = speed
      configuration.threads = m.threads
      configuration.maximumReferences = EncoderConfiguration.referencesUsed(speed: speed)
      self = .engine(try LowLatencyEncoder(configuration: configuration))
      return
    }
    guard let reference else { throw BenchmarkError(description: "\(m.encoder.name) cannot be set up") }
    self = .reference(reference)
  }

  /// Encodes a frame; `body` gets the access unit, empty if the frame was dropped. The time that counts is
  /// up to there.
  func encode(
    _ i420: UnsafePointer<UInt8>, width: Int, height: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Void
  ) throws {
    switch self {
    case .reference(let encoder):
      var data: UnsafePointer<UInt8>?
      let size = reference_encoder_encode(encoder, i420, &data)
      guard size >= 0 else { throw BenchmarkError(description: "the encoder failed") }
      body(UnsafeBufferPointer(start: data, count: size))
    case .engine(let encoder):
      let cb = i420 + width * height
      let cr = cb + (width / 2) * (height / 2)
      let frame = try encoder.encode(
        SourcePicture(
          width: width, height: height, luma: i420, lumaBytesPerRow: width,
          chroma: .planar(cb: cb, cbBytesPerRow: width / 2, cr: cr, crBytesPerRow: width / 2)))
      frame.withBytes { $0.withUnsafeBufferPointer(body) }
    }
  }

  func close() {
    if case .reference(let encoder) = self { reference_encoder_close(encoder) }
  }
}
