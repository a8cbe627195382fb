// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder

/// A key frame is kept in a long-term slot other than the first: its marking waits for the next
/// reference.
@Suite struct KeyFrameSlotTests {
  @Test("The very next frame may refer to it, a reference or not", arguments: [true, false], [1, 2])
  func theVeryNextFrameMayReferToTheKeyFrame(isReference: Bool, slot: Int) throws {
    var c = H264EncoderConfiguration(width: 64, height: 64)
    c.maximumReferences = 4
    c.lowLatency.longTermReferences = 3
    c.lowLatency.allowsNonReferenceFrames = true
    let encoder = try LowLatencyEncoder(configuration: c)
    let decoder = try #require(ReferenceDecoder(.libavcodec))
    let content = SyntheticContent(kind: .motion, width: 64, height: 64, seed: 3)
    for n in 0..<6 {
      var options = H264FrameOptions()
      if n == 0 { options.longTermSlot = slot }
      // Frame 1 comes before the marking if it is not a reference, and so does then frame 2.
      if n == 1 { options.isReference = isReference }
      if n == 1 || n == 2 || n == 5 { options.references = .longTerm([slot]) }
      let (properties, unit) = try content.frame(n).withSource(planar: true, padding: 0) {
        let frame = try encoder.encode($0, options: options)
        return (frame.properties, frame.data)
      }
      #expect(properties.isKeyFrame == (n == 0), "frame \(n)")
      if n == 1 || n == 2 || n == 5 { #expect(encoder.lastReferences == [0], "frame \(n)") }
      let shown = try #require(try decoder.decode(unit))
      let made = try #require(encoder.reconstruction(width: 64, height: 64))
      #expect(made.firstDifference(shown) == nil, "frame \(n)")
    }
  }

  @Test("Another slot is none")
  func anotherSlotIsNotReferredTo() throws {
    var c = H264EncoderConfiguration(width: 64, height: 64)
    c.maximumReferences = 4
    c.lowLatency.longTermReferences = 3
    let encoder = try LowLatencyEncoder(configuration: c)
    let content = SyntheticContent(kind: .motion, width: 64, height: 64, seed: 3)
    for n in 0..<2 {
      var options = H264FrameOptions()
      if n == 0 { options.longTermSlot = 1 } else { options.references = .longTerm([2]) }
      let properties = try content.frame(n).withSource(planar: true, padding: 0) {
        try encoder.encode($0, options: options).properties
      }
      #expect(properties.isKeyFrame)
    }
  }
}
