// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import CFFmpeg
import Foundation

/// The movie containers that the muxer writes.
package enum MuxerContainer: String, Sendable {
  case mov, mp4, m4v, m4a, mobile3GPP, mobile3GPP2
  /// Of sound alone.
  case wav, caf, aiff

  /// Whether the file consists of the boxes of ISO/IEC 14496-12, as QuickTime's movies do.
  var isMovie: Bool {
    switch self {
    case .wav, .caf, .aiff: false
    default: true
    }
  }

  /// The most bytes of samples that the file's numbers have room for; nil: any.
  package var mostBytes: Int64? { self == .aiff ? Int64(UInt32.max) - (1 << 16) : nil }

  /// libavformat's muxer, and the major brand where it is not the muxer's own.
  var format: (name: String, brand: String?) {
    switch self {
    case .mov: ("mov", nil)
    case .mp4: ("mp4", nil)
    case .m4v: ("mp4", "M4V ")
    case .m4a: ("ipod", "M4A ")
    case .mobile3GPP: ("3gp", nil)
    case .mobile3GPP2: ("3g2", nil)
    case .wav: ("wav", nil)
    case .caf: ("caf", nil)
    case .aiff: ("aiff", nil)
    }
  }
}

/// What the muxer needs to know of a track before its first sample.
package struct MuxerTrack: Sendable {
  package enum Kind: Sendable { case video, audio, text, subtitle, metadata }

  package var kind: Kind
  package var codecID: AVCodecID
  /// The sample description's type, as four characters in big-endian order; 0 lets the container choose.
  package var codecTag: UInt32 = 0
  /// avcC, hvcC, AudioSpecificConfig ...
  package var extradata = Data()
  /// The whole sample description, where libavformat writes none of the kind.
  package var sampleDescription: [UInt8]?
  /// Units per second of all times of this track.
  package var timeScale: Int32
  /// It is what somebody asked for: not to be multiplied, as libavformat does with those of pictures below 10,000.
  package var keepsTimeScale = false
  package var width: Int32 = 0
  package var height: Int32 = 0
  package var sampleAspectRatio = AVRational(num: 0, den: 1)
  package var colorPrimaries = AVCOL_PRI_UNSPECIFIED
  /// The part of the picture that is to be seen; nil for all of it.
  package var cleanAperture: CleanAperture?
  /// Stereo views, projection and field of view; nil where nothing is to be said of them.
  package var spatial: SpatialVideo?
  package var colorTransfer = AVCOL_TRC_UNSPECIFIED
  package var colorMatrix = AVCOL_SPC_UNSPECIFIED
  package var isFullRange: Bool?
  package var bitsPerSample: Int32 = 0
  package var sampleRate: Int32 = 0
  package var channels: Int32 = 0
  /// PCM frames in each packet, and bytes in each PCM frame, where they are constant.
  package var framesPerPacket: Int32 = 0
  package var bytesPerFrame: Int32 = 0
  package var bitRate: Int64 = 0
  /// Static HDR metadata, laid out as in the SEI messages.
  package var masteringDisplay: Data?
  package var contentLightLevel: Data?
  /// The track header's matrix, in the file's layout.
  package var displayMatrix: [Int32]?
  /// ISO 639-2.
  package var language: String?
  /// BCP 47.
  package var languageTag: String?
  package var isEnabled = true
  /// 0.0 to 1.0.
  package var volume: Float = 1
  /// Metadata of the track.
  package var items: [MovieMetadataItem] = []
  /// Tracks of one group stand in for each other. nil: libavformat's.
  package var alternateGroup: UInt16?
  /// What the track header says of the picture's size, 16.16. nil: libavformat's.
  package var naturalSize: (width: Int, height: Int)?
  /// By the kind of reference (`folw`, ...), the numbers of other tracks, from 0.
  package var references: [String: [Int]] = [:]

  var isText: Bool { kind == .text || kind == .subtitle }

  /// Whether there is something for `MuxerCompletion`.
  var needsCompletion: Bool {
    isText || sampleDescription != nil || languageTag != nil || !items.isEmpty || alternateGroup != nil
      || naturalSize != nil || !references.isEmpty || cleanAperture != nil || spatial != nil
  }

  /// The language as five bits for each of its three letters.
  var packedLanguage: UInt16? {
    guard let letters = language.map({ Array($0.utf8) }), letters.count == 3,
      letters.allSatisfy({ (0x61...0x7A).contains($0) })
    else { return nil }
    return letters.reduce(0) { $0 << 5 | UInt16($1 - 0x60) }
  }

  /// Throws where a movie with this track would not be opened again.
  package func checkReadable(in container: MuxerContainer) throws {
    // libavformat looks at none of these descriptions.
    if kind == .metadata { return }
    try MuxerFormatCheck.check(self, container: container)
  }

  package init(kind: Kind, codecID: AVCodecID, timeScale: Int32) {
    self.kind = kind
    // Titles of chapters are no choice among the subtitles.
    if kind == .text || kind == .metadata { alternateGroup = 0 }
    self.codecID = codecID
    self.timeScale = timeScale
  }

  /// Whether libavformat takes the samples to be byte streams (H.264 and H.265, Annex B), since the record is no avcC or hvcC, or the first
  /// sample stands for it, and rewrites them with lengths: of others nothing would be left.
  var holdsByteStreams: Bool {
    switch codecID {
    case AV_CODEC_ID_H264: extradata.first != 1
    case AV_CODEC_ID_HEVC: extradata.isEmpty || extradata.withUnsafeBytes(Self.beginsWithStartCode)
    default: false
    }
  }

  /// Whether bytes begin with a start code, of three bytes or four, and do not end with it.
  static func beginsWithStartCode(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let zeros = bytes.prefix(3).prefix { $0 == 0 }.count
    return zeros >= 2 && bytes.count > zeros + 1 && bytes[zeros] == 1
  }

  /// Describes the track to libavformat.
  func apply(to stream: UnsafeMutablePointer<AVStream>) throws {
    guard let parameters = stream.pointee.codecpar else {
      throw MediaFileError(.outOfMemory, "out of memory")
    }
    try fill(parameters)
    if kind == .video {
      stream.pointee.sample_aspect_ratio = sampleAspectRatio
      try HDRSideData.set(
        masteringDisplay: masteringDisplay, contentLightLevel: contentLightLevel, on: stream)
    }
    stream.pointee.time_base = AVRational(num: 1, den: timeScale)
    stream.pointee.disposition = isEnabled ? AV_DISPOSITION_DEFAULT : 0
    if let language { av_dict_set(&stream.pointee.metadata, "language", language, 0) }
    if let displayMatrix, displayMatrix.count == 9 {
      guard let side = av_stream_new_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, 36) else {
        throw MediaFileError(.outOfMemory, "out of memory")
      }
      for (index, value) in displayMatrix.enumerated() {
        UnsafeMutableRawPointer(side).storeBytes(of: value, toByteOffset: 4 * index, as: Int32.self)
      }
    }
  }

  /// Describes the codec to libavcodec.
  func fill(_ parameters: UnsafeMutablePointer<AVCodecParameters>) throws {
    parameters.pointee.codec_id = codecID
    parameters.pointee.codec_tag = codecTag.byteSwapped
    parameters.pointee.bit_rate = bitRate
    if !extradata.isEmpty {
      guard extradata.count < 1 << 24 else {
        throw MediaFileError(
          .unsupportedFormat, "a configuration record of \(extradata.count) bytes cannot be stored")
      }
      guard let copy = av_mallocz(extradata.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)) else {
        throw MediaFileError(.outOfMemory, "out of memory")
      }
      extradata.copyBytes(to: UnsafeMutableRawBufferPointer(start: copy, count: extradata.count))
      parameters.pointee.extradata = copy.assumingMemoryBound(to: UInt8.self)
      parameters.pointee.extradata_size = Int32(extradata.count)
    }
    switch kind {
    case .video:
      parameters.pointee.codec_type = AVMEDIA_TYPE_VIDEO
      parameters.pointee.width = width
      parameters.pointee.height = height
      parameters.pointee.sample_aspect_ratio = sampleAspectRatio
      parameters.pointee.color_primaries = colorPrimaries
      parameters.pointee.color_trc = colorTransfer
      parameters.pointee.color_space = colorMatrix
      if let isFullRange {
        parameters.pointee.color_range = isFullRange ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
      }
      parameters.pointee.bits_per_coded_sample = bitsPerSample
    case .audio:
      parameters.pointee.codec_type = AVMEDIA_TYPE_AUDIO
      parameters.pointee.sample_rate = sampleRate
      parameters.pointee.ch_layout = ChannelOrder.layout(channels, of: codecID)
      parameters.pointee.frame_size = framesPerPacket
      parameters.pointee.bits_per_coded_sample = bitsPerSample
      parameters.pointee.block_align = bytesPerFrame
    case .text, .subtitle:
      parameters.pointee.codec_type = AVMEDIA_TYPE_SUBTITLE
    case .metadata:
      parameters.pointee.codec_type = AVMEDIA_TYPE_DATA
    }
  }
}

