// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import Foundation
import VideoToolbox

// A program with a codec of its own: uncompressed NV12, through the sessions that know nothing of
// it.

let raw = CodecType(rawValue: 0x7261_7731)  // "raw1"

final class RawEncoder: SynchronousVideoEncoder {
  private let configuration: VideoEncoderConfiguration
  private var hasBegun = false
  let reorderingDepth = 0

  init(_ configuration: VideoEncoderConfiguration) { self.configuration = configuration }

  func encode(
    _ picture: InputPicture, request: FrameRequest, output: (consuming CompressedFrame) -> Void
  ) throws(CodecError) {
    let planes = try picture.planes()
    var data = CompressedData(capacity: picture.width * picture.height * 3 / 2)
    for plane in [planes.first, planes.second].compactMap({ $0 }) {
      for row in 0..<plane.height {
        data.append(
          UnsafeRawBufferPointer(start: plane.baseAddress + row * plane.bytesPerRow, count: picture.width))
      }
    }
    var frame = CompressedFrame(presentationTime: picture.presentationTime, data: data)
    frame.properties.isKeyFrame = true
    frame.properties.isIntra = true
    if !hasBegun { frame.header = .nothing }
    hasBegun = true
    output(frame)
  }

  func flush(output: (consuming CompressedFrame) -> Void) throws(CodecError) {}

  func reconfigure(_ new: VideoEncoderConfiguration) throws(CodecError) -> Reconfiguration {
    new == configuration ? .applied : .needsNewStream
  }
}

func registerRawEncoder() {
  CodecRegistry.shared.register(
    EncoderDescription(
      id: "org.example.raw", codec: raw, codecName: "Raw", encoderName: "Raw", displayName: "Raw",
      inputFormats: [.nv12VideoRange],
      makeEncoder: { (configuration) throws(CodecError) in
        SynchronousEncoder(RawEncoder(configuration))
      }))
}

/// The same on a queue of its own, as a device would do it: frames come when they are ready, and
/// nobody calls for them.
final class QueuedEncoder: VideoEncoder {
  private let queue = DispatchQueue(label: "org.example.device")
  private let base: RawEncoder
  private var output: (any VideoEncoderOutput)?
  let reorderingDepth = 0

  init(_ configuration: VideoEncoderConfiguration) { base = RawEncoder(configuration) }

  func start(output: any VideoEncoderOutput) { self.output = output }

  func encode(_ picture: InputPicture, request: FrameRequest) throws(CodecError) {
    // The picture is the client's again when the call returns: what is in it is read here.
    try base.encode(picture, request: request) { (frame: consuming CompressedFrame) in
      let (time, header, properties) = (frame.presentationTime, frame.header, frame.properties)
      guard let data = frame.data.take() else { return }
      let bytes = data.withBytes { $0.withUnsafeBufferPointer { Array($0) } }
      queue.async { [output] in
        var copy = CompressedData(capacity: bytes.count)
        bytes.withUnsafeBytes { copy.append($0) }
        var frame = CompressedFrame(presentationTime: time, data: copy)
        frame.header = header
        frame.properties = properties
        output?.send(frame)
      }
    }
  }

  func flush() throws(CodecError) { queue.sync {} }

  func reconfigure(_ new: VideoEncoderConfiguration) throws(CodecError) -> Reconfiguration {
    try base.reconfigure(new)
  }
}

final class RawDecoder: VideoDecoder {
  private let configuration: VideoDecoderConfiguration
  var selection = FrameSelection.all

  init(_ configuration: VideoDecoderConfiguration) { self.configuration = configuration }

  func decode(_ packet: CompressedPacket, output: (DecodedFrame) -> Void) {
    let (width, height) = (configuration.width, configuration.height)
    guard packet.data.count == width * height * 3 / 2 else {
      return output(DecodedFrame(token: packet.token, outcome: .failed(.badData("a frame of another size"))))
    }
    let request = PictureRequest(format: .nv12VideoRange, width: width, height: height)
    guard let buffer = configuration.allocator?.makePixelBuffer(request) else {
      return output(DecodedFrame(token: packet.token, outcome: .failed(.outOfMemory)))
    }
    CVPixelBufferLockBaseAddress(buffer, [])
    var rest = packet.data[...]
    for plane in 0..<2 {
      guard let base = CVPixelBufferGetBaseAddressOfPlane(buffer, plane) else { continue }
      for row in 0..<CVPixelBufferGetHeightOfPlane(buffer, plane) {
        let target = UnsafeMutableRawBufferPointer(
          start: base + row * CVPixelBufferGetBytesPerRowOfPlane(buffer, plane), count: width)
        target.copyBytes(from: rest.prefix(width))
        rest = rest.dropFirst(width)
      }
    }
    CVPixelBufferUnlockBaseAddress(buffer, [])
    output(DecodedFrame(token: packet.token, outcome: .picture(DecodedPicture(pixelBuffer: buffer))))
  }

