// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Synchronization
import Testing
import TestSupport
import VideoToolbox

/// Numbers that no sensible program passes, and that must not end the process.
@Suite struct ForeignNumberTests {
  nonisolated(unsafe) private static let encoders:
    [(name: String, codec: CMVideoCodecType, specification: [CFString: Any]?)] = [
      ("H.264", kCMVideoCodecType_H264, nil), ("HEVC", kCMVideoCodecType_HEVC, nil),
      (
        "low latency", kCMVideoCodecType_H264,
        [kVTVideoEncoderSpecification_EnableLowLatencyRateControl: kCFBooleanTrue as Any]
      ),
    ]

  private func encode(
    _ session: VTCompressionSession, _ clip: TestClip, _ index: Int, at time: CMTime, duration: CMTime
  ) -> OSStatus {
    VTCompressionSessionEncodeFrame(
      session, imageBuffer: clip.buffer(index), presentationTimeStamp: time, duration: duration,
      frameProperties: nil, infoFlagsOut: nil
    ) { _, _, _ in }
  }

  @Test(arguments: encoders.indices) func strangeTimesAreTakenOrRefused(encoder: Int) throws {
    let encoder = Self.encoders[encoder]
    let clip = TestClip(width: 64, height: 48)
    let session = try makeSession(encoder.codec, width: 64, height: 48, specification: encoder.specification)
    func time(_ value: Int64, _ scale: Int32) -> CMTime {
      CMTime(value: value, timescale: scale, flags: .valid, epoch: 0)
    }
    // Invalid times, and times so far away that they overflow.
    for bad in [
      time(0, 0), time(1, 0), time(5, -30), time(.max, 1), time(.min, 1), time(.max, .max) + time(.max, 1),
      .invalid,
      .indefinite, .positiveInfinity, .negativeInfinity, time(.max / 2, 1000),
    ] {
      #expect(
        encode(session, clip, 0, at: bad, duration: .invalid) == kVTParameterErr, "\(encoder.name) \(bad)")
    }
    for bad in [time(1, 0), time(.max, 1), time(.min, 1), time(3, -1)] {
      #expect(encode(session, clip, 0, at: .zero, duration: bad) == kVTParameterErr, "\(encoder.name) \(bad)")
    }
    // Unusual, but possible.
    for (index, pair) in [
      (time(-1 << 40, 1000), CMTime.invalid), (time(0, 1), time(-5, 30)), (time(1, .max), .positiveInfinity),
      (time(1, 30), time(1 << 30, 1)), (time(1 << 30, 1), time(0, 600)), (time(1 << 34, 1), .indefinite),
    ].enumerated() {
      #expect(encode(session, clip, index, at: pair.0, duration: pair.1) == noErr, "\(encoder.name) \(pair)")
    }
    #expect(VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid) == noErr)
    VTCompressionSessionInvalidate(session)
  }

  /// Every numeric property of every encoder with unusual numbers: accepted or rejected, and frames
  /// are encoded afterwards.
  @Test(arguments: encoders.indices) func strangePropertiesAreTakenOrRefused(encoder: Int) throws {
    let encoder = Self.encoders[encoder]
    let clip = TestClip(width: 64, height: 48)
    let numbers: [Double] = [
      .nan, .infinity, -.infinity, 0, -1, 1e-20, 1e-14, 1e-5, 0.5, 1, 2, 1e3, 1e9, 2_147_483_647, 1e12, 1e18,
      1e19,
      1e30, .greatestFiniteMagnitude, .leastNonzeroMagnitude, -1e30,
    ]
    let probe = try makeSession(encoder.codec, width: 64, height: 48, specification: encoder.specification)
    var supported: CFDictionary?
    #expect(
      VTSessionCopySupportedPropertyDictionary(probe, supportedPropertyDictionaryOut: &supported) == noErr)
    let keys = try #require(supported).allKeys.compactMap { $0 as? NSString }
    VTCompressionSessionInvalidate(probe)
    for key in keys.sorted(by: { ($0 as String) < ($1 as String) }) {
      let session = try makeSession(
        encoder.codec, width: 64, height: 48, specification: encoder.specification)
      var changed = false
      for number in numbers {
        for value in [
          NSNumber(value: number), NSArray(array: [NSNumber(value: number), NSNumber(value: number)]),
          NSArray(array: [NSNumber(value: 1e5), NSNumber(value: number)]),
        ] as [AnyObject] where VTSessionSetProperty(session, key: key, value: value) == noErr {
          changed = true
        }
      }
      // The last that was taken must also work.
      if changed {
        for frame in 0..<2 {
          _ = encode(
            session, clip, frame, at: CMTime(value: Int64(frame), timescale: 30),
            duration: CMTime(value: 1, timescale: 30))
        }
        _ = VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid)
      }
      VTCompressionSessionInvalidate(session)
    }
  }

  /// Input that once ended the process.
  @Test(arguments: encoders.indices) func strangeRatesAreTakenOrRefused(encoder: Int) throws {
    let encoder = Self.encoders[encoder]
    let clip = TestClip(width: 64, height: 48)
    func isSafe(_ key: CFString, _ value: AnyObject) throws -> OSStatus {
      let session = try makeSession(
        encoder.codec, width: 64, height: 48, specification: encoder.specification)
      defer { VTCompressionSessionInvalidate(session) }
      let status = VTSessionSetProperty(session, key: key, value: value)
      for frame in 0..<3 {
        _ = encode(session, clip, frame, at: CMTime(value: Int64(frame), timescale: 30), duration: .invalid)
      }
      _ = VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid)
      return status
    }
    let limits = kVTCompressionPropertyKey_DataRateLimits
    #expect(try isSafe(limits, [1e6, 1e-20] as NSArray) != noErr)
    #expect(try isSafe(limits, [9e11, 1e-3] as NSArray) != kVTParameterErr)
    #expect(
      try isSafe(kVTCompressionPropertyKey_ExpectedFrameRate, NSNumber(value: 1e-14)) == kVTParameterErr)
    _ = try isSafe(kVTCompressionPropertyKey_MaxKeyFrameIntervalDuration, NSNumber(value: 1e9))
  }

  // MARK: - Wrapped memory

  /// A declared plane may be larger than its memory: no more is read than the picture
  /// has.
  @Test(arguments: encoders.indices) func planesThatAreSaidToBeLargerAreNotReadBeyondTheirMemory(encoder: Int)
    throws
  {
    let encoder = Self.encoders[encoder]
    let clip = TestClip(width: 64, height: 48)
    func stream(_ widths: [Int], _ heights: [Int]) throws -> [[UInt8]] {
      let session = try makeSession(
        encoder.codec, width: 64, height: 48, specification: encoder.specification,
        properties: [kVTCompressionPropertyKey_Quality: 0.5, kOVTCompressionPropertyKey_ThreadCount: 1])
      defer { VTCompressionSessionInvalidate(session) }
      let collector = Collector()
      for index in 0..<4 {
        let buffer = try wrapped(clip.buffer(index), widths: widths, heights: heights)
        try check(
          VTCompressionSessionEncodeFrame(
            session, imageBuffer: buffer, presentationTimeStamp: clip.time(index),
            duration: clip.frameDuration, frameProperties: nil, infoFlagsOut: nil
          ) { status, flags, sample in collector.add(status, flags, sample) }, "frame \(index)")
      }
      try check(
        VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid), "complete")
      for entry in collector.all { try check(entry.status, "result") }
      return collector.samples.map(\.bytes)
    }
    let right = try stream([64, 32], [48, 24])
    #expect(right.count == 4)
    for (widths, heights) in [
      ([64, 64], [48, 48]), ([.max, .max], [48, 24]), ([64, 32], [1 << 50, 1 << 50]),
      ([.max, .max], [1 << 50, 1 << 50]),
    ] {
      let isSame = try stream(widths, heights) == right
      #expect(isSame, "\(encoder.name) \(widths) \(heights)")
    }
  }

  // MARK: - Data without memory

  /// Blocks with a length and no memory yet count as no data, whatever their length.
  @Test(arguments: [16, 1 << 24, 1 << 30, 1 << 61]) func dataWithoutMemoryAreNoData(piece: Int) throws {
    let encoder = try makeSession(width: 64, height: 48)
    let sample = try #require(
      try VideoToolboxTests.encode(encoder, TestClip(width: 64, height: 48), count: 1).first)
    let format = try #require(CMSampleBufferGetFormatDescription(sample))
    var block: CMBlockBuffer?
    try check(
      CMBlockBufferCreateEmpty(allocator: nil, capacity: 2, flags: 0, blockBufferOut: &block), "block")
    let data = try #require(block)
    for _ in 0..<2 {
      try check(
        CMBlockBufferAppendMemoryBlock(
          data, memoryBlock: nil, length: piece, blockAllocator: nil, customBlockSource: nil, offsetToData: 0,
          dataLength: piece, flags: 0), "piece")
    }
    var timing = CMSampleTimingInfo(
      duration: CMTime(value: 1, timescale: 30), presentationTimeStamp: .zero, decodeTimeStamp: .invalid)
    var made: CMSampleBuffer?
    try check(
      CMSampleBufferCreateReady(
        allocator: nil, dataBuffer: data, formatDescription: format, sampleCount: 1,
        sampleTimingEntryCount: 1, sampleTimingArray: &timing, sampleSizeEntryCount: 0, sampleSizeArray: nil,
        sampleBufferOut: &made), "sample")
    var session: VTDecompressionSession?
    try check(
      VTDecompressionSessionCreate(
        allocator: nil, formatDescription: format, decoderSpecification: nil, imageBufferAttributes: nil,
        outputCallback: nil, decompressionSessionOut: &session), "create")
    let decoder = try #require(session)
    let reported = Mutex<OSStatus>(noErr)
    let status = VTDecompressionSessionDecodeFrame(
      decoder, sampleBuffer: try #require(made), flags: [], infoFlagsOut: nil
    ) { status, _, _, _, _ in reported.withLock { $0 = status } }
    #expect(status != noErr || reported.withLock { $0 } != noErr)
    VTDecompressionSessionInvalidate(decoder)
    VTCompressionSessionInvalidate(encoder)
  }

  // MARK: - Callbacks that call

  /// A callback that encodes the next frame and completes it, whose callback does the same, and so
  /// on.
  @Test func callbacksDoNotNestWithoutEnd() throws {
    let clip = TestClip(width: 64, height: 48)
    let session = try makeSession(
      width: 64, height: 48, properties: [kVTCompressionPropertyKey_RealTime: kCFBooleanTrue as Any])
    let count = Mutex(0)
    let deepest = Mutex((now: 0, maximum: 0))
    let total = 3000
    let target = session
    @Sendable func next(_ frame: Int) {
      _ = VTCompressionSessionEncodeFrame(
        target, imageBuffer: clip.buffer(frame % 4),
        presentationTimeStamp: CMTime(value: Int64(frame), timescale: 30),
        duration: .invalid, frameProperties: nil, infoFlagsOut: nil
      ) { _, _, _ in
        deepest.withLock {
          $0.now += 1
          $0.maximum = max($0.maximum, $0.now)
        }
        count.withLock { $0 += 1 }
        if frame + 1 < total {
          next(frame + 1)
          _ = VTCompressionSessionCompleteFrames(target, untilPresentationTimeStamp: .invalid)
        }
        deepest.withLock { $0.now -= 1 }
      }
    }
    next(0)
    // Each call waits for the frames that are there, of which there is one at a time.
    blockUntil {
      #expect(VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid) == noErr)
      return count.withLock { $0 } >= total
    }
    #expect(count.withLock { $0 } == total)
    #expect(deepest.withLock { $0.maximum } <= 8)
    VTCompressionSessionInvalidate(session)
  }

  /// The same with decoding.
  @Test func decodingCallbacksDoNotNestWithoutEnd() throws {
    let clip = TestClip(width: 64, height: 48)
    let encoder = try makeSession(
      width: 64, height: 48,
      properties: [kVTCompressionPropertyKey_AllowFrameReordering: kCFBooleanFalse as Any])
    let samples = try VideoToolboxTests.encode(encoder, clip, count: 1)
    let sample = try #require(samples.first)
    let format = try #require(CMSampleBufferGetFormatDescription(sample))
    var made: VTDecompressionSession?
    try check(
      VTDecompressionSessionCreate(
        allocator: nil, formatDescription: format, decoderSpecification: nil, imageBufferAttributes: nil,
        outputCallback: nil, decompressionSessionOut: &made), "create")
    let session = try #require(made)
    let picture = sample
    let count = Mutex(0)
    let depth = Mutex((now: 0, maximum: 0))
    let total = 3000
    @Sendable func next() {
      _ = VTDecompressionSessionDecodeFrame(session, sampleBuffer: picture, flags: [], infoFlagsOut: nil) {
        _, _, _, _, _ in
        depth.withLock {
          $0.now += 1
          $0.maximum = max($0.maximum, $0.now)
        }
        if count.withLock({ count -> Int in
          count += 1
          return count
        }) < total {
          next()
        }
        depth.withLock { $0.now -= 1 }
      }
    }
    next()
    VTDecompressionSessionWaitForAsynchronousFrames(session)
    #expect(count.withLock { $0 } == total)
    #expect(depth.withLock { $0.maximum } <= 8)
    VTDecompressionSessionInvalidate(session)
  }
}

