// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import Testing

@Suite struct RegistryTests {
  private func encoder(_ id: String, name: String = "x") -> EncoderDescription {
    EncoderDescription(
      id: id, codec: .h264, codecName: "H.264", encoderName: name, displayName: name, inputFormats: [],
      makeEncoder: { (_) throws(CodecError) in throw .unsupported("nothing") })
  }

  @Test(
    "An identifier is listed once, in the order of registration; a description has no features by default")
  func encoders() {
    let registry = CodecRegistry()
    registry.register(encoder("a"))
    registry.register(encoder("b"))
    registry.register(encoder("a", name: "later"))
    #expect(registry.encoders.map(\.id) == ["b", "a"])
    #expect(registry.encoders.map(\.encoderName) == ["x", "later"])
    #expect(registry.encoders.allSatisfy { $0.features.isEmpty && !$0.isLowLatency })
    registry.unregisterEncoder(id: "b")
    registry.unregisterEncoder(id: "never there")
    #expect(registry.encoders.map(\.id) == ["a"])
  }

  @Test func decoders() {
    let registry = CodecRegistry()
    for id in ["a", "b", "a"] {
      registry.register(
        DecoderDescription(
          id: id, name: id, supports: { $0 == .hevc },
          makeDecoder: { (_) throws(CodecError) in throw .outOfMemory }))
    }
    #expect(registry.decoders.map(\.id) == ["b", "a"])
    registry.unregisterDecoder(id: "b")
    #expect(registry.decoders.map(\.id) == ["a"])
  }
}
