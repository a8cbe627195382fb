// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Synchronization
import Testing
import VideoToolbox

/// Motion vectors between pictures whose motion is known.
@Suite struct MotionEstimationTests {
  /// A smooth random texture, at a place in the plane: values at the corners of squares of 7 and of
  /// 29 pixels, and between them what a cubic curve gives.
  private static func texture(_ x: Double, _ y: Double) -> Double {
    128 + 70 * noise(x / 7, y / 7, seed: 1) + 50 * noise(x / 29, y / 29, seed: 2)
  }

  /// From -1 to 1.
  private static func noise(_ x: Double, _ y: Double, seed: Int) -> Double {
    func corner(_ column: Double, _ row: Double) -> Double {
      var hash = UInt64(
        bitPattern: Int64(Int(column) &* 73_856_093 ^ Int(row) &* 19_349_663 ^ seed &* 83_492_791))
      hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
      hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
      return Double((hash ^ (hash >> 31)) & 0xFFFF) / 32768 - 1
    }
    let (column, row) = (x.rounded(.down), y.rounded(.down))
    func curve(_ t: Double) -> Double { t * t * (3 - 2 * t) }
    let (right, down) = (curve(x - column), curve(y - row))
    let upper = corner(column, row) * (1 - right) + corner(column + 1, row) * right
    let lower = corner(column, row + 1) * (1 - right) + corner(column + 1, row + 1) * right
    return upper * (1 - down) + lower * down
  }

