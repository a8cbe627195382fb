// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import Testing

@testable import HEVCCodec

/// The number of threads that a session asks for.
@Suite struct ThreadTests {
  @Test("1 and 3 threads give the same stream, which a decoder shows as the encoder says")
  func sameStream() throws {
    func send(threads: Int) throws -> [SentFrame] {
      let sender = try Sender(width: 320, height: 384) {
        $0.threads = threads
        $0.rate.mode = .average(500_000)
      }
      #expect(sender.adapter.engine.configuration.threads == threads)
      return try (0..<8).compactMap { _ in try sender.send() }
    }
    let one = try send(threads: 1)
    let three = try send(threads: 3)
    #expect(one.count == 8)
    #expect(one.map(\.byteStream) == three.map(\.byteStream))
    let decoder = try IndependentDecoder()
    var shown: [Planes] = []
    for frame in three { shown += try decoder.decode(frame.byteStream) }
    shown += try decoder.drain()
    #expect(shown == three.map(\.expected))
  }

  @Test(
    "More threads than the encoder has are its most, and none are chosen by the size",
    arguments: [(128, 64, 16...16), (0, 64, 1...1), (0, 1088, 1...4)])
  func limits(asked: Int, height: Int, expected: ClosedRange<Int>) throws {
    let sender = try Sender(width: 64, height: height) { $0.threads = asked }
    #expect(expected.contains(sender.adapter.engine.configuration.threads))
  }
}
