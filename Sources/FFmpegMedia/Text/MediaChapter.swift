// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Foundation

/// A chapter of a file, with times in microseconds on the time line of its samples.
package struct MediaChapter: Equatable, Sendable {
  package var start: Int64
  package var end: Int64
  /// The title; empty if the file has none.
  package var title: String

  /// The chapters of an open file, by start time. Of several with the same start, only the first is
  /// kept.
  static func chapters(of context: UnsafeMutablePointer<AVFormatContext>) -> [MediaChapter] {
    guard let list = context.pointee.chapters else { return [] }
    let microseconds = AVRational(num: 1, den: 1_000_000)
    var chapters: [MediaChapter] = []
    for index in 0..<Int(context.pointee.nb_chapters) {
      guard let chapter = list[index]?.pointee, chapter.time_base.num > 0, chapter.time_base.den > 0 else {
        continue
      }
      let start = av_rescale_q(chapter.start, chapter.time_base, microseconds)
      let end =
        chapter.end == ovt_av_nopts_value()
        ? start : av_rescale_q(chapter.end, chapter.time_base, microseconds)
      chapters.append(
        MediaChapter(start: start, end: end, title: dictionaryEntries(chapter.metadata)["title"] ?? ""))
    }
    chapters.sort { $0.start < $1.start }
    var starts: Set<Int64> = []
    return chapters.filter { starts.insert($0.start).inserted }
  }

  /// The chapter with a number of microseconds subtracted from its times, which do not become
  /// negative.
  func shifted(back change: Int64) -> MediaChapter {
    MediaChapter(
      start: max(0, start.subtractingClamped(change)), end: max(0, end.subtractingClamped(change)),
      title: title)
  }
}
