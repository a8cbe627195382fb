// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import VideoToolbox

/// `VTFrameProcessor` with the temporal noise filter.
@Suite struct TemporalNoiseFilterTests {
  private static let formats: [OSType] = [
    kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, kCVPixelFormatType_420YpCbCr8BiPlanarFullRange,
    kCVPixelFormatType_420YpCbCr8Planar, kCVPixelFormatType_420YpCbCr8PlanarFullRange,
  ]

  /// A frame whose samples are a constant in each plane, and noise of up to `noise` above and
  /// below.
  private static func frame(
    _ seconds: Double, format: OSType = formats[0], width: Int = 98, height: Int = 54, noise: Int = 0
  ) throws -> VTFrameProcessorFrame {
    var made: CVPixelBuffer?
    CVPixelBufferCreate(nil, width, height, format, nil, &made)
    let buffer = try #require(made)
    CVPixelBufferLockBaseAddress(buffer, [])
    defer { CVPixelBufferUnlockBaseAddress(buffer, []) }
    var state = UInt32(bitPattern: Int32(seconds * 1000)) &+ 1
    for plane in 0..<CVPixelBufferGetPlaneCount(buffer) {
      let base = try #require(CVPixelBufferGetBaseAddressOfPlane(buffer, plane))
      let count =
        CVPixelBufferGetBytesPerRowOfPlane(buffer, plane) * CVPixelBufferGetHeightOfPlane(buffer, plane)
      for i in 0..<count {
        state = state &* 1_664_525 &+ 1_013_904_223
        let value = 100 + 20 * plane + (noise == 0 ? 0 : Int(state >> 16) % (2 * noise + 1) - noise)
        base.storeBytes(of: UInt8(value), toByteOffset: i, as: UInt8.self)
      }
    }
    return try #require(
      VTFrameProcessorFrame(
        buffer: buffer, presentationTimeStamp: CMTime(seconds: seconds, preferredTimescale: 600)))
  }

  /// The visible samples of all planes.
  private static func samples(_ buffer: CVPixelBuffer) -> [[UInt8]] {
    CVPixelBufferLockBaseAddress(buffer, .readOnly)
    defer { CVPixelBufferUnlockBaseAddress(buffer, .readOnly) }
    let planes = CVPixelBufferGetPlaneCount(buffer)
    return (0..<planes).map { plane in
      guard let base = CVPixelBufferGetBaseAddressOfPlane(buffer, plane) else { return [] }
      let width = CVPixelBufferGetWidthOfPlane(buffer, plane) * (planes == 2 && plane == 1 ? 2 : 1)
      return (0..<CVPixelBufferGetHeightOfPlane(buffer, plane)).flatMap { row in
        [UInt8](
          UnsafeRawBufferPointer(
            start: base + row * CVPixelBufferGetBytesPerRowOfPlane(buffer, plane), count: width))
      }
    }
  }

  private static func variance(_ samples: [UInt8]) -> Double {
    let mean = samples.reduce(0.0) { $0 + Double($1) } / Double(samples.count)
    return samples.reduce(0.0) { $0 + pow(Double($1) - mean, 2) } / Double(samples.count)
  }

  private static func parameters(
    format: OSType = formats[0], strength: Float = 0.8, noise: Int = 8, previous: [Double] = [1, 2],
    next: [Double] = [4, 5], isDiscontinuous: Bool = false
  ) throws -> VTTemporalNoiseFilterParameters {
    try #require(
      VTTemporalNoiseFilterParameters(
        sourceFrame: frame(3, format: format, noise: noise),
        nextFrames: next.map { try frame($0, format: format, noise: noise) },
        previousFrames: previous.map { try frame($0, format: format, noise: noise) },
        destinationFrame: frame(3, format: format), filterStrength: strength,
        hasDiscontinuity: isDiscontinuous))
  }

  private static func processor(format: OSType = formats[0]) throws -> VTFrameProcessor {
    let processor = VTFrameProcessor()
    try processor.startSession(
      configuration: #require(
        VTTemporalNoiseFilterConfiguration(frameWidth: 98, frameHeight: 54, sourcePixelFormat: format)))
    return processor
  }

  private static func code(_ body: () async throws -> Void) async -> VTFrameProcessorError.Code? {
    do { try await body() } catch { return (error as? VTFrameProcessorError)?.code }
    return nil
  }

  @Test(arguments: formats)
  func averagesNoiseOverTimeInEveryPlane(_ format: OSType) async throws {
    let processor = try Self.processor(format: format)
    defer { processor.endSession() }
    let parameters = try Self.parameters(format: format)
    CVBufferSetAttachment(
      parameters.sourceFrame.buffer, kCVImageBufferYCbCrMatrixKey, kCVImageBufferYCbCrMatrix_ITU_R_709_2,
      .shouldPropagate)
    let result = try await processor.process(parameters: parameters)
    #expect(result === parameters)
    let destination = parameters.destinationFrame.buffer
    for (before, after) in zip(Self.samples(parameters.sourceFrame.buffer), Self.samples(destination)) {
      // Five frames leave a fifth of the variance if all count alike.
      #expect(Self.variance(after) < 0.5 * Self.variance(before))
    }
    #expect(
      CVBufferCopyAttachment(destination, kCVImageBufferYCbCrMatrixKey, nil) as? String
        == kCVImageBufferYCbCrMatrix_ITU_R_709_2 as String)
  }

  @Test func aGreaterStrengthFiltersMore() async throws {
    let processor = try Self.processor()
    defer { processor.endSession() }
    var variances: [Double] = []
    for strength in [Float(0), 0.2, 0.5, 1] {
      let parameters = try Self.parameters(strength: strength)
      try await processor.process(parameters: parameters)
      let destination = parameters.destinationFrame.buffer
      variances.append(Self.variance(Self.samples(destination)[0]))
      if strength == 0 {
        #expect(Self.samples(destination) == Self.samples(parameters.sourceFrame.buffer))
      }
    }
    #expect(variances == variances.sorted(by: >))
    #expect(variances[3] < 0.4 * variances[0])
  }

  @Test func aDiscontinuityIgnoresPrecedingFrames() async throws {
    let processor = try Self.processor()
    defer { processor.endSession() }
    // They may be of any time, as after a seek.
    let parameters = try Self.parameters(previous: [200, 100], next: [], isDiscontinuous: true)
    try await processor.process(parameters: parameters)
    let destination = parameters.destinationFrame.buffer
    #expect(Self.samples(destination) == Self.samples(parameters.sourceFrame.buffer))
  }

  @Test func handlersAreCalledInOrderAndBeforeTheSessionEnds() throws {
    let processor = try Self.processor()
    let order = Order()
    for i in 0..<6 {
      processor.process(parameters: try Self.parameters()) { _, error in order.add(error == nil ? i : -1) }
    }
    processor.endSession()
    #expect(order.values == [0, 1, 2, 3, 4, 5])
  }

  @Test func aSessionMayEndInItsHandler() async throws {
    let processor = try Self.processor()
    let parameters = try Self.parameters()
    let isRefused = await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
      processor.process(parameters: parameters) { _, error in
        processor.endSession()
        continuation.resume(returning: error != nil)
      }
    }
    #expect(!isRefused)
    #expect(await Self.code { try await processor.process(parameters: parameters) } == .sessionNotStarted)
  }

  private final class Order: @unchecked Sendable {
    private let lock = NSLock()
    private var all: [Int] = []
    var values: [Int] { lock.withLock { all } }
    func add(_ value: Int) { lock.withLock { all.append(value) } }
  }

  @Test func misuseIsRefusedWithApplesCodes() async throws {
    let processor = VTFrameProcessor()
    let parameters = try Self.parameters()
    #expect(await Self.code { try await processor.process(parameters: parameters) } == .sessionNotStarted)
    let configuration = try #require(
      VTTemporalNoiseFilterConfiguration(
        frameWidth: 98, frameHeight: 54, sourcePixelFormat: Self.formats[0]))
    try processor.startSession(configuration: configuration)
    #expect(
      await Self.code { try processor.startSession(configuration: configuration) } == .sessionAlreadyActive)
    let many = try Self.parameters(previous: [0, 1, 2])
    #expect(await Self.code { try await processor.process(parameters: many) } == .invalidParameterError)
    parameters.filterStrength = .nan
    #expect(await Self.code { try await processor.process(parameters: parameters) } == .invalidParameterError)
    let disordered = try Self.parameters(previous: [2, 1])
    #expect(await Self.code { try await processor.process(parameters: disordered) } == .invalidFrameTiming)
    let late = try Self.parameters(next: [2])
    #expect(await Self.code { try await processor.process(parameters: late) } == .invalidFrameTiming)
    let planar = try Self.parameters(format: Self.formats[2])
    #expect(await Self.code { try await processor.process(parameters: planar) } == .unsupportedInput)
    processor.endSession()
    let again = try Self.parameters()
    #expect(await Self.code { try await processor.process(parameters: again) } == .sessionNotStarted)
    try processor.startSession(configuration: configuration)
    try await processor.process(parameters: again)
    processor.endSession()
  }

  @Test func anotherConfigurationCannotBeStarted() async throws {
    final class Other: NSObject, VTFrameProcessorConfiguration {
      var supportedPixelFormats: [OSType] { [] }
      var sourcePixelBufferAttributes: [String: any Sendable] { [:] }
      var destinationPixelBufferAttributes: [String: any Sendable] { [:] }
      static var isSupported: Bool { false }
    }
    #expect(
      await Self.code { try VTFrameProcessor().startSession(configuration: Other()) } == .initializationFailed
    )
  }

  @Test func theConfigurationTellsWhatItTakes() throws {
    #expect(VTTemporalNoiseFilterConfiguration.isSupported)
    let made = VTTemporalNoiseFilterConfiguration(
      frameWidth: 1280, frameHeight: 720, sourcePixelFormat: Self.formats[1])
    let configuration = try #require(made)
    #expect(VTTemporalNoiseFilterConfiguration.supportedSourcePixelFormats == Self.formats)
    #expect(configuration.supportedPixelFormats == [Self.formats[1]])
    let general: any VTFrameProcessorConfiguration = configuration
    #expect(general.previousFrameCount == 2 && general.nextFrameCount == 2)
    #expect(configuration.previousFrameCount == 2 && configuration.nextFrameCount == 2)
    var buffer: CVPixelBuffer?
    CVPixelBufferCreate(
      nil, 1280, 720, Self.formats[1], configuration.sourcePixelBufferAttributes as CFDictionary, &buffer)
    #expect(buffer != nil)
    for (width, height, format) in [
      (15, 64, Self.formats[0]), (64, 8193, Self.formats[0]), (-1, Int.max, Self.formats[0]),
      (64, 64, kCVPixelFormatType_32BGRA),
    ] {
      #expect(
        VTTemporalNoiseFilterConfiguration(frameWidth: width, frameHeight: height, sourcePixelFormat: format)
          == nil)
    }
    let source = try Self.frame(0)
    #expect(
      VTTemporalNoiseFilterParameters(
        sourceFrame: source, nextFrames: [], previousFrames: [], destinationFrame: source,
        filterStrength: 0.5,
        hasDiscontinuity: false) == nil)
    #expect(
      VTTemporalNoiseFilterParameters(
        sourceFrame: source, nextFrames: [source], previousFrames: [], destinationFrame: source,
        filterStrength: 1.5, hasDiscontinuity: false) == nil)
  }
}
