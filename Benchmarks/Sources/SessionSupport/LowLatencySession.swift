// SPDX-License-Identifier: Apache-2.0
import BenchmarkSupport
import Foundation
import VideoToolbox

/// A coded frame from a session.
public struct CodedFrame: Sendable {
  /// An access unit as a byte stream with start codes (Annex B). Key frames start with the
  /// parameter sets.
  public var stream: [UInt8]
  public var isKeyFrame: Bool
  public var layer: Int
  /// The token that a receiver sends back to acknowledge that it has decoded the frame.
  public var token: Int64?
  public var averageQP: Double?
  public var highestQP: Int?

  public var bits: Int { stream.count * 8 }
}

/// A compression session in the low-latency mode. The output of each picture is complete before the
/// next picture is encoded.
public final class LowLatencySession {
  public struct Configuration {
    /// The bit rate in bits per second.
    public var rate: Int
    /// Whether to use two temporal layers.
    public var hasLayers = false
    public var baseLayerBitRateFraction: Double?
    public var maximumQP: Int?
    public var hasLongTermReferences = false

    public init(rate: Int) { self.rate = rate }
  }

  private let pictures: ClipPictures
  private let session: VTCompressionSession
  private var buffers: [Int: CVPixelBuffer] = [:]

  public init(_ pictures: ClipPictures, _ configuration: Configuration) throws {
    self.pictures = pictures
    var created: VTCompressionSession?
    VTCompressionSessionCreate(
      allocator: nil, width: Int32(pictures.width), height: Int32(pictures.height),
      codecType: kCMVideoCodecType_H264,
      encoderSpecification: [kVTVideoEncoderSpecification_EnableLowLatencyRateControl: true] as CFDictionary,
      imageBufferAttributes: nil, compressedDataAllocator: nil, outputCallback: nil, refcon: nil,
      compressionSessionOut: &created)
    guard let session = created else {
      throw BenchmarkError(
        description: "no low-latency session takes \(pictures.width)x\(pictures.height)")
    }
    self.session = session
    var properties: [CFString: Any] = [
      kVTCompressionPropertyKey_RealTime: true,
      kVTCompressionPropertyKey_ExpectedFrameRate: pictures.frameRate,
      kVTCompressionPropertyKey_AverageBitRate: configuration.rate,
      // One thread gives the same result on every machine.
      kOVTCompressionPropertyKey_ThreadCount: 1,
      kOVTCompressionPropertyKey_Effort: 3,
    ]
    if let qp = configuration.maximumQP { properties[kVTCompressionPropertyKey_MaxAllowedFrameQP] = qp }
    if configuration.hasLayers { properties[kVTCompressionPropertyKey_BaseLayerFrameRateFraction] = 0.5 }
    if let share = configuration.baseLayerBitRateFraction {
      properties[kVTCompressionPropertyKey_BaseLayerBitRateFraction] = share
    }
    if configuration.hasLongTermReferences { properties[kVTCompressionPropertyKey_EnableLTR] = true }
    // Properties are set one by one, because some can be set only after the property that they
    // depend on.
    for key in properties.keys.sorted(by: { order($0) < order($1) }) {
      guard let value = properties[key] else { continue }
      let status = VTSessionSetProperty(session, key: key, value: value as CFTypeRef)
      guard status == noErr else {
        throw BenchmarkError(description: "the session does not take \(key) (error \(status))")
      }
    }
    guard VTCompressionSessionPrepareToEncodeFrames(session) == noErr else {
      throw BenchmarkError(description: "the session cannot work with these properties")
    }
  }

  deinit { VTCompressionSessionInvalidate(session) }

