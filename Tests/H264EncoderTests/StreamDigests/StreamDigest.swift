// SPDX-License-Identifier: Apache-2.0
@testable import H264Encoder
@testable import VideoEncoding

/// A 64-bit FNV-1a hash of the bytes of a stream.
struct StreamDigest: CustomStringConvertible, Equatable {
  private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325
  private(set) var byteCount = 0

  mutating func add(_ bytes: some Sequence<UInt8>) {
    for byte in bytes {
      value = (value ^ UInt64(byte)) &* 0x100_0000_01B3
      byteCount += 1
    }
  }

  /// The hash in hexadecimal digits and the number of bytes.
  var description: String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits + " \(byteCount)"
  }
}

/// A stream with a name whose bytes are compared with those that the encoder produced when the
/// digest was written.
struct DigestedStream: Sendable {
  /// Says what is special about the stream; a key in the file of digests, without spaces.
  let name: String
  /// Encodes the stream.
  let digest: @Sendable () throws -> StreamDigest
}

extension DigestedStream {
  static let width = 176
  static let height = 144

  /// A stream of a `LowLatencyEncoder` over synthetic pictures of the configuration's size.
  ///
  /// - Parameters:
  ///   - name: the key in the file of digests.
  ///   - content: the kind of pictures.
  ///   - frames: how many of them.
  ///   - set: changes the configuration from one with a constant QP of 28 at effort 2.
  ///   - options: the options of picture n.
  ///   - change: called before picture n; may reconfigure the encoder or tell it of losses.
  static func lowLatencyStream(
    _ name: String, _ content: SyntheticContent.Kind = .motion, frames: Int = 20,
    set: @escaping @Sendable (inout H264EncoderConfiguration) -> Void = { _ in },
    options: @escaping @Sendable (Int) -> H264FrameOptions = { _ in H264FrameOptions() },
    change: @escaping @Sendable (Int, LowLatencyEncoder) throws -> Void = { _, _ in }
  ) -> DigestedStream {
    DigestedStream(name: "low-latency/" + name) {
      var configuration = H264EncoderConfiguration(width: width, height: height)
      configuration.effort = 2
      set(&configuration)
      let pictures = SyntheticContent(
        kind: content, width: configuration.width, height: configuration.height, seed: 7,
        hasFullChroma: configuration.is444)
      let encoder = try LowLatencyEncoder(configuration: configuration)
      var digest = StreamDigest()
      digest.add(encoder.parameterSets.sequence)
      digest.add(encoder.parameterSets.pictures[0])
      for n in 0..<frames {
        try change(n, encoder)
        try pictures.frame(n).withSource(planar: n % 2 == 0, padding: n % 3) {
          digest.add(try encoder.encode($0, options: options(n)).data)
        }
      }
      return digest
    }
  }

  /// A stream of a `LookAheadEncoder`, in `passes` passes, of which the digest has all.
  ///
  /// - Parameters:
  ///   - name: the key in the file of digests.
  ///   - content: the kind of pictures.
  ///   - frames: how many of them.
  ///   - passes: how often the same pictures are encoded, each time with the statistics of the time
  ///     before.
  ///   - set: changes the configuration from one with a quality of QP 24 at effort 2.
  ///   - options: the options of picture n.
  ///   - change: called before picture n; may reconfigure the encoder.
  static func lookAheadStream(
    _ name: String, _ content: SyntheticContent.Kind = .motion, frames: Int = 30, passes: Int = 1,
    set: @escaping @Sendable (inout H264EncoderConfiguration) -> Void = { _ in },
    options: @escaping @Sendable (Int) -> H264FrameOptions = { _ in H264FrameOptions() },
    change: @escaping @Sendable (Int, LookAheadEncoder) throws -> Void = { _, _ in }
  ) -> DigestedStream {
    DigestedStream(name: "look-ahead/" + name) {
      var configuration = H264EncoderConfiguration.lookAhead(width: width, height: height)
      configuration.effort = 2
      configuration.maximumReferences = 4
      set(&configuration)
      let pictures = SyntheticContent(
        kind: content, width: configuration.width, height: configuration.height, seed: 7)
      var digest = StreamDigest()
      var learned: PassStatistics?
      for _ in 0..<passes {
        let encoder = try LookAheadEncoder(configuration: configuration, pass: learned)
        encoder.keepsStatistics = passes > 1
        digest.add(encoder.parameterSets.sequence)
        for set in encoder.parameterSets.pictures { digest.add(set) }
        for n in 0..<frames {
          try change(n, encoder)
          try pictures.frame(n).withSource(planar: n % 2 == 0, padding: n % 3) {
            try encoder.encode($0, options: options(n)) { digest.add($0.data) }
          }
        }
        encoder.flush { digest.add($0.data) }
        learned = encoder.statistics
      }
      return digest
    }
  }
}

/// Lists streams as statements, with loops: expressions of that size take the compiler too long.
@resultBuilder enum DigestedStreams {
  static func buildExpression(_ stream: DigestedStream) -> [DigestedStream] { [stream] }
  static func buildExpression(_ streams: [DigestedStream]) -> [DigestedStream] { streams }
  static func buildBlock(_ lists: [DigestedStream]...) -> [DigestedStream] { lists.flatMap { $0 } }
  static func buildArray(_ lists: [[DigestedStream]]) -> [DigestedStream] { lists.flatMap { $0 } }
}
