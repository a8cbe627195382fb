// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import Synchronization

/// A codec of the tests' own: each frame is its NV12 planes without padding, every byte turned
/// round.
enum ToyCodec {
  static let type = CodecType(rawValue: 0x746F_7931)  // "toy1"
  static let encoderID = "org.example.toy.encoder"
  static let decoderID = "org.example.toy.decoder"
  static let record: [UInt8] = [7, 6, 5]

  /// Pictures that came on a surface, and in memory.
  static let taken = Mutex((surfaces: 0, planes: 0))

  static func encoder(id: String = encoderID, codec: CodecType = type) -> EncoderDescription {
    var description = EncoderDescription(
      id: id, codec: codec, codecName: "Toy", encoderName: "Toy", displayName: "Toy",
      inputFormats: [.nv12VideoRange],
      makeEncoder: { (configuration) throws(CodecError) in
        SynchronousEncoder(try ToyEncoder(configuration))
      })
    description.features = [.qpLimits]
    description.takesSurface = { $0 is ToySurface }
    return description
  }

  static let decoder = decoder(id: decoderID, codec: type)

  static func decoder(id: String, codec: CodecType) -> DecoderDescription {
    DecoderDescription(
      id: id, name: "Toy", supports: { $0 == codec },
      makeDecoder: { (configuration) throws(CodecError) in try ToyDecoder(configuration) })
  }
}

/// Memory that a pixel buffer reaches only while it is locked.
final class ToySurface: OVTPixelBufferSurface, @unchecked Sendable {
  let bytes: UnsafeMutableRawBufferPointer
  let width: Int
  let height: Int
  private let canMap: Bool
  let maps = Mutex((begun: 0, ended: 0))

  init(width: Int, height: Int, canMap: Bool = true) {
    self.width = width
    self.height = height
    self.canMap = canMap
    bytes = .allocate(byteCount: width * height * 3 / 2, alignment: 16)
    for i in bytes.indices { bytes[i] = UInt8(truncatingIfNeeded: i &* 31 &+ i / width) }
  }

  deinit { bytes.deallocate() }

  func map(isReadOnly: Bool) -> [OVTMappedPlane]? {
    guard canMap, let base = bytes.baseAddress else { return nil }
    maps.withLock { $0.begun += 1 }
    return [
      OVTMappedPlane(baseAddress: base, bytesPerRow: width),
      OVTMappedPlane(baseAddress: base + width * height, bytesPerRow: width),
    ]
  }

  func unmap() { maps.withLock { $0.ended += 1 } }

  func makeBuffer() -> CVPixelBuffer? {
    var buffer: CVPixelBuffer?
    OVTPixelBufferCreateWithSurface(
      nil, self, width, height, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, nil, &buffer)
    return buffer
  }
}

private final class ToyEncoder: SynchronousVideoEncoder {
  private let configuration: VideoEncoderConfiguration
  private var hasBegun = false
  let reorderingDepth = 0

  init(_ configuration: VideoEncoderConfiguration) throws(CodecError) {
    guard configuration.width % 2 == 0, configuration.height % 2 == 0 else {
      throw .invalidConfiguration("odd sizes")
    }
    self.configuration = configuration
  }

  func encode(
    _ picture: InputPicture, request: FrameRequest, output: (consuming CompressedFrame) -> Void
  ) throws(CodecError) {
    var data = CompressedData(capacity: 64)
    switch picture.content {
    case .planes(let planes):
      ToyCodec.taken.withLock { $0.planes += 1 }
      guard let chroma = planes.second else { throw .invalidConfiguration("a plane is missing") }
      for (plane, rowBytes) in [(planes.first, picture.width), (chroma, picture.width)] {
        for row in 0..<plane.height {
          let bytes = UnsafeRawBufferPointer(
            start: plane.baseAddress + row * plane.bytesPerRow, count: rowBytes)
          bytes.map { ~$0 }.withUnsafeBytes { data.append($0) }
        }
      }
    case .surface(let surface):
      guard let toy = surface as? ToySurface else { throw .unsupported("another surface") }
      ToyCodec.taken.withLock { $0.surfaces += 1 }
      toy.bytes.map { ~$0 }.withUnsafeBytes { data.append($0) }
    }
    // A quantiser of 51 simulates a fault in the encoder.
    if configuration.rate.maxQP == 51 { throw .badData("the toy is broken") }
    var frame = CompressedFrame(presentationTime: picture.presentationTime, data: data)
    frame.properties.isKeyFrame = true
    frame.properties.isIntra = true
    if !hasBegun { frame.header = .configurationRecord(atom: "toyC", ToyCodec.record) }
    hasBegun = true
    output(frame)
    // One of 50 for a fault after the frame is out.
    if configuration.rate.maxQP == 50 { throw .malfunction("the toy broke") }
  }

  func flush(output: (consuming CompressedFrame) -> Void) throws(CodecError) {}

  func reconfigure(_ new: VideoEncoderConfiguration) throws(CodecError) -> Reconfiguration {
    new == configuration ? .applied : .needsNewStream
  }
}

private final class ToyDecoder: VideoDecoder {
  private let configuration: VideoDecoderConfiguration
  var selection = FrameSelection.all

  init(_ configuration: VideoDecoderConfiguration) throws(CodecError) {
    guard configuration.configurationRecord == ToyCodec.record else { throw .badData("no record") }
    self.configuration = configuration
  }

  func decode(_ packet: CompressedPacket, output: (DecodedFrame) -> Void) {
    let (width, height) = (configuration.width, configuration.height)
    let request = PictureRequest(format: .nv12VideoRange, width: width, height: height)
    guard packet.data.count == width * height * 3 / 2 else {
      return output(DecodedFrame(token: packet.token, outcome: .failed(.malfunction("the toy is broken"))))
    }
    guard let buffer = configuration.allocator?.makePixelBuffer(request) else {
      return output(DecodedFrame(token: packet.token, outcome: .failed(.outOfMemory)))
    }
    CVPixelBufferLockBaseAddress(buffer, [])
    var at = 0
    for plane in 0..<2 {
      guard let base = CVPixelBufferGetBaseAddressOfPlane(buffer, plane) else { continue }
      for row in 0..<CVPixelBufferGetHeightOfPlane(buffer, plane) {
        let out = base + row * CVPixelBufferGetBytesPerRowOfPlane(buffer, plane)
        for x in 0..<width { out.storeBytes(of: ~packet.data[at + x], toByteOffset: x, as: UInt8.self) }
        at += width
      }
    }
    CVPixelBufferUnlockBaseAddress(buffer, [])
    output(DecodedFrame(token: packet.token, outcome: .picture(DecodedPicture(pixelBuffer: buffer))))
  }

  func flush(output: (DecodedFrame) -> Void) -> Bool { true }
}
