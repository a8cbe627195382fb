// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import Testing

@testable import H264Codec

/// Long-term references under loss: what the sender believes that the receiver has, it has.
@Suite struct LongTermTests {
  /// A message from the receiver on its way.
  private struct Message {
    var arrives: Int
    var token: Int64?
    var asksForRefresh = false
    /// Presentation times of the reference frames that it lacks.
    var lost: [Int64] = []
  }

  struct Outcome {
    var decoded = 0
    var mismatches = 0
    /// Refreshes that arrived, and those that the receiver could not decode.
    var refreshes = 0
    var brokenRefreshes = 0
    var refreshKeyFrames = 0
    var lost = 0
    /// Frames that arrived and could not be decoded.
    var useless = 0
  }

  /// One stream over a lossy channel with lossy, late and reordered feedback. The receiver decodes
  /// each frame that arrives if it has decoded all that the frame refers to.
  private func run(seed: UInt64, kind: IndependentDecoder.Kind, byTimes: Bool) throws -> Outcome? {
    var dice = Dice(seed)
    guard let decoder = IndependentDecoder(kind) else { return nil }
    let profiles: [CodecProfile] = [.h264ConstrainedBaseline, .h264Main, .h264High, .h264ConstrainedHigh]
    let profile = profiles.randomElement(using: &dice)!
    // Without them, what was lost is only left out.
    let usesLongTerm = !byTimes || dice.chance(0.5)
    let fraction = [1, 1, 0.5, 0.25].randomElement(using: &dice)!
    let clip = SmallClip(width: 48, height: 32, seed: seed, noise: dice.chance(0.3) ? 20 : 0)
    let sender = try Sender(clip) {
      $0.profile = profile
      $0.entropyMode = dice.chance(0.5) ? .cavlc : .cabac
      $0.lowLatency?.enablesLongTermReferences = usesLongTerm
      $0.lowLatency?.baseLayerFrameRateFraction = fraction
      $0.referenceFrameCount = [0, 2, 3, 4, 6].randomElement(using: &dice)!
      $0.speed.effort = [0, 3, 7, 9].randomElement(using: &dice)!
      if dice.chance(0.3) { $0.maxSliceBytes = 120 }
      if dice.chance(0.3) { $0.rate.maxQP = 34 }
    }
    let loss = [0.02, 0.1, 0.3].randomElement(using: &dice)!
    let delay = Int.random(in: 0...6, using: &dice)
    var messages: [Message] = []
    var outcome = Outcome()
    var burst = 0
    var have: Set<UInt64> = []
    var missing: [Int64] = []
    var isRefreshPending = false
    var expected: [Planes] = []
    /// Frames come out in order.
    func compare(_ shown: [Planes]) {
      for planes in shown {
        let isEqual = expected.first == planes
        if !isEqual { outcome.mismatches += 1 }
        if !expected.isEmpty { expected.removeFirst() }
      }
    }

    for frame in 0..<48 {
      var options = FrameRequest()
      for message in messages where message.arrives <= frame {
        if let token = message.token { options.acknowledgedTokens.append(token) }
        if message.asksForRefresh {
          options.lostFrames += message.lost
          if !byTimes { options.forcesLongTermRefresh = true }
        }
      }
      if !byTimes { options.lostFrames = [] }
      messages.removeAll { $0.arrives <= frame }
      options.acknowledgedTokens.shuffle(using: &dice)
      if dice.chance(0.1) { options.acknowledgedTokens.append(Int64.random(in: -5...0, using: &dice)) }
      if dice.chance(0.01) { options.forcesLongTermRefresh = true }
      if options.forcesLongTermRefresh { isRefreshPending = true }

      guard let sent = try sender.send(options) else { continue }
      let isRefresh = isRefreshPending
      isRefreshPending = false
      if isRefresh && sent.properties.isKeyFrame { outcome.refreshKeyFrames += 1 }

      if burst == 0, frame > 0, dice.chance(loss) { burst = Int.random(in: 1...3, using: &dice) }
      if burst > 0 {
        burst -= 1
        outcome.lost += 1
        if sent.properties.isReference { missing.append(sent.presentationTime) }
        continue
      }
      guard sent.references.allSatisfy(have.contains) else {
        outcome.useless += 1
        if isRefresh { outcome.brokenRefreshes += 1 }
        if sent.properties.isReference { missing.append(sent.presentationTime) }
        // Asks again and again, as receivers do.
        if !dice.chance(loss) {
          messages.append(
            Message(arrives: frame + 1 + delay, asksForRefresh: true, lost: Array(missing.suffix(30))))
        }
        continue
      }
      if isRefresh { outcome.refreshes += 1 }
      have.insert(sent.index)
      outcome.decoded += 1
      expected.append(sent.expected)
      do {
        try compare(decoder.decode(sent.annexB))
      } catch {
        print("seed \(seed) frame \(frame): \(error)")
        outcome.mismatches += 1
      }
      if let token = sent.properties.longTermToken, !dice.chance(loss) {
        let arrival = frame + 1 + delay + Int.random(in: 0...3, using: &dice)
        messages.append(Message(arrives: arrival, token: token))
        if dice.chance(0.2) { messages.append(Message(arrives: frame + 9, token: token)) }
      }
    }
    try compare(decoder.drain())
    outcome.mismatches += expected.count
    return outcome
  }

  private func run(_ seeds: Range<UInt64>, _ kind: IndependentDecoder.Kind, byTimes: Bool) throws -> Outcome?
  {
    var sum = Outcome()
    for seed in seeds {
      guard let one = try run(seed: seed, kind: kind, byTimes: byTimes) else { return nil }
      if one.mismatches + one.brokenRefreshes > 0 { print("seed \(seed) \(kind): \(one)") }
      sum.decoded += one.decoded
      sum.mismatches += one.mismatches
      sum.refreshes += one.refreshes
      sum.brokenRefreshes += one.brokenRefreshes
      sum.refreshKeyFrames += one.refreshKeyFrames
      sum.lost += one.lost
      sum.useless += one.useless
    }
    print("long-term references, \(seeds.count) streams, \(kind), by times \(byTimes): \(sum)")
    return sum
  }

  @Test(
    "1,000 patterns of losses and acknowledgements: no mismatch in what the receiver decodes",
    arguments: [0..<350, 350..<700, 700..<1000] as [Range<UInt64>])
  func patterns(_ seeds: Range<UInt64>) throws {
    let sum = try #require(try run(seeds, .libavcodec, byTimes: seeds.lowerBound == 700))
    #expect(sum.mismatches == 0)
    #expect(sum.brokenRefreshes == 0)
    guard seeds.lowerBound < 700 else { return }
    #expect(sum.lost > 500 && sum.refreshes > 250)
    // Most refreshes need no key frame.
    #expect(sum.refreshKeyFrames * 4 < sum.refreshes)
  }

  @Test("OpenH264's decoder shows the same")
  func openH264() throws {
    guard let sum = try run(1000..<1100, .openH264, byTimes: false) else { return }
    #expect(sum.mismatches == 0)
    #expect(sum.brokenRefreshes == 0)
  }
}