/// The planes of a picture, of a byte a sample and with chroma in pairs, in memory that ends with
/// them.
/// - Parameters:
///   - widths: what is said of them.
///   - heights: likewise.
func wrapped(_ picture: CVPixelBuffer, widths: [Int], heights: [Int]) throws -> CVPixelBuffer {
  CVPixelBufferLockBaseAddress(picture, .readOnly)
  defer { CVPixelBufferUnlockBaseAddress(picture, .readOnly) }
  let width = CVPixelBufferGetWidth(picture)
  let rows = (0..<CVPixelBufferGetPlaneCount(picture)).map { CVPixelBufferGetHeightOfPlane(picture, $0) }
  let bytes = rows.reduce(0, +) * width
  let page = Int(sysconf(Int32(_SC_PAGESIZE)))
  let inner = (bytes + page - 1) / page * page
  guard let mapping = mmap(nil, inner + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
    mapping != MAP_FAILED
  else { throw SessionError(status: errno, what: "no memory with a guard page") }
  mprotect(mapping + inner, page, PROT_NONE)
  var at = mapping + inner - bytes
  var bases: [UnsafeMutableRawPointer?] = []
  for (plane, count) in rows.enumerated() {
    let base = try #require(CVPixelBufferGetBaseAddressOfPlane(picture, plane))
    bases.append(at)
    for row in 0..<count {
      memcpy(at, base + row * CVPixelBufferGetBytesPerRowOfPlane(picture, plane), width)
      at += width
    }
  }
  var (widths, heights) = (widths, heights)
  var strides = rows.map { _ in width }
  var made: CVPixelBuffer?
  let status = CVPixelBufferCreateWithPlanarBytes(
    nil, width, CVPixelBufferGetHeight(picture), CVPixelBufferGetPixelFormatType(picture), mapping,
    inner + page, rows.count, &bases, &widths, &heights, &strides,
    { _, data, size, _, _ in if let data { munmap(UnsafeMutableRawPointer(mutating: data), size) } }, nil,
    nil,
    &made)
  try check(status, "wrap")
  return try #require(made)
}
