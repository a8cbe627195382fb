// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import Testing

/// Losses, acknowledgements and refreshes: a receiver that decodes each frame whose references it
/// has shows exactly what the sender believes.
@Suite struct LossTests {
  /// One stream over a channel that loses frames, with feedback that comes late.
  private func run(seed: UInt64, byTimes: Bool) throws {
    var generator = SeededGenerator(seed)
    let sender = try Sender(width: 48, height: 32, seed: seed) {
      $0.lowLatency?.enablesLongTermReferences = !byTimes
      $0.lowLatency?.baseLayerFrameRateFraction = [1, 0.5].randomElement(using: &generator) ?? 1
      if generator.chance(0.3) { $0.rate.maxQP = 34 }
    }
    let decoder = try IndependentDecoder()
    let delay = Int.random(in: 0...4, using: &generator)
    var arriving: [(frame: Int, token: Int64)] = []
    var asking: [(frame: Int, lost: [Int64])] = []
    var received: Set<UInt64> = []
    var lost: [Int64] = []
    var expected: [Planes] = []
    var shown: [Planes] = []
    for frame in 0..<60 {
      var request = FrameRequest()
      request.acknowledgedTokens = arriving.filter { $0.frame <= frame }.map(\.token)
      arriving.removeAll { $0.frame <= frame }
      let reports = asking.filter { $0.frame <= frame }
      asking.removeAll { $0.frame <= frame }
      if !reports.isEmpty {
        if byTimes {
          request.lostFrames = reports.flatMap(\.lost)
        } else {
          request.forcesLongTermRefresh = true
        }
      }
      guard let sent = try sender.send(request) else { continue }
      if frame > 0, generator.chance(0.15) {
        if sent.properties.isReference { lost.append(sent.presentationTime) }
        asking.append((frame + 1 + delay, lost))
        continue
      }
      guard sent.references.allSatisfy(received.contains) else {
        if sent.properties.isReference { lost.append(sent.presentationTime) }
        asking.append((frame + 1 + delay, lost))
        continue
      }
      received.insert(sent.index)
      expected.append(sent.expected)
      shown += try decoder.decode(sent.byteStream)
      if let token = sent.properties.longTermToken { arriving.append((frame + 1 + delay, token)) }
    }
    shown += try decoder.drain()
    let isEqual = shown == expected
    #expect(isEqual, "seed \(seed)")
    // At 15 % loss a receiver still shows a part of the frames, so that this proves something.
    #expect(expected.count > 12, "seed \(seed): \(expected.count)")
  }

  @Test("Refreshes refer to acknowledged frames alone", arguments: 1...20)
  func acknowledged(seed: UInt64) throws { try run(seed: seed, byTimes: false) }

  @Test("Lost frames are given up by their times", arguments: 1...20)
  func byTimes(seed: UInt64) throws { try run(seed: seed, byTimes: true) }

  @Test("After an acknowledgement a refresh is not a key frame")
  func refreshIsPredicted() throws {
    let sender = try Sender { $0.lowLatency?.enablesLongTermReferences = true }
    let first = try #require(try sender.send())
    let token = try #require(first.properties.longTermToken)
    for _ in 0..<5 { _ = try sender.send() }
    var request = FrameRequest()
    request.acknowledgedTokens = [token]
    request.forcesLongTermRefresh = true
    let refresh = try #require(try sender.send(request))
    #expect(!refresh.properties.isKeyFrame)
    #expect(refresh.references == [first.index])
  }
}
