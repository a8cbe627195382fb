// SPDX-License-Identifier: Apache-2.0
import CFFmpeg

/// libavfilter, in memory from the first filter on.
package enum FilterLibrary {
  /// A filter is not worth a process that cannot start: where the library is missing, only what needs it fails.
  private static let loaded: Result<ovt_filter_library, MediaFileError> = {
    var functions = ovt_filter_library()
    guard let message = ovt_load_filter_library(&functions) else { return .success(functions) }
    return .failure(
      MediaFileError(
        .unsupportedFormat,
        "this needs FFmpeg's filters (libavfilter \(LIBAVFILTER_VERSION_MAJOR)): \(String(cString: message))")
    )
  }()

  static func functions() throws(MediaFileError) -> ovt_filter_library { try loaded.get() }

  /// Loads it now, for a process that will be unable to open files later.
  /// - Throws: `MediaFileError` of the kind `unsupportedFormat` where it is not installed.
  package static func load() throws { _ = try functions() }
}
