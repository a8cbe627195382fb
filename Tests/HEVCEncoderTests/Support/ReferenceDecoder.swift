// SPDX-License-Identifier: Apache-2.0
import HEVCReferenceDecoders

/// A frame as three planes without padding.
struct PlanarFrame: Equatable {
  var width: Int
  var height: Int
  /// The bits of a sample.
  var depth: Int
  var y: [UInt16]
  var u: [UInt16]
  var v: [UInt16]

  /// Copies planes, whose strides count samples.
  init<Sample: UnsignedInteger>(
    width: Int, height: Int, depth: Int, luma: UnsafePointer<Sample>, cb: UnsafePointer<Sample>,
    cr: UnsafePointer<Sample>, lumaStride: Int, chromaStride: Int
  ) {
    self.width = width
    self.height = height
    self.depth = depth
    func plane(_ data: UnsafePointer<Sample>, _ stride: Int, _ width: Int, _ height: Int) -> [UInt16] {
      var result: [UInt16] = []
      result.reserveCapacity(width * height)
      for row in 0..<height {
        result += UnsafeBufferPointer(start: data + row * stride, count: width).map { UInt16($0) }
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
    let (width, height) = (Int(picture.width), Int(picture.height))
    let strides = (Int(picture.strides.0), Int(picture.strides.1))
    guard picture.depth > 8 else {
      return PlanarFrame(
        width: width, height: height, depth: 8, luma: y, cb: u, cr: v, lumaStride: strides.0,
        chromaStride: strides.1)
    }
    func wide(_ plane: UnsafePointer<UInt8>) -> UnsafePointer<UInt16> {
      UnsafeRawPointer(plane).assumingMemoryBound(to: UInt16.self)
    }
    return PlanarFrame(
      width: width, height: height, depth: Int(picture.depth), luma: wide(y), cb: wide(u), cr: wide(v),
      lumaStride: strides.0 / 2, chromaStride: strides.1 / 2)
  }
}
