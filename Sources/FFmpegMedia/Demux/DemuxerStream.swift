// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import CFFmpeg
import Foundation
import VideoBitstream

/// The codec parameters of a stream, shared by all users; immutable after creation.
package final class CodecParameters: @unchecked Sendable {
  // Sendable: written only before it is shared.
  package let pointer: UnsafeMutablePointer<AVCodecParameters>

  init?(copying source: UnsafePointer<AVCodecParameters>) {
    guard let copy = avcodec_parameters_alloc() else { return nil }
    pointer = copy
    guard avcodec_parameters_copy(copy, source) >= 0 else { return nil }
  }

  /// Parameters of a media type without a codec.
  init?(_ type: AVMediaType) {
    guard let made = avcodec_parameters_alloc() else { return nil }
    pointer = made
    pointer.pointee.codec_type = type
  }

  deinit {
    var parameters: UnsafeMutablePointer<AVCodecParameters>? = pointer
    avcodec_parameters_free(&parameters)
  }

  /// The codec's configuration: an `avcC` or `hvcC` record, an AudioSpecificConfig, or whatever the
  /// container stores; empty if it stores none.
  package var extradata: Data {
    guard let bytes = pointer.pointee.extradata, pointer.pointee.extradata_size > 0 else { return Data() }
    return Data(bytes: bytes, count: Int(pointer.pointee.extradata_size))
  }
  package var codecID: AVCodecID { pointer.pointee.codec_id }
  /// The codec's short name in libavcodec ("h264", "aac").
  package var codecName: String { String(cString: avcodec_get_name(pointer.pointee.codec_id)) }
}

/// The properties of one stream of a file.
package struct MediaStream: Sendable {
  package enum Kind: Sendable { case video, audio, subtitle, data }

  /// The stream's index in the file, from 0.
  package let index: Int
  /// The container's number for the track (the track ID in a movie), from 1.
  package let trackID: Int32
  package let kind: Kind
  package let codec: CodecParameters
  /// Length of a time unit in seconds, exactly.
  package let timeBase: AVRational
  /// Presentation time of the first sample, and the stream's length, in units of the time base.
  package fileprivate(set) var startTime: Int64
  package fileprivate(set) var duration: Int64
  /// Where the track ends according to a movie's edit list, in units of the time base; nil if there
  /// is none, or if the movie has fragments.
  package fileprivate(set) var editedEnd: Int64?
  /// Number of samples, when it is known without reading the file through.
  package let sampleCount: Int?
  /// Sum of all samples' sizes, when it is known without reading the file through.
  package let sampleBytes: Int64?
  /// The shortest distance between the decode times of two samples, in units of the time base; nil
  /// if it is not known without reading the file.
  package let shortestSample: Int64?
  /// Duration of a video track's last sample according to the sample table, in units of the time
  /// base; nil where it is not known, and for other media.
  package let lastSample: Int64?
  /// Frames per second of the whole stream; 0 if it is not known.
  package fileprivate(set) var averageFrameRate: AVRational
  /// Width to height of a pixel; a numerator of 0 means unknown.
  package var sampleAspectRatio: AVRational
  /// The largest number of frames that precede a frame in decoding order and follow it in output
  /// order.
  package fileprivate(set) var reorderDepth: Int
  /// The 3 by 3 matrix of the track header in libav's layout (16.16 and 2.30 fixed point), if it is
  /// not identity.
  package let displayMatrix: [Int32]?
  /// Static HDR metadata of the container, laid out as the SEI messages mastering display colour
  /// volume and content light level information (ITU-T H.265, annex D).
  package var masteringDisplay: Data?
  package var contentLightLevel: Data?
  /// The part of the picture to be displayed, according to the container; nil: the whole picture.
  package var cleanAperture: CleanAperture?
  /// Stereo views, projection and field of view of a movie's sample description; nil if it has
  /// none.
  package var spatial: SpatialVideo?
  /// The parameter sets of the further layers of an HEVC stream (`lhvC`), as a movie stores them;
  /// nil if it has none.
  package var layerConfiguration: Data?
  /// Whether samples are encrypted or scrambled.
  package var isProtected = false
  package let isDefault: Bool
  /// The stream's metadata as libavformat names it, by key.
  package let metadata: [String: String]
  /// Parameter sets of an Annex B stream, as NAL units without start codes; empty where
  /// `codec.extradata` is an `avcC` or `hvcC` record.
  package let parameterSets: [Data]
  /// The sample description of a movie's timed metadata (`mebx`), which libavformat does not
  /// expose.
  package var metadataDescription: Data?
  /// Whether samples are stored with start codes (Annex B). They are converted to length-prefixed
  /// NAL units when read.
  package let isAnnexB: Bool

  /// Whether the table of all samples was read when the file was opened.
  package var isTableComplete: Bool { sampleBytes != nil }
  package var bitRate: Int64 { codec.pointer.pointee.bit_rate }
  package var language: String? { metadata["language"] }
}

