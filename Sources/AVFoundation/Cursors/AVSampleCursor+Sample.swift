// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// Where a decoder can begin, and what it can leave out.
public struct AVSampleCursorSyncInfo: Sendable {
  /// The sample, and all that follow it in presentation order, can be decoded without those before it.
  public var sampleIsFullSync: ObjCBool
  /// Decoding can begin at the sample, but samples that are shown before it need others.
  public var sampleIsPartialSync: ObjCBool
  /// No other sample needs the sample.
  public var sampleIsDroppable: ObjCBool

  public init() { self.init(sampleIsFullSync: false, sampleIsPartialSync: false, sampleIsDroppable: false) }

  public init(sampleIsFullSync: ObjCBool, sampleIsPartialSync: ObjCBool, sampleIsDroppable: ObjCBool) {
    self.sampleIsFullSync = sampleIsFullSync
    self.sampleIsPartialSync = sampleIsPartialSync
    self.sampleIsDroppable = sampleIsDroppable
  }
}

/// What a sample has to do with others, as far as the file says.
public struct AVSampleCursorDependencyInfo: Sendable {
  /// `sampleHasDependentSamples` is known.
  public var sampleIndicatesWhetherItHasDependentSamples: ObjCBool
  /// Other samples need the sample.
  public var sampleHasDependentSamples: ObjCBool
  /// `sampleDependsOnOthers` is known.
  public var sampleIndicatesWhetherItDependsOnOthers: ObjCBool
  /// The sample needs others.
  public var sampleDependsOnOthers: ObjCBool
  /// `sampleHasRedundantCoding` is known.
  public var sampleIndicatesWhetherItHasRedundantCoding: ObjCBool
  /// Parts of the sample are coded twice.
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

/// Whether a decoder of sound can begin at a sample.
public struct AVSampleCursorAudioDependencyInfo: Sendable {
  /// The sample can be decoded without those before it.
  public var audioSampleIsIndependentlyDecodable: ObjCBool
  /// Samples from here on that are decoded before what comes out is complete.
  public var audioSamplePacketRefreshCount: Int

  public init() {
    self.init(audioSampleIsIndependentlyDecodable: false, audioSamplePacketRefreshCount: 0)
  }

  public init(audioSampleIsIndependentlyDecodable: ObjCBool, audioSamplePacketRefreshCount: Int) {
    self.audioSampleIsIndependentlyDecodable = audioSampleIsIndependentlyDecodable
    self.audioSamplePacketRefreshCount = audioSamplePacketRefreshCount
  }
}

/// Bytes of a file.
public struct AVSampleCursorStorageRange: Sendable {
  /// From the file's beginning; -1: the bytes do not lie in one piece, or nobody knows where.
  public var offset: Int64
  /// 0 where `offset` is -1.
  public var length: Int64

  public init() { self.init(offset: 0, length: 0) }

  public init(offset: Int64, length: Int64) {
    self.offset = offset
    self.length = length
  }
}

/// Samples that follow each other in a file.
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

  /// Whether a decoder can begin at the sample, and whether it can leave the sample out. Each sample of sound and of text is a
  /// full sync sample.
  public var currentSampleSyncInfo: AVSampleCursorSyncInfo {
    let flags = sample.flags
    return AVSampleCursorSyncInfo(
      sampleIsFullSync: ObjCBool(!isVideo || flags.contains(.sync)), sampleIsPartialSync: false,
      sampleIsDroppable: ObjCBool(flags.contains(.disposable)))
  }

  /// What the sample has to do with others. Which sync samples there are each file says; that no other sample needs one, movie
  /// files may say (`sdtp`; ISO/IEC 14496-12, 8.6.4), which libavformat does not tell of codecs that it parses, such as H.264.
  public var currentSampleDependencyInfo: AVSampleCursorDependencyInfo {
    let flags = sample.flags
    var info = AVSampleCursorDependencyInfo()
    guard isVideo else { return info }
    info.sampleIndicatesWhetherItDependsOnOthers = true
    info.sampleDependsOnOthers = ObjCBool(!flags.contains(.sync))
    // That others do need it is said of none.
    info.sampleIndicatesWhetherItHasDependentSamples = ObjCBool(flags.contains(.disposable))
    return info
  }

