// SPDX-License-Identifier: Apache-2.0
import CFFmpeg

/// libavfilter, which is loaded when the first filter is used.
package enum FilterLibrary {
  /// The library is loaded at run time, so that a process starts without it, and only the calls
  /// that need it fail.
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

  /// Loads the library now, for a process that will not be able to open files later, because of a
  /// sandbox for instance.
  /// - Throws: `MediaFileError` of the kind `unsupportedFormat` if it is not installed.
  package static func load() throws { _ = try functions() }
}