extension MediaStream.Kind {
  init(_ type: AVMediaType) {
    switch type {
    case AVMEDIA_TYPE_VIDEO: self = .video
    case AVMEDIA_TYPE_AUDIO: self = .audio
    case AVMEDIA_TYPE_SUBTITLE: self = .subtitle
    default: self = .data
    }
  }
}

extension MediaStream {
  /// The stream with `startTime` and `editedEnd` on the corrected time line of `corrections`.
  func shifted(_ corrections: TimeCorrections) -> MediaStream {
    guard corrections.origin != nil || corrections.ordered[index] != nil else {
      return beginning(corrections)
    }
    // The end stays where it is in the file, also where libavformat takes another picture for the
    // first one.
    var stream = beginning(corrections)
    let shift = corrections.shift(timeBase)
    stream.startTime = (corrections.starts[index] ?? startTime).subtractingClamped(shift)
    stream.editedEnd = editedEnd?.subtractingClamped(shift)
    return stream
  }

  /// The stream with the earliest presentation time as its start: libavformat takes the time of the
  /// packet that is stored first.
  private func beginning(_ corrections: TimeCorrections) -> MediaStream {
    guard kind == .video, let start = corrections.starts[index], start < startTime else { return self }
    var stream = self
    // The end stays the same, so that the duration grows.
    stream.duration = duration.addingClamped(startTime.subtractingClamped(start))
    stream.startTime = start
    return stream
  }

  /// The stream with a larger reorder depth if the times of its first packets show one.
  func reordered(atLeast depth: Int) -> MediaStream {
    guard kind == .video, depth > reorderDepth else { return self }
    var stream = self
    stream.reorderDepth = depth
    return stream
  }

  /// The stream with the end that a movie's edit list defines.
  func edited(_ edits: MovieEdits?) -> MediaStream {
    guard let edits, timeBase.num == 1, Int64(timeBase.den) == edits.scale else { return self }
    var stream = self
    // libavformat counts an empty edit at the beginning as part of the track's duration.
    let length = edits.end.subtractingClamped(edits.start)
    if edits.start > 0 { stream.duration = min(duration, length) }
    // It sums the differences of decode times up, which is less than the presentation lasts if the
    // last pictures are reordered and far apart. Edits are rounded to the movie's time scale.
    if kind == .video, length.subtractingClamped(duration) > edits.scale / 50 {
      stream.duration = length
      if let sampleCount {
        var rate = AVRational()
        av_reduce(
          &rate.num, &rate.den, Int64(sampleCount).multipliedClamped(by: edits.scale), length,
          Int64(Int32.max))
        stream.averageFrameRate = rate
      }
    }
    // The length of an edit is rounded to the movie's time scale: the media may end earlier, within
    // the last packet.
    let own = max(0, startTime).addingClamped(stream.duration)
    let rest = edits.end.subtractingClamped(own)
    stream.editedEnd = rest > 0 && rest < packetLength ? own : edits.end
    return stream
  }

  /// Duration of an audio packet, in units of the time base; 0 where it is not known.
  private var packetLength: Int64 {
    let parameters = codec.pointer.pointee
    guard kind == .audio, duration > 0, parameters.frame_size > 0, parameters.sample_rate > 0 else {
      return 0
    }
    return av_rescale(Int64(parameters.frame_size), Int64(timeBase.den), Int64(parameters.sample_rate))
  }

