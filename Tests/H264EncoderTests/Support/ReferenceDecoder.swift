// SPDX-License-Identifier: Apache-2.0
import H264ReferenceDecoders

/// A frame as three planes without padding.
struct PlanarFrame: Equatable {
  var width: Int
  var height: Int
  var y: [UInt8]
  var u: [UInt8]
  var v: [UInt8]
  /// Whether there are as many samples of chroma as of luma (4:4:4); otherwise 4:2:0.
  var hasFullChroma = false

  var chromaWidth: Int { hasFullChroma ? width : width / 2 }
  var chromaHeight: Int { hasFullChroma ? height : height / 2 }
}

struct DecodingError: Error, CustomStringConvertible {
  var description: String
}

/// An independent decoder, frame by frame.
final class ReferenceDecoder {
  enum Kind: CaseIterable {
    case libavcodec, openH264
  }

  private let decoder: OpaquePointer
  let kind: Kind

  /// Nil if the library is not installed.
  init?(_ kind: Kind) {
    self.kind = kind
    guard
      let decoder = ovt_reference_decoder_create(
        Int32(kind == .libavcodec ? OVT_DECODER_LIBAVCODEC : OVT_DECODER_OPENH264))
    else { return nil }
    self.decoder = decoder
  }

  deinit { ovt_reference_decoder_destroy(decoder) }

  /// Decodes an access unit in Annex B form; nil if it gives no frame.
  func decode(_ unit: [UInt8]) throws -> PlanarFrame? {
    var picture = OVTDecodedPicture()
    let result = ovt_reference_decoder_decode(decoder, unit, unit.count, &picture)
    return try frame(result, picture)
  }

  /// A frame that the decoder held back.
  func drain() throws -> PlanarFrame? {
    var picture = OVTDecodedPicture()
    let result = ovt_reference_decoder_drain(decoder, &picture)
    return try frame(result, picture)
  }

  private func frame(_ result: Int32, _ picture: OVTDecodedPicture) throws -> PlanarFrame? {
    guard result >= 0 else {
      throw DecodingError(description: "\(kind): \(String(cString: ovt_reference_decoder_message(decoder)))")
    }
    guard result == 1 else { return nil }
    let width = Int(picture.width)
    let height = Int(picture.height)
    func plane(_ data: UnsafePointer<UInt8>?, _ stride: Int32, _ width: Int, _ height: Int) -> [UInt8] {
      guard let data else { return [] }
      return [UInt8](unsafeUninitializedCapacity: width * height) { buffer, count in
        for row in 0..<height {
          (buffer.baseAddress! + row * width).initialize(from: data + row * Int(stride), count: width)
        }
        count = width * height
      }
    }
    let full = picture.hasFullChroma != 0
    let (chromaWidth, chromaHeight) = full ? (width, height) : ((width + 1) / 2, (height + 1) / 2)
    return PlanarFrame(
      width: width, height: height, y: plane(picture.planes.0, picture.strides.0, width, height),
      u: plane(picture.planes.1, picture.strides.1, chromaWidth, chromaHeight),
      v: plane(picture.planes.2, picture.strides.2, chromaWidth, chromaHeight), hasFullChroma: full)
  }
}
