// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import ElementaryStream
import FFmpegMedia
import Foundation
import RealTimeTransport
import VideoBitstream
import VideoToolbox

/// The decompression session of a receiver.
final class CallDecoder {
  /// The codecs that this machine decodes.
  static var codecs: Set<VideoCodec> {
    Set(
      VideoCodec.allCases.filter { codec in
        let type = codec == .h264 ? kCMVideoCodecType_H264 : kCMVideoCodecType_HEVC
        return FFmpegVideoDecoder.description.supports(CodecType(rawValue: type))
      })
  }

  private let codec: VideoCodec
  private var session: VTDecompressionSession?
  private var format: CMVideoFormatDescription?
  private var sets: [[UInt8]] = []

  init(_ codec: VideoCodec) { self.codec = codec }

  deinit { if let session { VTDecompressionSessionInvalidate(session) } }

  /// Decodes a frame.
  /// - Parameters:
  ///   - units: its NAL units; before a key frame they include parameter sets.
  ///   - time: its presentation time in seconds.
  /// - Returns: the picture; nil if the frame cannot be decoded.
  /// - Throws: a `Failure` if no session takes the parameter sets.
  func decode(_ units: [[UInt8]], time: Double) throws -> CVPixelBuffer? {
    try decodeSample(units, time: time)?.picture
  }

  /// Decodes a frame, and also returns its coded sample.
  /// - Parameter isSync: whether the sample is marked as a sync sample.
  func decodeSample(
    _ units: [[UInt8]], time: Double, isSync: Bool = true
  ) throws -> (picture: CVPixelBuffer, sample: CMSampleBuffer)? {
    let nal = codec.nal
    func type(_ unit: [UInt8]) -> UInt8? { unit.first.map(nal.unitType) }
    func isParameterSet(_ unit: [UInt8]) -> Bool { type(unit).map(nal.isParameterSet) ?? false }
    // Sets of a layer above the base, as streams with several views have, are for other decoders.
    let newSets = units.filter { isParameterSet($0) && Self.isOfBaseLayer($0, codec) }
    if !newSets.isEmpty {
      // A sender may repeat some of them alone.
      let sets = nal.parameterSetTypes.flatMap { kind in
        let fresh = newSets.filter { type($0) == kind }
        return fresh.isEmpty ? self.sets.filter { type($0) == kind } : fresh
      }
      if sets != self.sets || session == nil { try open(sets) }
    }
    guard let session, let format else { return nil }
    let data = try AnnexB.lengthPrefixed(units.filter { !isParameterSet($0) }.map { Data($0) })
    guard let sample = Self.sample(data, format: format, time: time) else { return nil }
    let box = PictureBox()
    let status = VTDecompressionSessionDecodeFrame(
      session, sampleBuffer: sample, flags: [], infoFlagsOut: nil
    ) { status, _, image, _, _ in box.store(status == noErr ? image : nil) }
    guard status == noErr, let picture = box.take() else { return nil }
    if !isSync, let attachments = CMSampleBufferGetSampleAttachmentsArray(sample, createIfNecessary: true) {
      (attachments.firstObject as? NSMutableDictionary)?
        .setObject(NSNumber(value: true), forKey: kCMSampleAttachmentKey_NotSync)
    }
    return (picture, sample)
  }

  /// Whether a NAL unit belongs to the base layer: nuh_layer_id is 0, or it is one of H.264.
  private static func isOfBaseLayer(_ unit: [UInt8], _ codec: VideoCodec) -> Bool {
    codec == .h264 || unit.count > 1 && unit[0] & 1 == 0 && unit[1] >> 3 == 0
  }

  private func open(_ newSets: [[UInt8]]) throws {
    if let session { VTDecompressionSessionInvalidate(session) }
    session = nil
    format = nil
    sets = newSets
    let sets = newSets.map { Data($0) }
    let format: CMVideoFormatDescription
    do {
      format =
        switch codec {
        case .h264: try CMVideoFormatDescription(h264ParameterSets: sets)
        case .hevc: try CMVideoFormatDescription(hevcParameterSets: sets)
        }
    } catch {
      throw Failure(
        "the receiver does not understand the parameter sets (error \((error as NSError).code))")
    }
    self.format = format
    let attributes: [CFString: Any] = [
      kCVPixelBufferPixelFormatTypeKey: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange
    ]
    let created = VTDecompressionSessionCreate(
      allocator: nil, formatDescription: format, decoderSpecification: nil,
      imageBufferAttributes: attributes as CFDictionary, outputCallback: nil,
      decompressionSessionOut: &session)
    guard created == noErr else { throw Failure("the receiver has no decoder (error \(created))") }
  }

  private static func sample(_ data: Data, format: CMVideoFormatDescription, time: Double) -> CMSampleBuffer?
  {
    var block: CMBlockBuffer?
    var status = CMBlockBufferCreateWithMemoryBlock(
      allocator: nil, memoryBlock: nil, blockLength: data.count, blockAllocator: nil, customBlockSource: nil,
      offsetToData: 0, dataLength: data.count, flags: kCMBlockBufferAssureMemoryNowFlag,
      blockBufferOut: &block)
    guard status == noErr, let block else { return nil }
    status = data.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return kCMBlockBufferBadLengthParameterErr }
      return CMBlockBufferReplaceDataBytes(
        with: base, blockBuffer: block, offsetIntoDestination: 0, dataLength: bytes.count)
    }
    guard status == noErr else { return nil }
    var timing = CMSampleTimingInfo(
      duration: .invalid, presentationTimeStamp: CMTime(nearest: time, preferredTimescale: 90_000),
      decodeTimeStamp: .invalid)
    var size = data.count
    var sample: CMSampleBuffer?
    status = CMSampleBufferCreateReady(
      allocator: nil, dataBuffer: block, formatDescription: format, sampleCount: 1, sampleTimingEntryCount: 1,
      sampleTimingArray: &timing, sampleSizeEntryCount: 1, sampleSizeArray: &size, sampleBufferOut: &sample)
    return status == noErr ? sample : nil
  }
}

private final class PictureBox: @unchecked Sendable {
  // Sendable: `lock` guards the mutable state.
  private let lock = Lock()
  private var picture: CVPixelBuffer?

  func store(_ image: CVPixelBuffer?) { lock.withLock { picture = image } }
  func take() -> CVPixelBuffer? { lock.withLock { picture } }
}
