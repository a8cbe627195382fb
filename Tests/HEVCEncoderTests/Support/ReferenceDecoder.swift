// SPDX-License-Identifier: Apache-2.0
import HEVCReferenceDecoders

/// A frame as three planes without padding.
struct PlanarFrame: Equatable {
  var width: Int
  var height: Int
  var y: [UInt8]
  var u: [UInt8]
  var v: [UInt8]

  /// Copies planes.
  init(
    width: Int, height: Int, luma: UnsafePointer<UInt8>, cb: UnsafePointer<UInt8>,
    cr: UnsafePointer<UInt8>, lumaStride: Int, chromaStride: Int
  ) {
    self.width = width
    self.height = height
    func plane(_ data: UnsafePointer<UInt8>, _ stride: Int, _ width: Int, _ height: Int) -> [UInt8] {
      var result: [UInt8] = []
      result.reserveCapacity(width * height)
      for row in 0..<height {
        result.append(contentsOf: UnsafeBufferPointer(start: data + row * stride, count: width))
      }
      return result
    }
    y = plane(luma, lumaStride, width, height)
    u = plane(cb, chromaStride, width / 2, height / 2)
    v = plane(cr, chromaStride, width / 2, height / 2)
  }
}

struct DecodingError: Error, CustomStringConvertible {
  var description: String
}

/// libavcodec's decoder, frame by frame.
final class ReferenceDecoder {
  private let decoder: OpaquePointer

  /// Nil if libavcodec has no decoder.
  /// - Parameter threads: the number of threads; two or more begin rows at their entry points.
  init?(threads: Int = 1) {
    guard let decoder = ovt_hevc_reference_decoder_create_with_threads(Int32(threads)) else { return nil }
    self.decoder = decoder
  }

  deinit { ovt_hevc_reference_decoder_destroy(decoder) }

  /// Decodes an access unit in Annex B form; nil if it gives no frame.
  func decode(_ unit: [UInt8]) throws -> PlanarFrame? {
    var picture = OVTHEVCDecodedPicture()
    return try frame(ovt_hevc_reference_decoder_decode(decoder, unit, unit.count, &picture), picture)
  }

  /// A frame that the decoder held back.
  func drain() throws -> PlanarFrame? {
    var picture = OVTHEVCDecodedPicture()
    return try frame(ovt_hevc_reference_decoder_drain(decoder, &picture), picture)
  }

  private func frame(_ result: Int32, _ picture: OVTHEVCDecodedPicture) throws -> PlanarFrame? {
    guard result >= 0 else {
      throw DecodingError(
        description: String(cString: ovt_hevc_reference_decoder_message(decoder)))
    }
    guard result == 1, let y = picture.planes.0, let u = picture.planes.1, let v = picture.planes.2
    else { return nil }
    return PlanarFrame(
      width: Int(picture.width), height: Int(picture.height), luma: y, cb: u, cr: v,
      lumaStride: Int(picture.strides.0), chromaStride: Int(picture.strides.1))
  }
}
