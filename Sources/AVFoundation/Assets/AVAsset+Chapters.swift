// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

extension AVAsset {
  /// The languages of the chapters' titles: at most one, which is undetermined (`und`) if the file
  /// does not state it.
  public var availableChapterLocales: [Locale] {
    guard let properties = file.propertiesIfReadable, !properties.chapters.isEmpty else { return [] }
    let language = properties.tracks.first { $0.stream.isChapterText }?.stream.language ?? "und"
    return [Locale(identifier: Locale.Language(identifier: language).minimalIdentifier)]
  }

  /// Returns the chapters, each with its title.
  /// - Parameters:
  ///   - locale: The language of the titles. If the titles are in another language, the result is
  ///     empty.
  ///   - commonKeys: It has no effect, since chapters have titles only.
  public func chapterMetadataGroups(
    withTitleLocale locale: Locale, containingItemsWithCommonKeys commonKeys: [AVMetadataKey]? = nil
  ) -> [AVTimedMetadataGroup] {
    guard let own = availableChapterLocales.first, own.language.languageCode == locale.language.languageCode
    else { return [] }
    return chapterGroups(own)
  }

  /// Returns the chapters. A file has titles in one language only, so `preferredLanguages` has no
  /// effect.
  public func chapterMetadataGroups(bestMatchingPreferredLanguages preferredLanguages: [String])
    -> [AVTimedMetadataGroup]
  { availableChapterLocales.first.map(chapterGroups) ?? [] }

  public func loadChapterMetadataGroups(
    withTitleLocale locale: Locale, containingItemsWithCommonKeys commonKeys: [AVMetadataKey] = []
  ) async throws -> [AVTimedMetadataGroup] {
    _ = try await load(.tracks)
    return chapterMetadataGroups(withTitleLocale: locale, containingItemsWithCommonKeys: commonKeys)
  }

  public func loadChapterMetadataGroups(bestMatchingPreferredLanguages preferredLanguages: [String])
    async throws -> [AVTimedMetadataGroup]
  {
    _ = try await load(.tracks)
    return chapterMetadataGroups(bestMatchingPreferredLanguages: preferredLanguages)
  }

  /// Returns the chapters. Each ends at the latest where the next begins. One without an end of its
  /// own ends there, and the last at the end of the movie.
  private func chapterGroups(_ locale: Locale) -> [AVTimedMetadataGroup] {
    guard let properties = file.propertiesIfReadable else { return [] }
    let whole = Int64(clamping: (properties.duration.seconds * 1_000_000).rounded())
    var groups: [AVTimedMetadataGroup] = []
    for (index, chapter) in properties.chapters.enumerated() {
      let next = properties.chapters.indices.contains(index + 1) ? properties.chapters[index + 1].start : nil
      var end = chapter.end
      if end <= chapter.start { end = next ?? max(whole, chapter.start) }
      let start = CMTime(value: chapter.start, timescale: 1_000_000)
      let range = CMTimeRange(start: start, end: CMTime(value: min(end, next ?? end), timescale: 1_000_000))
      let title = AVMutableMetadataItem()
      title.identifier = .commonIdentifierTitle
      title.value = chapter.title as NSString
      title.extendedLanguageTag = locale.identifier(.bcp47)
      title.time = range.start
      title.duration = range.duration
      groups.append(AVTimedMetadataGroup(items: [title], timeRange: range))
    }
    return groups
  }
}

extension AVPartialAsyncProperty where Root: AVAsset {
  public static var availableChapterLocales: AVAsyncProperty<Root, [Locale]> {
    AVAsyncProperty(key: "availableChapterLocales") { root in
      _ = try root.loadedTracks()
      return root.availableChapterLocales
    }
  }
}
