// SPDX-License-Identifier: Apache-2.0

/// Why a configuration, a picture or an option is refused. The encoder stays as it was.
public enum H264EncoderError: Error, Equatable, Sendable, CustomStringConvertible {
  /// A value of the configuration is out of range; the text says which and what is allowed.
  case invalidConfiguration(String)
  /// A value that cannot change in mid-stream differs: that takes a new encoder.
  case fixedInStream(String)
  /// The stream does not fit the level asked for, or any.
  case levelExceeded(String)
  /// The picture's size or strides do not fit the configuration.
  case invalidPicture(String)
  /// A frame option cannot be followed.
  case invalidOption(String)

  public var description: String {
    switch self {
    case .invalidConfiguration(let text), .fixedInStream(let text), .levelExceeded(let text),
      .invalidPicture(let text), .invalidOption(let text):
      text
    }
  }
}
