// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CodecInterface
import CoreMedia
import Foundation

/// The properties of a codec in a demuxer's format description beyond the media subtype, for codecs
/// that have no subtype of their own or need more: raw pictures, codecs of AVI files, and others.
package struct StoredCodec: Sendable {
  /// The codec's identifier; nil if the media subtype identifies it.
  var identifier: AVCodecID?
  /// Configuration data of the codec that no sample description atom holds.
  package var extradata: [UInt8] = []
  /// The container's four-character code, in its own byte order; 0 if there is none.
  var tag: UInt32 = 0
  var bitsPerCodedSample: Int32 = 0
  /// The reorder depth that the container's times show, in frames, if it is larger than the one
  /// that the stream signals; 0 otherwise.
  var reorderDepth: Int32 = 0
  /// The pixel format of raw pictures.
  var pixelFormat = AV_PIX_FMT_NONE

  /// Reads what a demuxer has stored in a format description's extensions.
  package init(_ description: CMFormatDescription) {
    func value(_ key: CFString) -> Any? { CMFormatDescriptionGetExtension(description, extensionKey: key) }
    identifier = CodecNames.named(description)
    if let data = value(CodecNames.extradataKey) as? Data { extradata = [UInt8](data) }
    tag = (value(CodecNames.tagKey) as? NSNumber)?.uint32Value ?? 0
    bitsPerCodedSample = (value(CodecNames.bitsPerCodedSampleKey) as? NSNumber)?.int32Value ?? 0
    reorderDepth = (value(CodecNames.reorderDepthKey) as? NSNumber)?.int32Value ?? 0
    if let name = value(CodecNames.pixelFormatKey) as? String { pixelFormat = av_get_pix_fmt(name) }
  }

  /// The extensions of a format description that `init(_:)` reads.
  static func extensions(_ parameters: AVCodecParameters) -> [(CFString, Any)] {
    var result: [(CFString, Any)] = []
    if parameters.codec_tag != 0 {
      result.append((CodecNames.tagKey, NSNumber(value: parameters.codec_tag)))
    }
    if parameters.bits_per_coded_sample != 0 {
      result.append((CodecNames.bitsPerCodedSampleKey, NSNumber(value: parameters.bits_per_coded_sample)))
    }
    if parameters.codec_id == AV_CODEC_ID_RAWVIDEO,
      let name = av_get_pix_fmt_name(AVPixelFormat(parameters.format))
    {
      result.append((CodecNames.pixelFormatKey, String(cString: name) as NSString))
    }
    return result
  }
}
