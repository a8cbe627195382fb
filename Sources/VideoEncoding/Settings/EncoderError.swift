// SPDX-License-Identifier: Apache-2.0

/// The reason why a configuration, a picture or an option is refused. The encoder is unchanged
/// then.
public enum VideoEncoderError: Error, Equatable, Sendable, CustomStringConvertible {
  /// A value of the configuration is out of range; the text names it and the allowed range.
  case invalidConfiguration(String)
  /// A value differs that cannot change within a stream; that takes a new encoder.
  case fixedInStream(String)
  /// The stream does not fit the configured level, or any level.
  case levelExceeded(String)
  /// The picture's size or strides do not fit the configuration.
  case invalidPicture(String)
  /// A frame option is out of range or not supported by the configuration.
  case invalidOption(String)

  public var description: String {
    switch self {
    case .invalidConfiguration(let text), .fixedInStream(let text), .levelExceeded(let text),
      .invalidPicture(let text), .invalidOption(let text):
      text
    }
  }
}