  /// Makes a stream without samples, as a new track of a composition; nil if memory runs out.
  /// - Parameters:
  ///   - kind: Video, or else audio.
  ///   - trackID: The number of the track.
  package init?(emptyOf kind: Kind, trackID: Int32) {
    let type =
      switch kind {
      case .video: AVMEDIA_TYPE_VIDEO
      case .audio: AVMEDIA_TYPE_AUDIO
      case .subtitle: AVMEDIA_TYPE_SUBTITLE
      case .data: AVMEDIA_TYPE_DATA
      }
    guard let codec = CodecParameters(type) else { return nil }
    self.codec = codec
    self.kind = kind
    self.trackID = trackID
    index = 0
    timeBase = AVRational(num: 1, den: 600)
    startTime = 0
    duration = 0
    sampleCount = 0
    sampleBytes = 0
    shortestSample = nil
    lastSample = nil
    averageFrameRate = AVRational(num: 0, den: 1)
    sampleAspectRatio = AVRational(num: 0, den: 1)
    reorderDepth = 0
    displayMatrix = nil
    isDefault = true
    metadata = [:]
    parameterSets = []
    isAnnexB = false
  }

  /// Collects the properties of a stream after `avformat_find_stream_info`; nil if it has no codec
  /// parameters.
  /// - Parameters:
  ///   - pointer: libavformat's stream.
  ///   - containerEnd: The end of the file in microseconds, if it is known. Matroska has no
  ///     durations of tracks.
  init?(_ pointer: UnsafeMutablePointer<AVStream>, containerEnd: Int64?) {
    let stream = pointer.pointee
    guard let parameters = stream.codecpar, let codec = CodecParameters(copying: parameters) else {
      return nil
    }
    index = Int(stream.index)
    // Attached pictures (cover art) are not a video track.
    kind = stream.disposition & AV_DISPOSITION_ATTACHED_PIC != 0 ? .data : Kind(parameters.pointee.codec_type)
    self.codec = codec
    timeBase =
      stream.time_base.num > 0 && stream.time_base.den > 0
      ? stream.time_base : AVRational(num: 1, den: 90_000)
    let unknown = ovt_av_nopts_value()
    startTime = stream.start_time == unknown ? 0 : stream.start_time
    if stream.duration != unknown {
      duration = max(0, stream.duration)
    } else if let containerEnd {
      duration = max(
        0,
        av_rescale_q(containerEnd, AVRational(num: 1, den: 1_000_000), timeBase)
          .subtractingClamped(max(0, startTime)))
    } else {
      duration = 0
    }
    averageFrameRate = stream.avg_frame_rate.den > 0 ? stream.avg_frame_rate : stream.r_frame_rate
    sampleAspectRatio =
      stream.sample_aspect_ratio.num > 0 ? stream.sample_aspect_ratio : parameters.pointee.sample_aspect_ratio
    reorderDepth = Int(max(0, parameters.pointee.video_delay))
    // Matroska's demuxer exposes the key's identifier, and the one for movies the type of the
    // sample entry.
    isProtected =
      av_dict_get(stream.metadata, "enc_key_id", nil, 0) != nil
      || ["encv", "enca", "drmi", "drms"].contains(codec.codecTag)
    isDefault = stream.disposition & AV_DISPOSITION_DEFAULT != 0
    metadata = dictionaryEntries(stream.metadata)

    displayMatrix = Self.displayMatrix(of: pointer)
    masteringDisplay = HDRSideData.masteringDisplay(of: pointer)
    contentLightLevel = HDRSideData.contentLightLevel(of: pointer)

    let extradata = codec.extradata
    let isNAL = codec.codecID == AV_CODEC_ID_H264 || codec.codecID == AV_CODEC_ID_HEVC
    isAnnexB =
      isNAL && !(extradata.count >= 7 && (extradata[0] == 1 || (extradata[0] == 0 && extradata[2] > 1)))
    parameterSets =
      isAnnexB
      ? (codec.codecID == AV_CODEC_ID_HEVC ? NALCodec.hevc : .h264).parameterSets(in: extradata) : []

    let table = SampleTable(pointer)
    sampleCount = table?.count ?? (stream.nb_frames > 0 ? Int(stream.nb_frames) : nil)
    sampleBytes = table?.bytes
    shortestSample = table?.shortest
    // If an edit list removes samples at the beginning or the end, the rest of the table does not
    // give the last duration.
    if kind == .video, let table, table.rises, table.count == stream.nb_frames, let first = table.first,
      let last = table.last
    {
      lastSample = SampleTable.lastSample(stream, length: duration, from: first, to: last)
    } else {
      lastSample = nil
    }
    trackID = stream.id > 0 ? stream.id : stream.index + 1
  }
}

