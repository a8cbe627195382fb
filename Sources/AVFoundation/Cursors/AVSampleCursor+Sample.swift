// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// Describes whether decoding can begin at a sample, and whether the sample can be omitted.
public struct AVSampleCursorSyncInfo: Sendable {
  /// Whether the sample, and all that follow it in presentation order, can be decoded without
  /// earlier samples.
  public var sampleIsFullSync: ObjCBool
  /// Whether decoding can begin at the sample although samples presented before it depend on
  /// earlier ones.
  public var sampleIsPartialSync: ObjCBool
  /// Whether no other sample depends on this one.
  public var sampleIsDroppable: ObjCBool

  public init() { self.init(sampleIsFullSync: false, sampleIsPartialSync: false, sampleIsDroppable: false) }

  public init(sampleIsFullSync: ObjCBool, sampleIsPartialSync: ObjCBool, sampleIsDroppable: ObjCBool) {
    self.sampleIsFullSync = sampleIsFullSync
    self.sampleIsPartialSync = sampleIsPartialSync
    self.sampleIsDroppable = sampleIsDroppable
  }
}

/// Describes the dependencies between a sample and others, as far as the file states them.
public struct AVSampleCursorDependencyInfo: Sendable {
  /// Whether `sampleHasDependentSamples` is known.
  public var sampleIndicatesWhetherItHasDependentSamples: ObjCBool
  /// Whether other samples depend on this one.
  public var sampleHasDependentSamples: ObjCBool
  /// Whether `sampleDependsOnOthers` is known.
  public var sampleIndicatesWhetherItDependsOnOthers: ObjCBool
  /// Whether this sample depends on others.
  public var sampleDependsOnOthers: ObjCBool
  /// Whether `sampleHasRedundantCoding` is known.
  public var sampleIndicatesWhetherItHasRedundantCoding: ObjCBool
  /// Whether parts of the sample are coded redundantly.
  public var sampleHasRedundantCoding: ObjCBool

  public init() {
    self.init(
      sampleIndicatesWhetherItHasDependentSamples: false, sampleHasDependentSamples: false,
      sampleIndicatesWhetherItDependsOnOthers: false, sampleDependsOnOthers: false,
      sampleIndicatesWhetherItHasRedundantCoding: false, sampleHasRedundantCoding: false)
  }

  public init(
    sampleIndicatesWhetherItHasDependentSamples: ObjCBool, sampleHasDependentSamples: ObjCBool,
    sampleIndicatesWhetherItDependsOnOthers: ObjCBool, sampleDependsOnOthers: ObjCBool,
    sampleIndicatesWhetherItHasRedundantCoding: ObjCBool, sampleHasRedundantCoding: ObjCBool
  ) {
    self.sampleIndicatesWhetherItHasDependentSamples = sampleIndicatesWhetherItHasDependentSamples
    self.sampleHasDependentSamples = sampleHasDependentSamples
    self.sampleIndicatesWhetherItDependsOnOthers = sampleIndicatesWhetherItDependsOnOthers
    self.sampleDependsOnOthers = sampleDependsOnOthers
    self.sampleIndicatesWhetherItHasRedundantCoding = sampleIndicatesWhetherItHasRedundantCoding
    self.sampleHasRedundantCoding = sampleHasRedundantCoding
  }
}

/// Describes whether decoding of audio can begin at a sample.
public struct AVSampleCursorAudioDependencyInfo: Sendable {
  /// Whether the sample can be decoded without earlier samples.
  public var audioSampleIsIndependentlyDecodable: ObjCBool
  /// The number of samples from this one on that must be decoded before the output is correct.
  public var audioSamplePacketRefreshCount: Int

  public init() {
    self.init(audioSampleIsIndependentlyDecodable: false, audioSamplePacketRefreshCount: 0)
  }

  public init(audioSampleIsIndependentlyDecodable: ObjCBool, audioSamplePacketRefreshCount: Int) {
    self.audioSampleIsIndependentlyDecodable = audioSampleIsIndependentlyDecodable
    self.audioSamplePacketRefreshCount = audioSamplePacketRefreshCount
  }
}

