// SPDX-License-Identifier: Apache-2.0
import FuzzDriver
import HEVCEncoder
import HEVCReferenceDecoders

/// The visible part of a picture: three planes without padding, one behind the other.
struct HEVCPicture: Equatable {
  private var width: Int
  private var height: Int
  private var depth: Int
  private var bytes: [UInt8] = []

  /// Copies planes, whose strides are in bytes.
  fileprivate init(
    width: Int, height: Int, depth: Int, planes: [UnsafeRawPointer], strides: [Int]
  ) {
    (self.width, self.height, self.depth) = (width, height, depth)
    let size = depth > 8 ? 2 : 1
    bytes.reserveCapacity(width * height * size * 3 / 2)
    for (n, (plane, stride)) in zip(planes, strides).enumerated() {
      let (width, height) = n == 0 ? (width, height) : (width / 2, height / 2)
      for row in 0..<height {
        bytes += UnsafeRawBufferPointer(start: plane + row * stride, count: width * size)
      }
    }
  }

  /// Copies the visible part of the last picture that an encoder has coded.
  init?(reconstructionOf encoder: HEVCEncoder) {
    let configuration = encoder.configuration
    let width = configuration.visibleWidth ?? configuration.width
    let height = configuration.visibleHeight ?? configuration.height
    let picture =
      encoder.withReconstruction { luma, cb, cr, lumaStride, chromaStride in
        HEVCPicture(
          width: width, height: height, depth: 8, planes: [luma, cb, cr].map { UnsafeRawPointer($0) },
          strides: [lumaStride, chromaStride, chromaStride])
      }
      ?? encoder.withTenBitReconstruction { luma, cb, cr, lumaStride, chromaStride in
        HEVCPicture(
          width: width, height: height, depth: 10, planes: [luma, cb, cr].map { UnsafeRawPointer($0) },
          strides: [2 * lumaStride, 2 * chromaStride, 2 * chromaStride])
      }
    guard let picture else { return nil }
    self = picture
  }

  /// Copies a picture of the decoder.
  fileprivate init?(_ decoded: OVTHEVCDecodedPicture) {
    guard let y = decoded.planes.0, let u = decoded.planes.1, let v = decoded.planes.2 else { return nil }
    self.init(
      width: Int(decoded.width), height: Int(decoded.height), depth: Int(decoded.depth),
      planes: [y, u, v].map { UnsafeRawPointer($0) },
      strides: [Int(decoded.strides.0), Int(decoded.strides.1), Int(decoded.strides.2)])
  }
}

/// libavcodec's decoder. An error in the stream ends the process.
final class HEVCDecoding {
  /// Parameter sets that are decoded with the first frame.
  var parameterSets: [[UInt8]] = []
  private let decoder: OpaquePointer
  private let name: String

  init?(_ configuration: HEVCEncoderConfiguration) {
    guard let decoder = ovt_hevc_reference_decoder_create() else { return nil }
    self.decoder = decoder
    name = "\(configuration.width)x\(configuration.height)"
  }

  deinit { ovt_hevc_reference_decoder_destroy(decoder) }

  /// Decodes the NAL units of a frame.
  /// - Returns: a picture; nil if the decoder holds it back.
  func decode(_ units: [[UInt8]]) -> HEVCPicture? {
    var bytes: [UInt8] = []
    for unit in parameterSets + units { bytes += [0, 0, 0, 1] + unit }
    parameterSets = []
    var picture = OVTHEVCDecodedPicture()
    return result(ovt_hevc_reference_decoder_decode(decoder, bytes, bytes.count, &picture), picture)
  }

  /// A picture that the decoder has held back; nil at the end.
  func drain() -> HEVCPicture? {
    var picture = OVTHEVCDecodedPicture()
    return result(ovt_hevc_reference_decoder_drain(decoder, &picture), picture)
  }

  private func result(_ result: Int32, _ picture: OVTHEVCDecodedPicture) -> HEVCPicture? {
    require(
      result >= 0, "\(name): \(String(cString: ovt_hevc_reference_decoder_message(decoder)))")
    return result == 1 ? HEVCPicture(picture) : nil
  }
}
