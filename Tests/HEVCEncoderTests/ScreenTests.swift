// SPDX-License-Identifier: Apache-2.0
import Testing
import VideoEncoding

@testable import HEVCEncoder

@Suite("Screens: scrolls, moved windows, letters that come back")
struct ScreenTests {
  private static let (width, height) = (320, 256)

  private static func configuration(_ effort: Int, depth: Int = 8) -> HEVCEncoderConfiguration {
    var configuration = HEVCEncoderConfiguration(width: width, height: height)
    configuration.effort = effort
    if depth == 10 { configuration.profile = .main10 }
    return configuration
  }

  /// The bits of each picture, each of which libavcodec decodes to the reconstruction.
  private static func bits(
    _ kind: Content.Kind, _ configuration: HEVCEncoderConfiguration, depth: Int = 8,
    findsMotion: Bool = true
  ) throws -> [Int] {
    let low = try LowLatencyEncoder(configuration: configuration)
    low.findsScreenMotion = findsMotion
    let encoder = HEVCEncoder(low)
    let decoder = try #require(ReferenceDecoder())
    let content = Content(kind: kind, width: width, height: height, seed: 6, depth: depth)
    return try (0..<5).map { n in
      let data = try #require(try content.withSource(n) { try encoder.encode($0).data })
      #expect(try decoder.decode(data) == RandomStreamTests.reconstruction(encoder), "frame \(n)")
      return data.count * 8
    }
  }

  @Test(
    "What is scrolled far, or a window that is moved, takes a fraction of what a search alone takes",
    arguments: [Content.Kind.page, .window], [0, 1, 3, 5])
  func farMotion(kind: Content.Kind, effort: Int) throws {
    for profile in [8, 10] {
      // The lowest bits of pictures of 10 bits do not move with the window.
      let depth = kind == .page ? profile : 8
      let configuration = Self.configuration(effort, depth: profile)
      let found = try Self.bits(kind, configuration, depth: depth)
      let searched = try Self.bits(kind, configuration, depth: depth, findsMotion: false)
      let (sum, other) = (found.dropFirst().reduce(0, +), searched.dropFirst().reduce(0, +))
      #expect(sum * 2 < other, "\(found) bits, \(searched) without the detectors")
    }
  }

  @Test("The stream does not depend on the number of threads", arguments: [Content.Kind.page, .window])
  func threads(kind: Content.Kind) throws {
    for effort in [0, 3, 6] {
      var configuration = Self.configuration(effort)
      configuration.lowLatency.rateControl = .averageBitRate(600_000)
      func stream(_ threads: Int) throws -> [[UInt8]] {
        configuration.threads = threads
        let encoder = try HEVCEncoder(configuration: configuration)
        let content = Content(kind: kind, width: Self.width, height: Self.height, seed: 3)
        return try (0..<6).map { n in
          try #require(try content.withPicture(n) { try encoder.encode($0).data })
        }
      }
      let alone = try stream(1)
      for threads in [2, 3, 4] { #expect(try stream(threads) == alone, "\(threads) threads") }
    }
  }

  @Test("A scroll is no new scene")
  func scenes() throws {
    var configuration = Self.configuration(2)
    configuration.lowLatency.sceneChange = .keyFrame
    func keyFrames(findsMotion: Bool) throws -> Int {
      let encoder = try LowLatencyEncoder(configuration: configuration)
      encoder.findsScreenMotion = findsMotion
      let content = Content(kind: .page, width: Self.width, height: Self.height, seed: 6)
      return try (0..<5).filter { n in
        let isKeyFrame = try content.withSource(n) {
          try encoder.encode($0, options: .init()).properties.isKeyFrame
        }
        return isKeyFrame ?? false
      }.count
    }
    #expect(try keyFrames(findsMotion: true) == 1)
    #expect(try keyFrames(findsMotion: false) > 1)
  }

  @Test("Vectors into the last picture are not used where another one is referred to")
  func otherReferences() throws {
    var configuration = Self.configuration(3)
    configuration.maximumReferences = 3
    configuration.lowLatency.longTermReferences = 1
    let encoder = try HEVCEncoder(configuration: configuration)
    let decoder = try #require(ReferenceDecoder())
    let content = Content(kind: .window, width: Self.width, height: Self.height, seed: 8)
    for n in 0..<8 {
      var options = HEVCFrameOptions()
      if n == 0 { options.longTermSlot = 0 }
      if n % 3 == 2 { options.references = .longTerm([0]) }
      if n == 5 { encoder.invalidateReferences(except: 0) }
      let data = try content.withPicture(n) { try encoder.encode($0, options: options).data }
      #expect(try decoder.decode(data ?? []) == RandomStreamTests.reconstruction(encoder), "frame \(n)")
    }
  }
}
