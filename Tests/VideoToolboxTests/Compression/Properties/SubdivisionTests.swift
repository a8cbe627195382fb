// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Testing
import VideoToolbox

/// The properties for programs that encode parts of a movie in parallel.
@Suite struct SubdivisionTests {
  private func value<Value>(_ session: VTCompressionSession, _ key: CFString) throws -> Value {
    var value: CFTypeRef?
    try check(VTSessionCopyProperty(session, key: key, allocator: nil, valueOut: &value), "\(key)")
    // Not `value as? Value`: docs/architecture.md, faults of the compiler.
    return try #require(value.flatMap { $0 as? Value })
  }

  private func subdivision(_ properties: [CFString: Any]) throws -> (
    sessions: Int, frames: Int, seconds: Double
  ) {
    let session = try makeSession(
      width: 160, height: 96, properties: properties.mapValues { $0 as CFTypeRef })
    defer { VTCompressionSessionInvalidate(session) }
    let limit: NSNumber = try value(session, kVTCompressionPropertyKey_RecommendedParallelizationLimit)
    let frames: NSNumber = try value(
      session, kVTCompressionPropertyKey_RecommendedParallelizedSubdivisionMinimumFrameCount)
    let duration: CFDictionary = try value(
      session, kVTCompressionPropertyKey_RecommendedParallelizedSubdivisionMinimumDuration)
    return (limit.intValue, frames.intValue, CMTimeMakeFromDictionary(duration).seconds)
  }

  @Test func followsThreadsAndKeyFrames() throws {
    let processors = ProcessInfo.processInfo.activeProcessorCount
    let baseline = try subdivision([:])
    #expect(baseline == (processors, 300, 10))
    let whole = try subdivision([
      kOVTCompressionPropertyKey_ThreadCount: processors, kVTCompressionPropertyKey_ExpectedFrameRate: 24,
      kVTCompressionPropertyKey_MaxKeyFrameInterval: 48,
    ])
    #expect(whole == (1, 48, 2))
    let short = try subdivision([
      kVTCompressionPropertyKey_MaxKeyFrameIntervalDuration: 0.5,
      kVTCompressionPropertyKey_ExpectedFrameRate: 50,
    ])
    #expect(short == (processors, 25, 0.5))
    let long = try subdivision([
      kVTCompressionPropertyKey_MaxKeyFrameInterval: 600, kVTCompressionPropertyKey_ExpectedFrameRate: 30,
    ])
    #expect(long == (processors, 600, 20))
    let intra = try subdivision([
      kVTCompressionPropertyKey_MaxKeyFrameInterval: 1, kVTCompressionPropertyKey_ExpectedFrameRate: 25,
    ])
    #expect(intra == (processors, 1, 0.04))
  }

  @Test func cannotBeSet() throws {
    let session = try makeSession(width: 160, height: 96)
    defer { VTCompressionSessionInvalidate(session) }
    let status = VTSessionSetProperty(
      session, key: kVTCompressionPropertyKey_RecommendedParallelizationLimit, value: 3 as CFTypeRef)
    #expect(status == kVTPropertyReadOnlyErr)
  }
}