  private static func picture(
    _ width: Int, _ height: Int, format: OSType = kCVPixelFormatType_OneComponent8,
    _ value: (Double, Double) -> Double
  ) throws -> CVPixelBuffer {
    let buffer = try #require(makeBuffer(width, height, format))
    CVPixelBufferLockBaseAddress(buffer, [])
    defer { CVPixelBufferUnlockBaseAddress(buffer, []) }
    let isBGRA = format == kCVPixelFormatType_32BGRA
    let isPlanar = CVPixelBufferGetPlaneCount(buffer) > 0
    let base = try #require(
      isPlanar ? CVPixelBufferGetBaseAddressOfPlane(buffer, 0) : CVPixelBufferGetBaseAddress(buffer)
    ).assumingMemoryBound(to: UInt8.self)
    let bytesPerRow =
      isPlanar ? CVPixelBufferGetBytesPerRowOfPlane(buffer, 0) : CVPixelBufferGetBytesPerRow(buffer)
    for y in 0..<height {
      for x in 0..<width {
        let sample = UInt8(min(max(value(Double(x), Double(y)), 0), 255).rounded())
        for c in 0..<(isBGRA ? 4 : 1) { base[y * bytesPerRow + x * (isBGRA ? 4 : 1) + c] = sample }
      }
    }
    return buffer
  }

  /// The vectors of a buffer, row by row.
  private static func vectors(_ buffer: CVPixelBuffer) throws -> [[SIMD2<Float>]] {
    #expect(CVPixelBufferGetPixelFormatType(buffer) == kCVPixelFormatType_TwoComponent16Half)
    CVPixelBufferLockBaseAddress(buffer, .readOnly)
    defer { CVPixelBufferUnlockBaseAddress(buffer, .readOnly) }
    let base = try #require(CVPixelBufferGetBaseAddress(buffer))
    return (0..<CVPixelBufferGetHeight(buffer)).map { row in
      let halves = (base + row * CVPixelBufferGetBytesPerRow(buffer)).assumingMemoryBound(to: Float16.self)
      return (0..<CVPixelBufferGetWidth(buffer)).map {
        SIMD2(Float(halves[2 * $0]), Float(halves[2 * $0 + 1]))
      }
    }
  }

  private static func estimate(
    _ session: VTMotionEstimationSession, _ reference: CVPixelBuffer, _ current: CVPixelBuffer,
    _ flags: VTMotionEstimationSession.FrameFlags = []
  ) throws -> [[SIMD2<Float>]] {
    let result = Mutex<(OSStatus, CVPixelBuffer?)?>(nil)
    try check(
      __VTMotionEstimationSessionEstimateMotionVectors(session, reference, current, flags, nil) {
        status, _, _, vectors in result.withLock { $0 = (status, vectors) }
      }, "estimate")
    try check(__VTMotionEstimationSessionCompleteFrames(session), "complete")
    let found = try #require(result.withLock { $0 })
    try check(found.0, "result")
    return try vectors(try #require(found.1))
  }

  private static func makeSession(_ width: Int, _ height: Int, _ options: [CFString: Any]) throws
    -> VTMotionEstimationSession
  {
    var session: VTMotionEstimationSession?
    try check(
      __VTMotionEstimationSessionCreate(
        nil, options as CFDictionary, UInt32(width), UInt32(height), &session), "create")
    return try #require(session)
  }

  @Test(
    "A picture that has moved has the vectors of its motion, in whole or in quarter pixels",
    arguments: [4, 16], [false, true])
  func knownMotion(block: Int, isMultiPass: Bool) throws {
    let (width, height) = (166, 102)
    let session = try Self.makeSession(
      width, height,
      [
        kVTMotionEstimationSessionCreationOption_MotionVectorSize: block,
        kVTMotionEstimationSessionCreationOption_UseMultiPassSearch: isMultiPass,
      ])
    let reference = try Self.picture(width, height) { Self.texture($0, $1) }
    for motion in [SIMD2(5.0, -3.0), SIMD2(-12, 7), SIMD2(2.5, 1.25), SIMD2(0, 0)] {
      // The sample at p of the current picture is that at p + motion of the reference.
      let current = try Self.picture(width, height) { Self.texture($0 + motion.x, $1 + motion.y) }
      let found = try Self.estimate(session, reference, current)
      #expect(found.count == (height + block - 1) / block && found[0].count == (width + block - 1) / block)
      let tolerance: Float = isMultiPass ? 0.25 : 0.51
      var right = 0
      var count = 0
      // Blocks near the edges are partly outside of the reference.
      for row in 16 / block..<found.count - 32 / block {
        for column in 16 / block..<found[row].count - 32 / block {
          let vector = found[row][column]
          if !isMultiPass { #expect(vector.x.rounded() == vector.x && vector.y.rounded() == vector.y) }
          count += 1
          if abs(vector.x - Float(motion.x)) <= tolerance, abs(vector.y - Float(motion.y)) <= tolerance {
            right += 1
          }
        }
      }
      #expect(count > 20 || block == 16)
      // Few samples between whole ones tell less.
      let isWhole = motion.x.rounded() == motion.x
      let share = block == 4 && !isWhole ? 0.8 : 0.95
      #expect(Double(right) >= share * Double(count), "\(motion): \(right) of \(count)")
    }
  }

  @Test("An object that moves over a still background has vectors of its own")
  func objectMoves() async throws {
    let (width, height) = (192, 128)
    func scene(_ left: Double) throws -> CVPixelBuffer {
      try Self.picture(width, height, format: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange) { x, y in
        (left..<left + 64).contains(x) && (32..<96).contains(y)
          ? 255 - Self.texture(1.3 * (x - left), 1.7 * y) : Self.texture(x, y)
      }
    }
    let session = try VTMotionEstimationSession(
      width: UInt32(width), height: UInt32(height), motionVectorSize: .blockSize4x4, useMultiPassSearch: true,
      label: "object")
    #expect(session.label == "object" && session.useMultiPassSearch)
    #expect(try session.motionVectorSize == .blockSize4x4)
    let (one, two) = (try scene(48), try scene(58))
    let motion = try await session.motion(
      of: CVReadOnlyPixelBuffer(unsafeBuffer: two), comparedTo: CVReadOnlyPixelBuffer(unsafeBuffer: one))
    let found = try motion.motionVector.withUnsafeBuffer { try Self.vectors($0) }
    var object = 0
    var background = 0
    for row in 9..<23 {
      for column in 16..<29 where abs(found[row][column].x + 10) < 0.3 && abs(found[row][column].y) < 0.3 {
        object += 1
      }
      for column in 35..<46 where found[row][column] == SIMD2(0, 0) { background += 1 }
    }
    #expect(object >= 14 * 13 * 9 / 10, "\(object)")
    #expect(background == 14 * 11, "\(background)")
  }

  @Test("A flat picture does not move, and all formats give the vectors of their luma")
  func flatAndFormats() throws {
    let (width, height) = (65, 33)
    let session = try Self.makeSession(width, height, [:])
    let flat = try Self.picture(width, height) { _, _ in 90 }
    #expect(try Self.estimate(session, flat, flat).joined().allSatisfy { $0 == SIMD2(0, 0) })
    for format in [
      kCVPixelFormatType_32BGRA, kCVPixelFormatType_420YpCbCr8Planar,
      kCVPixelFormatType_420YpCbCr8BiPlanarFullRange,
    ] {
      let reference = try Self.picture(width, height, format: format) { Self.texture($0, $1) }
      let current = try Self.picture(width, height, format: format) { Self.texture($0 + 3, $1) }
      let found = try Self.estimate(session, reference, current)
      #expect(found.count == 3 && found[0].count == 5)
      #expect(found[1][1] == SIMD2(3, 0) && found[1][2] == SIMD2(3, 0), "\(format): \(found)")
    }
  }

  @Test("The hint that a picture is the next reference changes nothing but time")
  func nextReference() throws {
    let (width, height) = (96, 64)
    let (one, other) = (try Self.makeSession(width, height, [:]), try Self.makeSession(width, height, [:]))
    let pictures = try (0..<4).map { n in
      try Self.picture(width, height) { Self.texture($0 + 3 * Double(n), $1 - Double(n)) }
    }
    for (reference, current) in zip(pictures, pictures.dropFirst()) {
      #expect(
        try Self.estimate(one, reference, current, .currentBufferWillBeNextReferenceBuffer)
          == Self.estimate(other, reference, current))
    }
  }

  @Test("Tiny pictures, other sizes and formats, wrong options, and calls after the end")
  func limits() throws {
    var session: VTMotionEstimationSession?
    for (width, height) in [(0, 16), (16, 0), (16_385, 16), (16, UInt32.max)] as [(UInt32, UInt32)] {
      #expect(__VTMotionEstimationSessionCreate(nil, nil, width, height, &session) == kVTParameterErr)
      #expect(session == nil)
    }
    for options in [
      [kVTMotionEstimationSessionCreationOption_MotionVectorSize: 8],
      [kVTMotionEstimationSessionCreationOption_MotionVectorSize: "16"],
      [kVTMotionEstimationSessionCreationOption_UseMultiPassSearch: "yes"],
      [kVTMotionEstimationSessionCreationOption_Label: 3],
    ] as [[CFString: Any]] {
      #expect(
        __VTMotionEstimationSessionCreate(nil, options as CFDictionary, 16, 16, &session) == kVTParameterErr)
    }
    for (width, height) in [(1, 1), (3, 2), (1, 40), (17, 16)] {
      for block in [4, 16] {
        let tiny = try Self.makeSession(
          width, height, [kVTMotionEstimationSessionCreationOption_MotionVectorSize: block])
        let picture = try Self.picture(width, height) { Self.texture($0, $1) }
        #expect(try Self.estimate(tiny, picture, picture).joined().allSatisfy { $0 == SIMD2(0, 0) })
      }
    }
    let made = try Self.makeSession(32, 32, [:])
    let right = try Self.picture(32, 32) { Self.texture($0, $1) }
    let wide = try Self.picture(48, 32) { Self.texture($0, $1) }
    let other = try Self.picture(32, 32, format: kCVPixelFormatType_32BGRA) { Self.texture($0, $1) }
    func estimate(_ reference: CVPixelBuffer, _ current: CVPixelBuffer) -> OSStatus {
      __VTMotionEstimationSessionEstimateMotionVectors(made, reference, current, [], nil) { _, _, _, _ in
        Issue.record("the handler was called after an error")
      }
    }
    #expect(estimate(right, wide) == kVTParameterErr && estimate(wide, right) == kVTParameterErr)
    #expect(estimate(right, other) == kVTParameterErr)
    var attributes: CFDictionary?
    #expect(__VTMotionEstimationSessionCopySourcePixelBufferAttributes(made, &attributes) == noErr)
    #expect((attributes?[kCVPixelBufferWidthKey] as? NSNumber)?.intValue == 32)
    #expect(VTSessionSetProperty(made, key: "x" as CFString, value: nil) == kVTPropertyNotSupportedErr)
    __VTMotionEstimationSessionInvalidate(made)
    #expect(estimate(right, right) == kVTInvalidSessionErr)
    #expect(__VTMotionEstimationSessionCompleteFrames(made) == kVTInvalidSessionErr)
  }

  @Test("A handler may complete and call the session again")
  func handlersCallBack() async throws {
    let session = try Self.makeSession(48, 48, [:])
    let picture = try Self.picture(48, 48) { Self.texture($0, $1) }
    let statuses = await withCheckedContinuation { (done: CheckedContinuation<[OSStatus], Never>) in
      __VTMotionEstimationSessionEstimateMotionVectors(session, picture, picture, [], nil) { first, _, _, _ in
        let completed = __VTMotionEstimationSessionCompleteFrames(session)
        let again = __VTMotionEstimationSessionEstimateMotionVectors(session, picture, picture, [], nil) {
          second, _, _, _ in done.resume(returning: [first, completed, second])
        }
        if again != noErr { done.resume(returning: [again]) }
      }
    }
    #expect(statuses == [noErr, noErr, noErr])
  }
}