  /// Encodes picture `number`, which also determines its presentation time.
  /// - Returns: nil if rate control dropped it.
  public func encode(picture number: Int, options: [CFString: Any] = [:]) throws -> CodedFrame? {
    let index = pictures.index(of: number)
    let buffer: CVPixelBuffer
    if let known = buffers[index] {
      buffer = known
    } else {
      buffer = try PixelBuffers.nv12(pictures, number)
      buffers[index] = buffer
    }
    let time = CMTime(seconds: Double(number) / pictures.frameRate, preferredTimescale: 90_000)
    let box = OutputBox()
    var status = VTCompressionSessionEncodeFrame(
      session, imageBuffer: buffer, presentationTimeStamp: time, duration: .invalid,
      frameProperties: options.isEmpty ? nil : options as CFDictionary, infoFlagsOut: nil
    ) { status, _, sample in box.put(status, sample) }
    if status == noErr {
      status = VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: time)
    }
    guard status == noErr, let (outcome, sample) = box.take(), outcome == noErr else {
      throw BenchmarkError(description: "frame \(number) does not come out (error \(status))")
    }
    return try sample.map(CodedFrame.init)
  }
}

/// The layers have to be set before the fraction of the base layer. The order of other properties
/// does not matter.
private func order(_ key: CFString) -> Int {
  key == kVTCompressionPropertyKey_BaseLayerBitRateFraction ? 1 : 0
}

extension CodedFrame {
  fileprivate init(_ sample: CMSampleBuffer) throws {
    let attachments =
      (CMSampleBufferGetSampleAttachmentsArray(sample, createIfNecessary: false) as? [[CFString: Any]])?.first
      ?? [:]
    func number(_ key: CFString) -> NSNumber? { attachments[key] as? NSNumber }
    isKeyFrame = number(kCMSampleAttachmentKey_NotSync)?.boolValue != true
    layer = number(kOVTSampleAttachmentKey_TemporalLayer)?.intValue ?? 0
    token = number(kVTSampleAttachmentKey_RequireLTRAcknowledgementToken)?.int64Value
    averageQP = number(kOVTSampleAttachmentKey_AverageQP)?.doubleValue
    highestQP = number(kOVTSampleAttachmentKey_HighestQP)?.intValue
    stream = []
    if isKeyFrame, let format = CMSampleBufferGetFormatDescription(sample) {
      for set in try Self.parameterSets(format) { stream += [0, 0, 0, 1] + set }
    }
    guard let block = CMSampleBufferGetDataBuffer(sample) else {
      throw BenchmarkError(description: "a frame has no data")
    }
    var data = [UInt8](repeating: 0, count: CMBlockBufferGetDataLength(block))
    CMBlockBufferCopyDataBytes(block, atOffset: 0, dataLength: data.count, destination: &data)
    // The NAL units have length prefixes of four bytes.
    var position = 0
    while position + 4 <= data.count {
      let size = data[position..<(position + 4)].reduce(0) { $0 << 8 | Int($1) }
      let end = position + 4 + size
      guard end <= data.count else { throw BenchmarkError(description: "a NAL unit is cut off") }
      stream += [0, 0, 0, 1] + data[(position + 4)..<end]
      position = end
    }
  }

  private static func parameterSets(_ format: CMFormatDescription) throws -> [[UInt8]] {
    var count = 0
    CMVideoFormatDescriptionGetH264ParameterSetAtIndex(
      format, parameterSetIndex: 0, parameterSetPointerOut: nil, parameterSetSizeOut: nil,
      parameterSetCountOut: &count, nalUnitHeaderLengthOut: nil)
    return try (0..<count).map { index in
      var pointer: UnsafePointer<UInt8>?
      var size = 0
      CMVideoFormatDescriptionGetH264ParameterSetAtIndex(
        format, parameterSetIndex: index, parameterSetPointerOut: &pointer, parameterSetSizeOut: &size,
        parameterSetCountOut: nil, nalUnitHeaderLengthOut: nil)
      guard let pointer, size > 0 else { throw BenchmarkError(description: "a parameter set is missing") }
      return Array(UnsafeBufferPointer(start: pointer, count: size))
    }
  }
}

/// Passes a frame from the thread of the session to the caller. Unchecked: the lock protects all
/// members.
private final class OutputBox: @unchecked Sendable {
  private let lock = NSLock()
  private var content: (OSStatus, CMSampleBuffer?)?

  func put(_ status: OSStatus, _ sample: CMSampleBuffer?) { lock.withLock { content = (status, sample) } }
  func take() -> (OSStatus, CMSampleBuffer?)? { lock.withLock { content } }
}
