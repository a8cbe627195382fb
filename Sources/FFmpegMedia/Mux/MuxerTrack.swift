// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import CFFmpeg
import Foundation

/// The containers that the muxer writes.
package enum MuxerContainer: String, Sendable {
  case mov, mp4, m4v, m4a, mobile3GPP, mobile3GPP2
  /// Containers of audio only.
  case wav, caf, aiff

  /// Whether the container consists of the boxes of ISO/IEC 14496-12 or of QuickTime's.
  var isMovie: Bool {
    switch self {
    case .wav, .caf, .aiff: false
    default: true
    }
  }

  /// The most bytes of samples that the container's size fields can hold; nil: no limit.
  package var maxBytes: Int64? { self == .aiff ? Int64(UInt32.max) - (1 << 16) : nil }

  /// Whether libavformat writes samples of a codec into this container.
  func holds(_ codec: AVCodecID) -> Bool {
    // The codes of both are known to the muxer, which refuses them in QuickTime's files.
    if self == .mov, codec == AV_CODEC_ID_VP9 || codec == AV_CODEC_ID_AV1 { return false }
    guard let muxer = av_guess_format(format.name, nil, nil) else { return true }
    return avformat_query_codec(muxer, codec, FF_COMPLIANCE_NORMAL) != 0
  }

  /// The name of libavformat's muxer, and the major brand if it differs from the muxer's default.
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

/// The properties of a track that are fixed before its first sample is written.
package struct MuxerTrack: Sendable {
  package enum Kind: Sendable { case video, audio, text, subtitle, metadata }

  package var kind: Kind
  package var codecID: AVCodecID
  /// The sample description's type, as four characters in big-endian order; 0 lets the container
  /// choose.
  package var codecTag: UInt32 = 0
  /// The codec's configuration record: avcC, hvcC, AudioSpecificConfig and others.
  package var extradata = Data()
  /// A serialized sample entry, for media of which libavformat writes none; nil otherwise.
  package var sampleDescription: [UInt8]?
  /// Time units per second.
  package var timeScale: Int32
  /// Whether the time scale must be stored as it is. libavformat multiplies those of video below
  /// 10,000.
  package var keepsTimeScale = false
  package var width: Int32 = 0
  package var height: Int32 = 0
  package var sampleAspectRatio = AVRational(num: 0, den: 1)
  package var colorPrimaries = AVCOL_PRI_UNSPECIFIED
  /// The part of the picture to be displayed; nil: all of it.
  package var cleanAperture: CleanAperture?
  /// Stereo views, projection and field of view; nil: not stored.
  package var spatial: SpatialVideo?
  /// The content of the `lhvC` box, which describes the further layers of an HEVC stream; nil: not
  /// stored.
  package var layerConfiguration: Data?
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
  /// Static HDR metadata, laid out as the SEI messages of H.265.
  package var masteringDisplay: Data?
  package var contentLightLevel: Data?
  /// The matrix of the track header, in the file's layout.
  package var displayMatrix: [Int32]?
  /// The language as an ISO 639-2 code of three letters.
  package var language: String?
  /// The language as a BCP 47 tag.
  package var languageTag: String?
  package var isEnabled = true
  /// The volume, 0.0 to 1.0.
  package var volume: Float = 1
  /// Metadata items of the track.
  package var items: [MovieMetadataItem] = []
  /// Number of the group of tracks that are alternatives of each other; nil: libavformat chooses
  /// it.
  package var alternateGroup: UInt16?
  /// The size in the track header, in 16.16 fixed point; nil: libavformat's value.
  package var naturalSize: (width: Int, height: Int)?
  /// For each reference type (such as `folw`), the indexes of the tracks referred to, from 0.
  package var references: [String: [Int]] = [:]

  var isText: Bool { kind == .text || kind == .subtitle }

  /// Whether `MuxerCompletion` has something to add to this track.
  var needsCompletion: Bool {
    isText || sampleDescription != nil || languageTag != nil || !items.isEmpty || alternateGroup != nil
      || naturalSize != nil || !references.isEmpty || cleanAperture != nil || spatial != nil
      || layerConfiguration != nil
  }

  /// The language packed into 15 bits, five for each letter (ISO/IEC 14496-12, 8.4.2); nil if it is
  /// not of three lowercase letters.
  var packedLanguage: UInt16? {
    guard let letters = language.map({ Array($0.utf8) }), letters.count == 3,
      letters.allSatisfy({ (0x61...0x7A).contains($0) })
    else { return nil }
    return letters.reduce(0) { $0 << 5 | UInt16($1 - 0x60) }
  }

  /// Checks that a movie with this track can be opened.
  /// - Parameter container: The container.
  /// - Throws: `MediaFileError` if it cannot.
  package func checkReadable(in container: MuxerContainer) throws {
    // libavformat does not parse sample entries of timed metadata.
    if kind == .metadata { return }
    try MuxerFormatCheck.check(self, container: container)
  }

  /// Makes a track without a format, whose other properties the caller sets.
  /// - Parameters:
  ///   - kind: The kind of media.
  ///   - codecID: libavcodec's identifier of the codec.
  ///   - timeScale: Time units per second.
  package init(kind: Kind, codecID: AVCodecID, timeScale: Int32) {
    self.kind = kind
    // Chapter titles must not be an alternative of subtitles.
    if kind == .text || kind == .metadata { alternateGroup = 0 }
    self.codecID = codecID
    self.timeScale = timeScale
  }

  /// Whether libavformat takes the samples for Annex B byte streams and converts them to
  /// length-prefixed ones, because the configuration record is not an avcC or hvcC, or is missing.
  /// Samples in another form would be lost.
  var holdsByteStreams: Bool {
    switch codecID {
    case AV_CODEC_ID_H264: extradata.first != 1
    case AV_CODEC_ID_HEVC: extradata.isEmpty || extradata.withUnsafeBytes(Self.beginsWithStartCode)
    default: false
    }
  }

  /// Whether bytes begin with a start code of three or four bytes, followed by at least one byte.
  static func beginsWithStartCode(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let zeros = bytes.prefix(3).prefix { $0 == 0 }.count
    return zeros >= 2 && bytes.count > zeros + 1 && bytes[zeros] == 1
  }

  /// Sets the properties of libavformat's stream.
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

  /// Sets the codec parameters.
  func fill(_ parameters: UnsafeMutablePointer<AVCodecParameters>) throws {
    parameters.pointee.codec_id = codecID
    parameters.pointee.codec_tag = codecTag.byteSwapped
    parameters.pointee.bit_rate = bitRate
    if codecID == AV_CODEC_ID_VP9 {
      // libavformat derives the record from the parameters.
      parameters.pointee.format =
        (VP9Configuration(record: extradata)?.pixelFormat ?? AV_PIX_FMT_YUV420P).rawValue
    } else if !extradata.isEmpty {
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
  /// Makes a track for the samples of a stream as they are.
  /// - Parameter stream: The stream, of video or audio.
  /// - Throws: `MediaFileError` if such samples cannot be written.
  package init(copying stream: MediaStream) throws {
    guard stream.kind == .video || stream.kind == .audio else {
      throw MediaFileError(.unsupportedFormat, "only video and audio can be written")
    }
    guard stream.timeBase.num == 1 else {
      throw MediaFileError(.badTiming, "the stream's time base is not 1/n of a second")
    }
    let parameters = stream.codec.pointer.pointee
    self.init(
      kind: stream.kind == .video ? .video : .audio, codecID: parameters.codec_id,
      timeScale: stream.timeBase.den)
    extradata = stream.codec.extradata
    if codecID == AV_CODEC_ID_VP9, let made = VP9Configuration(parameters) { extradata = made.record }
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
