// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The languages of tracks as playlists name them.
enum SegmentLanguage {
  /// - Parameter code: a code of ISO 639-2/T.
  /// - Returns: the tag of BCP 47, which is the shortest code; nil for no language.
  static func tag(_ code: String?) -> String? {
    guard let code, code != "und", code.utf8.count == 3, code.utf8.allSatisfy({ (97...122).contains($0) })
    else {
      return nil
    }
    return Locale.LanguageCode(code).identifier(.alpha2) ?? code
  }
}
