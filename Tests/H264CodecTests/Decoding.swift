// SPDX-License-Identifier: Apache-2.0
import H264ReferenceDecoders

/// A decoded or reconstructed frame: luma, Cb, Cr without padding.
struct Planes: Equatable {
  var luma: [UInt8] = []
  var cb: [UInt8] = []
  var cr: [UInt8] = []
}

struct DecoderFailure: Error {
  var text: String
}

/// An independent decoder, frame by frame.
final class IndependentDecoder {
  enum Kind: CaseIterable {
    case libavcodec, openH264
  }

  private let decoder: OpaquePointer
  let kind: Kind

  /// Nil if the library is not there.
  init?(_ kind: Kind) {
    let number = kind == .libavcodec ? OVT_DECODER_LIBAVCODEC : OVT_DECODER_OPENH264
    guard let decoder = ovt_reference_decoder_create(Int32(number)) else { return nil }
    self.decoder = decoder
    self.kind = kind
  }

  deinit { ovt_reference_decoder_destroy(decoder) }

  /// Decodes an access unit in Annex B form. Gives the frames that are ready: libavcodec's at once,
  /// while OpenH264 may hold some.
  func decode(_ unit: [UInt8]) throws -> [Planes] {
    var picture = OVTDecodedPicture()
    return try frame(ovt_reference_decoder_decode(decoder, unit, unit.count, &picture), picture)
  }

  /// The frames that the decoder still holds.
  func drain() throws -> [Planes] {
    var result: [Planes] = []
    while true {
      var picture = OVTDecodedPicture()
      let next = try frame(ovt_reference_decoder_drain(decoder, &picture), picture)
      if next.isEmpty { return result }
      result += next
    }
  }

  private func frame(_ result: Int32, _ picture: OVTDecodedPicture) throws -> [Planes] {
    guard result >= 0 else {
      throw DecoderFailure(text: "\(kind): \(String(cString: ovt_reference_decoder_message(decoder)))")
    }
    guard result == 1 else { return [] }
    let (width, height) = (Int(picture.width), Int(picture.height))
    func plane(_ data: UnsafePointer<UInt8>?, _ stride: Int32, _ width: Int, _ height: Int) -> [UInt8] {
      guard let data else { return [] }
      return (0..<height).flatMap { row in
        UnsafeBufferPointer(start: data + row * Int(stride), count: width)
      }
    }
    return [
      Planes(
        luma: plane(picture.planes.0, picture.strides.0, width, height),
        cb: plane(picture.planes.1, picture.strides.1, width / 2, height / 2),
        cr: plane(picture.planes.2, picture.strides.2, width / 2, height / 2))
    ]
  }
}