extension MuxerTrack {
  /// A track that holds a stream's samples as they are.
  package init(copying stream: MediaStream) throws {
    guard stream.kind == .video || stream.kind == .audio else {
      throw MediaFileError(.unsupportedFormat, "only video and sound can be written")
    }
    guard stream.timeBase.num == 1 else {
      throw MediaFileError(.badTiming, "the stream's time unit is no whole part of a second")
    }
    let parameters = stream.codec.pointer.pointee
    self.init(
      kind: stream.kind == .video ? .video : .audio, codecID: parameters.codec_id,
      timeScale: stream.timeBase.den)
    extradata = stream.codec.extradata
    width = parameters.width
    height = parameters.height
    sampleAspectRatio = stream.sampleAspectRatio
    colorPrimaries = parameters.color_primaries
    colorTransfer = parameters.color_trc
    colorMatrix = parameters.color_space
    switch parameters.color_range {
    case AVCOL_RANGE_JPEG: isFullRange = true
    case AVCOL_RANGE_MPEG: isFullRange = false
    default: break
    }
    bitsPerSample = parameters.bits_per_coded_sample
    sampleRate = parameters.sample_rate
    channels = parameters.ch_layout.nb_channels
    framesPerPacket = parameters.frame_size
    bytesPerFrame = parameters.block_align
    bitRate = parameters.bit_rate
    displayMatrix = stream.displayMatrix
    masteringDisplay = stream.masteringDisplay
    contentLightLevel = stream.contentLightLevel
    language = stream.language
    isEnabled = stream.isDefault
    if parameters.codec_id == AV_CODEC_ID_HEVC { codecTag = 0x6876_6331 }  // 'hvc1'
  }
}
