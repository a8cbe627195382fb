// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

extension AVAsset {
  /// The languages of the chapters' titles: one at most, undetermined (`und`) where the file does not say it.
  public var availableChapterLocales: [Locale] {
    guard let facts = file.factsIfReadable, !facts.chapters.isEmpty else { return [] }
    let language = facts.tracks.first { $0.stream.isChapterText }?.stream.language ?? "und"
    return [Locale(identifier: Locale.Language(identifier: language).minimalIdentifier)]
  }

  /// The chapters, each with its title. Empty if the titles are in another language. There are no pictures of chapters:
  /// keys but the title find nothing.
  public func chapterMetadataGroups(
    withTitleLocale locale: Locale, containingItemsWithCommonKeys commonKeys: [AVMetadataKey]? = nil
  ) -> [AVTimedMetadataGroup] {
    guard let own = availableChapterLocales.first, own.language.languageCode == locale.language.languageCode
    else { return [] }
    return chapterGroups(own)
  }

  /// The chapters. A file has titles in one language here, so that the preferred ones choose nothing.
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

  /// A chapter lasts until the next one begins, as a movie stores them, and the last one to its end.
  private func chapterGroups(_ locale: Locale) -> [AVTimedMetadataGroup] {
    guard let facts = file.factsIfReadable else { return [] }
    let whole = Int64(clamping: (facts.duration.seconds * 1_000_000).rounded())
    var groups: [AVTimedMetadataGroup] = []
    for (index, chapter) in facts.chapters.enumerated() {
      let next = facts.chapters.indices.contains(index + 1) ? facts.chapters[index + 1].start : nil
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
