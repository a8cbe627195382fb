// SPDX-License-Identifier: Apache-2.0
import Foundation

// The properties for `load(_:)`. Loading any of them opens the file, and throws an error if the
// file cannot be read.

extension AVPartialAsyncProperty where Root: AVAsset {
  private static func property<T>(
    _ key: String, _ value: @escaping @Sendable (Root) throws -> T
  ) -> AVAsyncProperty<Root, T> {
    AVAsyncProperty(key: key) { root in
      _ = try root.loadedTracks()
      return try value(root)
    }
  }

  public static var duration: AVAsyncProperty<Root, CMTime> { property("duration") { $0.duration } }
  public static var preferredRate: AVAsyncProperty<Root, Float> {
    property("preferredRate") { $0.preferredRate }
  }
  public static var preferredVolume: AVAsyncProperty<Root, Float> {
    property("preferredVolume") { $0.preferredVolume }
  }
  public static var preferredTransform: AVAsyncProperty<Root, CGAffineTransform> {
    property("preferredTransform") { $0.preferredTransform }
  }
  public static var minimumTimeOffsetFromLive: AVAsyncProperty<Root, CMTime> {
    property("minimumTimeOffsetFromLive") { $0.minimumTimeOffsetFromLive }
  }
  public static var providesPreciseDurationAndTiming: AVAsyncProperty<Root, Bool> {
    property("providesPreciseDurationAndTiming") { $0.providesPreciseDurationAndTiming }
  }
  public static var tracks: AVAsyncProperty<Root, [AVAssetTrack]> {
    property("tracks") { try $0.loadedTracks() }
  }
  public static var isReadable: AVAsyncProperty<Root, Bool> { property("readable") { $0.isReadable } }
  public static var isPlayable: AVAsyncProperty<Root, Bool> { property("playable") { $0.isPlayable } }
  public static var isExportable: AVAsyncProperty<Root, Bool> { property("exportable") { $0.isExportable } }
  public static var isComposable: AVAsyncProperty<Root, Bool> { property("composable") { $0.isComposable } }
  public static var hasProtectedContent: AVAsyncProperty<Root, Bool> {
    property("hasProtectedContent") { $0.hasProtectedContent }
  }
  public static var isCompatibleWithSavedPhotosAlbum: AVAsyncProperty<Root, Bool> {
    property("compatibleWithSavedPhotosAlbum") { $0.isCompatibleWithSavedPhotosAlbum }
  }
  public static var overallDurationHint: AVAsyncProperty<Root, CMTime> {
    property("overallDurationHint") { $0.overallDurationHint }
  }
  public static var creationDate: AVAsyncProperty<Root, AVMetadataItem?> {
    property("creationDate") { $0.creationDate }
  }
  public static var lyrics: AVAsyncProperty<Root, String?> { property("lyrics") { $0.lyrics } }
  public static var commonMetadata: AVAsyncProperty<Root, [AVMetadataItem]> {
    property("commonMetadata") { $0.commonMetadata }
  }
  public static var metadata: AVAsyncProperty<Root, [AVMetadataItem]> { property("metadata") { $0.metadata } }
  public static var availableMetadataFormats: AVAsyncProperty<Root, [AVMetadataFormat]> {
    property("availableMetadataFormats") { $0.availableMetadataFormats }
  }
  public static var availableMediaCharacteristicsWithMediaSelectionOptions:
    AVAsyncProperty<Root, [AVMediaCharacteristic]>
  {
    property("availableMediaCharacteristicsWithMediaSelectionOptions") {
      $0.availableMediaCharacteristicsWithMediaSelectionOptions
    }
  }
}

extension AVPartialAsyncProperty where Root: AVAssetTrack {
  private static func property<T>(
    _ key: String, _ value: @escaping @Sendable (Root) throws -> T
  ) -> AVAsyncProperty<Root, T> {
    AVAsyncProperty(key: key, read: value)
  }

  public static var formatDescriptions: AVAsyncProperty<Root, [CMFormatDescription]> {
    property("formatDescriptions") { $0.formatDescriptions as? [CMFormatDescription] ?? [] }
  }
  public static var isPlayable: AVAsyncProperty<Root, Bool> { property("playable") { $0.isPlayable } }
  public static var isDecodable: AVAsyncProperty<Root, Bool> { property("decodable") { $0.isDecodable } }
  public static var isEnabled: AVAsyncProperty<Root, Bool> { property("enabled") { $0.isEnabled } }
  public static var isSelfContained: AVAsyncProperty<Root, Bool> {
    property("selfContained") { $0.isSelfContained }
  }
  public static var totalSampleDataLength: AVAsyncProperty<Root, Int64> {
    property("totalSampleDataLength") { try $0.loadedDataLength() }
  }
  public static var mediaCharacteristics: AVAsyncProperty<Root, [AVMediaCharacteristic]> {
    property("mediaCharacteristics") { track in
      AVAssetTrack.knownCharacteristics.filter { track.hasMediaCharacteristic($0) }
    }
  }
  public static var timeRange: AVAsyncProperty<Root, CMTimeRange> { property("timeRange") { $0.timeRange } }
  public static var naturalTimeScale: AVAsyncProperty<Root, CMTimeScale> {
    property("naturalTimeScale") { $0.naturalTimeScale }
  }
  public static var estimatedDataRate: AVAsyncProperty<Root, Float> {
    property("estimatedDataRate") { $0.estimatedDataRate }
  }
  public static var languageCode: AVAsyncProperty<Root, String?> {
    property("languageCode") { $0.languageCode }
  }
  public static var extendedLanguageTag: AVAsyncProperty<Root, String?> {
    property("extendedLanguageTag") { $0.extendedLanguageTag }
  }
  public static var naturalSize: AVAsyncProperty<Root, CGSize> { property("naturalSize") { $0.naturalSize } }
  public static var preferredTransform: AVAsyncProperty<Root, CGAffineTransform> {
    property("preferredTransform") { $0.preferredTransform }
  }
  public static var preferredVolume: AVAsyncProperty<Root, Float> {
    property("preferredVolume") { $0.preferredVolume }
  }
  public static var nominalFrameRate: AVAsyncProperty<Root, Float> {
    property("nominalFrameRate") { $0.nominalFrameRate }
  }
  public static var minFrameDuration: AVAsyncProperty<Root, CMTime> {
    property("minFrameDuration") { $0.minFrameDuration }
  }
  public static var requiresFrameReordering: AVAsyncProperty<Root, Bool> {
    property("requiresFrameReordering") { $0.requiresFrameReordering }
  }
  public static var segments: AVAsyncProperty<Root, [AVAssetTrackSegment]> {
    property("segments") { $0.segments }
  }
  public static var metadata: AVAsyncProperty<Root, [AVMetadataItem]> { property("metadata") { $0.metadata } }
  public static var commonMetadata: AVAsyncProperty<Root, [AVMetadataItem]> {
    property("commonMetadata") { $0.commonMetadata }
  }
  public static var availableMetadataFormats: AVAsyncProperty<Root, [AVMetadataFormat]> {
    property("availableMetadataFormats") { $0.availableMetadataFormats }
  }
  public static var hasAudioSampleDependencies: AVAsyncProperty<Root, Bool> {
    property("hasAudioSampleDependencies") { $0.hasAudioSampleDependencies }
  }
}
