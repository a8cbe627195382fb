// SPDX-License-Identifier: Apache-2.0
import Testing
import VideoBitstream

@testable import HEVCEncoder

@Suite("Gradual intra refresh")
struct IntraRefreshTests {
  private static let (width, height) = (128, 176)

  private static func configuration(_ period: Int, depth: Int = 8) -> HEVCEncoderConfiguration {
    var c = HEVCEncoderConfiguration(width: width, height: height)
    if depth == 10 { c.profile = .main10 }
    c.effort = 6
    c.maximumReferences = 3
    c.lowLatency.intraRefreshPeriod = period
    c.lowLatency.refreshesContinuously = false
    c.lowLatency.allowsNonReferenceFrames = true
    c.lowLatency.temporalLayers = 3
    return c
  }

  /// recovery_poc_cnt of the recovery point message of an access unit; nil: it has none.
  private static func recovery(_ frame: borrowing HEVCEncodedFrame) -> Int? {
    let data = frame.data
    for unit in frame.nalUnits where unit.type == HEVCNALUnitType.prefixSEI.rawValue {
      let messages = SupplementalInformation.messages(nalUnit: data[unit.range], headerLength: 2)
      guard let payload = messages.first(where: { $0.type == 6 })?.payload, !payload.isEmpty else { continue }
      // ue(v) by hand: leading zeros, then as many bits after the first one; even codes are
      // negative.
      let bits = payload.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } << UInt64(64 - 8 * payload.count)
      let zeros = bits.leadingZeroBitCount
      let code = Int((bits << UInt64(zeros)) >> UInt64(63 - zeros)) - 1
      return code % 2 == 1 ? (code + 1) / 2 : -code / 2
    }
    return nil
  }

  /// What layer and use frame n has in streams of each form.
  private static func options(_ form: Int, _ n: Int) -> HEVCFrameOptions {
    var options = HEVCFrameOptions()
    switch form {
    case 1: options.isReference = n % 2 == 0
    case 2: options.temporalLayer = [0, 2, 1, 2][n % 4]
    default: break
    }
    return options
  }

  @Test(
    "Who comes in at a recovery point has all pictures right when it says so",
    arguments: [1, 3, 6, 11], [0, 1, 2])
  func recovers(period: Int, form: Int) throws {
    for (kind, depth) in [(Content.Kind.pan, 8), (.blocks, 8), (.fade, 8), (.grain, 10)] {
      let c = Self.configuration(period, depth: depth)
      let (encoder, other) = (try HEVCEncoder(configuration: c), try HEVCEncoder(configuration: c))
      let content = Content(kind: kind, width: Self.width, height: Self.height, seed: 3, depth: depth)
      let wrong = Content(kind: .screen, width: Self.width, height: Self.height, seed: 8, depth: depth)
      let decoder = try #require(ReferenceDecoder())
      let begin = 8
      var first: Int?
      for n in 0..<begin + 2 * period + 8 {
        var options = Self.options(form, n)
        if n == begin { options.startsIntraRefresh = true }
        // Before the recovery point the decoder gets another stream, with other pictures and
        // motion.
        let strange = try wrong.withSource(n) { try other.encode($0, options: Self.options(form, n)).data }
        let (count, data) = try #require(
          content.withSource(n) { picture in
            let frame = try encoder.encode(picture, options: options)
            return (Self.recovery(frame), frame.data)
          })
        if let count {
          #expect(first == nil && count == period - 1 && n == begin)
          first = n + count
        }
        let shown = try decoder.decode(n < begin ? strange ?? [] : data)
        guard let first, n >= first else { continue }
        let context = "\(kind), \(depth) bits, period \(period), form \(form), frame \(n)"
        #expect(shown == RandomStreamTests.reconstruction(encoder), "\(context)")
      }
      #expect(first != nil)
    }
  }

  @Test("Refreshes follow one another, and each picture has its share")
  func continues() throws {
    var c = Self.configuration(6)
    c.lowLatency.refreshesContinuously = true
    let encoder = try HEVCEncoder(configuration: c)
    let content = Content(kind: .flat, width: Self.width, height: Self.height, seed: 3)
    var starts: [Int] = []
    for n in 0..<20 {
      let (count, intra) = try #require(
        content.withSource(n) { picture in
          let frame = try encoder.encode(picture)
          return (Self.recovery(frame), frame.properties.intraFraction)
        })
      if count != nil { starts.append(n) }
      // 176 lines are five and a half rows of coding tree units.
      if n > 0 { #expect(intra >= 0.09, "frame \(n)") }
      if n > 0 { #expect(intra < 0.5, "frame \(n)") }
    }
    #expect(starts == [1, 7, 13, 19])
  }

  @Test("A refresh takes a period")
  func refusals() throws {
    var c = Self.configuration(0)
    let encoder = try HEVCEncoder(configuration: c)
    let content = Content(kind: .flat, width: Self.width, height: Self.height, seed: 3)
    var options = HEVCFrameOptions()
    options.startsIntraRefresh = true
    let error = content.withSource(0) { picture -> (any Error)? in
      do {
        try encoder.encode(picture, options: options) { _ in }
        return nil
      } catch {
        return error
      }
    }
    #expect((error ?? nil) is HEVCEncoderError)
    c.lowLatency.sceneChange = .intraRefresh
    #expect(throws: HEVCEncoderError.self) { try HEVCEncoder(configuration: c) }
    c.lowLatency.intraRefreshPeriod = 1001
    #expect(throws: HEVCEncoderError.self) { try HEVCEncoder(configuration: c) }
  }
}