  /// The same as attachments of a sample buffer's sample: keys are `kCMSampleAttachmentKey_NotSync` and those that follow it;
  /// nil where there is nothing to say.
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

  /// Of sound: each packet of the codecs that libavcodec reads from movies can be decoded on its own.
  public var currentSampleAudioDependencyInfo: AVSampleCursorAudioDependencyInfo {
    AVSampleCursorAudioDependencyInfo(
      audioSampleIsIndependentlyDecodable: ObjCBool(index.stream.kind == .audio),
      audioSamplePacketRefreshCount: 0)
  }

  /// How many samples before this one, in decode order, a decoder needs: those from the last sync sample on.
  public var samplesRequiredForDecoderRefresh: Int {
    let number = number
    guard isVideo else { return 0 }
    return number - (index.sync(before: number) ?? 0)
  }

  // MARK: - Storage

  /// nil: the samples lie in the track's own file.
  public var currentChunkStorageURL: URL? { nil }

  /// Where the samples that follow each other in the file around this one lie, as far as the file's table says (`stco`; ISO/IEC
  /// 14496-12, 8.7.5), or, in fragments, without a gap.
  public var currentChunkStorageRange: AVSampleCursorStorageRange {
    index.chunk(of: number).map { AVSampleCursorStorageRange(offset: $0.offset, length: $0.length) }
      ?? AVSampleCursorStorageRange(offset: -1, length: 0)
  }

  /// What the samples of the chunk have in common. In files without chunks each sample is one.
  public var currentChunkInfo: AVSampleCursorChunkInfo {
    let chunk = index.chunk(of: number)
    return AVSampleCursorChunkInfo(
      chunkSampleCount: Int64(chunk?.samples.count ?? 1),
      chunkHasUniformSampleSizes: ObjCBool(chunk?.hasUniformSizes ?? true),
      chunkHasUniformSampleDurations: ObjCBool(chunk?.hasUniformDurations ?? true),
      chunkHasUniformFormatDescriptions: ObjCBool(chunk?.hasUniformFormats ?? true))
  }

  /// The sample's place in its chunk, from 0.
  public var currentSampleIndexInChunk: Int64 {
    let number = number
    return Int64(number - (index.chunk(of: number)?.samples.lowerBound ?? number))
  }

  /// Where the sample lies in the file: movie files tell.
  public var currentSampleStorageRange: AVSampleCursorStorageRange {
    let sample = sample
    return sample.position >= 0
      ? AVSampleCursorStorageRange(offset: sample.position, length: sample.size)
      : AVSampleCursorStorageRange(offset: -1, length: 0)
  }
}

// MARK: - Making cursors

extension AVAssetTrack {
  /// Whether the track can make cursors: it is a file's, and the file can be read.
  public var canProvideSampleCursors: Bool { sampleIndex != nil }

  /// A cursor at the last sample that is shown at a time or before; if there is none, at the sample that is shown first. The
  /// time is one of `presentationTimeStamp`'s, as `samplePresentationTime(forTrackTime:)` gives it.
  /// - Returns: nil for a track that cannot provide cursors or has no samples, and for a time that is no number.
  public func makeSampleCursor(presentationTimeStamp: CMTime) -> AVSampleCursor? {
    guard let index = sampleIndex, presentationTimeStamp.isValid, !presentationTimeStamp.isIndefinite,
      let number = index.shown(at: index.stream.units(presentationTimeStamp)) ?? index.firstShown
    else { return nil }
    return AVSampleCursor(index, at: number)
  }

  /// A cursor at the first sample in decode order; nil for a track that cannot provide cursors or has no samples.
  public func makeSampleCursorAtFirstSampleInDecodeOrder() -> AVSampleCursor? {
    sampleIndex.flatMap { $0.sample(0) == nil ? nil : AVSampleCursor($0, at: 0) }
  }

  /// A cursor at the last sample in decode order, for which the file is read through; nil for a track that cannot provide
  /// cursors or has no samples.
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
