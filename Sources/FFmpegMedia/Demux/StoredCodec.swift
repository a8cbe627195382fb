// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CodecInterface
import CoreMedia
import Foundation

/// What a demuxer's format description says of a codec beyond its four characters, for codecs that these do not name
/// or do not describe: raw pictures, codecs of AVI files, ...
package struct StoredCodec: Sendable {
  /// nil: the four characters say it.
  var identifier: AVCodecID?
  /// Set-up data that no atom holds.
  package var extradata: [UInt8] = []
  /// The container's four characters, in its own byte order; 0 if there are none.
  var tag: UInt32 = 0
  var bitsPerCodedSample: Int32 = 0
  /// Frames by which the container's times show that pictures are reordered, where the stream says less; 0
  /// elsewhere.
  var reorderDepth: Int32 = 0
  /// Of raw pictures.
  var pixelFormat = AV_PIX_FMT_NONE

  package init(_ description: CMFormatDescription) {
    func value(_ key: CFString) -> Any? { CMFormatDescriptionGetExtension(description, extensionKey: key) }
    identifier = CodecNames.named(description)
    if let data = value(CodecNames.extradataKey) as? Data { extradata = [UInt8](data) }
    tag = (value(CodecNames.tagKey) as? NSNumber)?.uint32Value ?? 0
    bitsPerCodedSample = (value(CodecNames.bitsPerCodedSampleKey) as? NSNumber)?.int32Value ?? 0
    reorderDepth = (value(CodecNames.reorderDepthKey) as? NSNumber)?.int32Value ?? 0
    if let name = value(CodecNames.pixelFormatKey) as? String { pixelFormat = av_get_pix_fmt(name) }
  }

  /// The extensions that `init` reads.
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