/// A range of bytes in a file.
public struct AVSampleCursorStorageRange: Sendable {
  /// The offset from the beginning of the file in bytes; -1 if the data is not contiguous or its
  /// position is not known.
  public var offset: Int64
  /// The length in bytes; 0 if `offset` is -1.
  public var length: Int64

  public init() { self.init(offset: 0, length: 0) }

  public init(offset: Int64, length: Int64) {
    self.offset = offset
    self.length = length
  }
}

/// Describes a chunk: samples that are contiguous in a file.
public struct AVSampleCursorChunkInfo: Sendable {
  public var chunkSampleCount: Int64
  public var chunkHasUniformSampleSizes: ObjCBool
  public var chunkHasUniformSampleDurations: ObjCBool
  public var chunkHasUniformFormatDescriptions: ObjCBool

  public init() {
    self.init(
      chunkSampleCount: 0, chunkHasUniformSampleSizes: false, chunkHasUniformSampleDurations: false,
      chunkHasUniformFormatDescriptions: false)
  }

  public init(
    chunkSampleCount: Int64, chunkHasUniformSampleSizes: ObjCBool, chunkHasUniformSampleDurations: ObjCBool,
    chunkHasUniformFormatDescriptions: ObjCBool
  ) {
    self.chunkSampleCount = chunkSampleCount
    self.chunkHasUniformSampleSizes = chunkHasUniformSampleSizes
    self.chunkHasUniformSampleDurations = chunkHasUniformSampleDurations
    self.chunkHasUniformFormatDescriptions = chunkHasUniformFormatDescriptions
  }
}

extension AVSampleCursor {
  // MARK: - Dependencies

  private var isVideo: Bool { index.stream.kind == .video }

  /// Whether decoding can begin at the sample, and whether the sample can be omitted. Every sample
  /// of audio or text is a full sync sample.
  public var currentSampleSyncInfo: AVSampleCursorSyncInfo {
    let flags = sample.flags
    return AVSampleCursorSyncInfo(
      sampleIsFullSync: ObjCBool(!isVideo || flags.contains(.sync)), sampleIsPartialSync: false,
      sampleIsDroppable: ObjCBool(flags.contains(.disposable)))
  }

  /// The dependencies of the sample. Every file states its sync samples. Movie files can also state
  /// that no other sample depends on one (`sdtp`; ISO/IEC 14496-12, 8.6.4); libavformat does not
  /// report this for codecs that it parses, such as H.264.
  public var currentSampleDependencyInfo: AVSampleCursorDependencyInfo {
    let flags = sample.flags
    var info = AVSampleCursorDependencyInfo()
    guard isVideo else { return info }
    info.sampleIndicatesWhetherItDependsOnOthers = true
    info.sampleDependsOnOthers = ObjCBool(!flags.contains(.sync))
    // The information is known only if no other sample depends on this one.
    info.sampleIndicatesWhetherItHasDependentSamples = ObjCBool(flags.contains(.disposable))
    return info
  }

  /// The dependencies as attachments of a sample buffer's sample, with keys such as
  /// `kCMSampleAttachmentKey_NotSync`; nil if there are none.
  public var currentSampleDependencyAttachments: [AnyHashable: Any]? {
    let flags = sample.flags
    guard isVideo else { return nil }
    var attachments: [AnyHashable: Any] = [:]
    if !flags.contains(.sync) {
      attachments[kCMSampleAttachmentKey_NotSync as String] = true
      attachments[kCMSampleAttachmentKey_DependsOnOthers as String] = true
    }
    if flags.contains(.disposable) {
      attachments[kCMSampleAttachmentKey_IsDependedOnByOthers as String] = false
    }
    return attachments.isEmpty ? nil : attachments
  }

  /// The audio dependencies. Every audio packet is regarded as independently decodable, which
  /// holds for the codecs of movies that libavcodec decodes.
  public var currentSampleAudioDependencyInfo: AVSampleCursorAudioDependencyInfo {
    AVSampleCursorAudioDependencyInfo(
      audioSampleIsIndependentlyDecodable: ObjCBool(index.stream.kind == .audio),
      audioSamplePacketRefreshCount: 0)
  }