extension MediaStream {
  /// The matrix with which a movie turns or mirrors its pictures; nil if it changes nothing.
  private static func displayMatrix(of pointer: UnsafeMutablePointer<AVStream>) -> [Int32]? {
    var size = 0
    guard let side = av_stream_get_side_data(pointer, AV_PKT_DATA_DISPLAYMATRIX, &size), size >= 36 else {
      return nil
    }
    let matrix = (0..<9).map {
      UnsafeRawPointer(side).loadUnaligned(fromByteOffset: 4 * $0, as: Int32.self)
    }
    return matrix == [65536, 0, 0, 0, 65536, 0, 0, 0, 1 << 30] ? nil : matrix
  }
}

func dictionaryEntries(_ dictionary: OpaquePointer?) -> [String: String] {
  var entries: [String: String] = [:]
  var entry: UnsafeMutablePointer<AVDictionaryEntry>?
  while let next = av_dict_get(dictionary, "", entry, AV_DICT_IGNORE_SUFFIX) {
    entry = next
    if let key = next.pointee.key, let value = next.pointee.value {
      entries[String(cString: key)] = String(cString: value)
    }
  }
  return entries
}

extension CodecParameters {
  /// libavutil's name of the pictures' pixel format; nil if it is not known.
  package var pixelFormatName: String? {
    av_get_pix_fmt_name(AVPixelFormat(pointer.pointee.format)).map { String(cString: $0) }
  }

  /// Whether the loaded libavcodec has a decoder for the codec.
  package var hasDecoder: Bool { avcodec_find_decoder(codecID) != nil }

  /// The container's four-character code for the codec.
  package var codecTag: String {
    let tag = pointer.pointee.codec_tag
    return String(decoding: (0..<4).map { UInt8(truncatingIfNeeded: tag >> (8 * $0)) }, as: UTF8.self)
  }

  /// Whether the transfer function is PQ or HLG.
  package var isHDR: Bool {
    [AVCOL_TRC_SMPTE2084, AVCOL_TRC_ARIB_STD_B67].contains(pointer.pointee.color_trc)
  }

  /// Whether the primaries are those of BT.2020, DCI-P3 or Display P3.
  package var isWideGamut: Bool {
    [AVCOL_PRI_BT2020, AVCOL_PRI_SMPTE431, AVCOL_PRI_SMPTE432].contains(pointer.pointee.color_primaries)
  }

  /// Whether the pixel format has an alpha channel.
  package var hasAlpha: Bool {
    guard let descriptor = av_pix_fmt_desc_get(AVPixelFormat(pointer.pointee.format)) else { return false }
    return descriptor.pointee.flags & UInt64(AV_PIX_FMT_FLAG_ALPHA) != 0
  }
}

extension MediaStream {
  /// Whether a packet of AAC has no ADTS header (ISO/IEC 13818-7), or one whose frame length is not
  /// the packet's size.
  func isBrokenADTS(_ packet: MediaPacket) -> Bool {
    guard codec.codecID == AV_CODEC_ID_AAC else { return false }
    let bytes = packet.bytes
    guard bytes.count >= 7, bytes[0] == 0xFF, bytes[1] & 0xF6 == 0xF0 else { return true }
    return Int(bytes[3] & 3) << 11 | Int(bytes[4]) << 3 | Int(bytes[5]) >> 5 != bytes.count
  }
}