  func flush(output: (DecodedFrame) -> Void) -> Bool { true }
}

func check(_ isTrue: Bool, _ what: String) {
  guard !isTrue else { return }
  print("OwnCodec: \(what)")
  exit(1)
}

func fill(_ buffer: CVPixelBuffer, _ value: Int) {
  CVPixelBufferLockBaseAddress(buffer, [])
  for plane in 0..<2 {
    guard let base = CVPixelBufferGetBaseAddressOfPlane(buffer, plane) else { continue }
    let count =
      CVPixelBufferGetBytesPerRowOfPlane(buffer, plane) * CVPixelBufferGetHeightOfPlane(buffer, plane)
    memset(base, Int32(value), count)
  }
  CVPixelBufferUnlockBaseAddress(buffer, [])
}

func firstSample(_ buffer: CVPixelBuffer) -> UInt8? {
  CVPixelBufferLockBaseAddress(buffer, .readOnly)
  defer { CVPixelBufferUnlockBaseAddress(buffer, .readOnly) }
  return CVPixelBufferGetBaseAddressOfPlane(buffer, 0)?.load(as: UInt8.self)
}

@main struct OwnCodec {
  static func main() {
    registerRawEncoder()
    CodecRegistry.shared.register(
      EncoderDescription(
        id: "org.example.queued", codec: raw, codecName: "Raw", encoderName: "Queued", displayName: "Queued",
        inputFormats: [.nv12VideoRange],
        makeEncoder: { (configuration) throws(CodecError) in QueuedEncoder(configuration) }))
    CodecRegistry.shared.register(
      DecoderDescription(
        id: "org.example.raw", name: "Raw", supports: { $0 == raw },
        makeDecoder: { (configuration) throws(CodecError) in RawDecoder(configuration) }))

    var list: CFArray?
    VTCopyVideoEncoderList(nil, &list)
    let ids = (list as? [[CFString: Any]])?.compactMap { $0[kVTVideoEncoderList_EncoderID] as? String }
    check(ids?.contains("org.example.raw") == true, "the encoder is not in the list")

    check(ids?.contains("org.example.queued") == true, "the other encoder is not in the list")
    encode("org.example.raw")
    encode("org.example.queued")
    print("three frames, twice")
  }

  static func encode(_ id: String) {
    var session: VTCompressionSession?
    let status = VTCompressionSessionCreate(
      allocator: nil, width: 64, height: 48, codecType: raw.rawValue,
      encoderSpecification: [kVTVideoEncoderSpecification_EncoderID: id] as CFDictionary,
      imageBufferAttributes: nil, compressedDataAllocator: nil, outputCallback: nil, refcon: nil,
      compressionSessionOut: &session)
    guard status == noErr, let session else { return check(false, "no session: \(status)") }
    let done = DispatchSemaphore(value: 0)
    for n in 0..<3 {
      var source: CVPixelBuffer?
      CVPixelBufferCreate(
        nil, 64, 48, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, nil, &source)
      guard let source else { return check(false, "no buffer") }
      fill(source, 40 + n)
      VTCompressionSessionEncodeFrame(
        session, imageBuffer: source, presentationTimeStamp: CMTime(value: CMTimeValue(n), timescale: 30),
        duration: .invalid, frameProperties: nil, infoFlagsOut: nil
      ) { status, _, sample in
        guard status == noErr, let sample, let format = CMSampleBufferGetFormatDescription(sample) else {
          return check(false, "frame \(n): \(status)")
        }
        check(CMSampleBufferGetTotalSampleSize(sample) == 64 * 48 * 3 / 2, "the size of frame \(n)")
        var decoder: VTDecompressionSession?
        VTDecompressionSessionCreate(
          allocator: nil, formatDescription: format, decoderSpecification: nil, imageBufferAttributes: nil,
          outputCallback: nil, decompressionSessionOut: &decoder)
        guard let decoder else { return check(false, "no decoder") }
        VTDecompressionSessionDecodeFrame(decoder, sampleBuffer: sample, flags: [], infoFlagsOut: nil) {
          status, _, image, _, _ in
          check(status == noErr, "decoding frame \(n): \(status)")
          check(image.flatMap(firstSample) == UInt8(40 + n), "what frame \(n) shows")
          done.signal()
        }
      }
    }
    // The frames of a device come without this; of other encoders some may be held until then.
    if id == "org.example.raw" {
      VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid)
    }
    for _ in 0..<3 { done.wait() }
    VTCompressionSessionInvalidate(session)
  }
}