  /// The number of samples before this one in decode order that a decoder needs: those from the
  /// last sync sample on.
  public var samplesRequiredForDecoderRefresh: Int {
    let number = number
    guard isVideo else { return 0 }
    return number - (index.sync(before: number) ?? 0)
  }

  // MARK: - Storage

  /// The URL of the file with the chunk; nil, since all samples are in the file of the track.
  public var currentChunkStorageURL: URL? { nil }

  /// The position of the chunk with this sample: the contiguous samples around it, limited by the
  /// chunk offsets of the file (`stco`; ISO/IEC 14496-12, 8.7.5). In fragments the chunk extends to
  /// the next gap.
  public var currentChunkStorageRange: AVSampleCursorStorageRange {
    index.chunk(of: number).map { AVSampleCursorStorageRange(offset: $0.offset, length: $0.length) }
      ?? AVSampleCursorStorageRange(offset: -1, length: 0)
  }

  /// The common properties of the samples of the chunk. In files without chunks each sample counts
  /// as a chunk.
  public var currentChunkInfo: AVSampleCursorChunkInfo {
    let chunk = index.chunk(of: number)
    return AVSampleCursorChunkInfo(
      chunkSampleCount: Int64(chunk?.samples.count ?? 1),
      chunkHasUniformSampleSizes: ObjCBool(chunk?.hasUniformSizes ?? true),
      chunkHasUniformSampleDurations: ObjCBool(chunk?.hasUniformDurations ?? true),
      chunkHasUniformFormatDescriptions: ObjCBool(chunk?.hasUniformFormats ?? true))
  }

  /// The index of the sample in its chunk, from 0.
  public var currentSampleIndexInChunk: Int64 {
    let number = number
    return Int64(number - (index.chunk(of: number)?.samples.lowerBound ?? number))
  }

  /// The position of the sample in the file, which is known for movie files.
  public var currentSampleStorageRange: AVSampleCursorStorageRange {
    let sample = sample
    return sample.position >= 0
      ? AVSampleCursorStorageRange(offset: sample.position, length: sample.size)
      : AVSampleCursorStorageRange(offset: -1, length: 0)
  }
}

// MARK: - Making cursors

extension AVAssetTrack {
  /// Whether the track can create cursors: it is a track of a file that can be read.
  public var canProvideSampleCursors: Bool { sampleIndex != nil }

  /// Creates a cursor at the last sample that is presented at `presentationTimeStamp` or before, or
  /// else at the sample that is presented first. The time is comparable with
  /// `AVSampleCursor.presentationTimeStamp`.
  /// - Returns: Nil if the track cannot provide cursors or has no samples, or if the time is
  ///   invalid or indefinite.
  public func makeSampleCursor(presentationTimeStamp: CMTime) -> AVSampleCursor? {
    guard let index = sampleIndex, presentationTimeStamp.isValid, !presentationTimeStamp.isIndefinite,
      let number = index.sample(presentedAt: index.stream.units(presentationTimeStamp))
        ?? index.firstPresented
    else { return nil }
    return AVSampleCursor(index, at: number)
  }

  /// Creates a cursor at the first sample in decode order; nil if the track cannot provide cursors
  /// or has no samples.
  public func makeSampleCursorAtFirstSampleInDecodeOrder() -> AVSampleCursor? {
    sampleIndex.flatMap { $0.sample(0) == nil ? nil : AVSampleCursor($0, at: 0) }
  }

  /// Creates a cursor at the last sample in decode order, for which the file is read to its end;
  /// nil if the track cannot provide cursors or has no samples.
  public func makeSampleCursorAtLastSampleInDecodeOrder() -> AVSampleCursor? {
    guard let index = sampleIndex, case let last = index.last, last >= 0 else { return nil }
    return AVSampleCursor(index, at: last)
  }
}

extension AVPartialAsyncProperty where Root: AVAssetTrack {
  public static var canProvideSampleCursors: AVAsyncProperty<Root, Bool> {
    AVAsyncProperty(key: "canProvideSampleCursors") { $0.canProvideSampleCursors }
  }
}
