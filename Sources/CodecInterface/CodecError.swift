// SPDX-License-Identifier: Apache-2.0
// What the sessions and the codecs say to each other.
//
// A codec takes a typed configuration and pictures, and gives back coded frames with their facts (or the other
// way round). It knows nothing of sessions, of properties by name, or of sample buffers. A new codec is one type
// that conforms to `VideoEncoder` or `VideoDecoder`, and one description in the registry.

/// Why a codec could not do what it was asked to do.
public enum CodecError: Error, Sendable, Equatable {
  /// The configuration, or what one frame was asked for, contradicts itself or lies outside of what the standard or
  /// the codec allows.
  case invalidConfiguration(String)
  /// This codec has no such feature.
  case unsupported(String)
  /// The compressed data is damaged.
  case badData(String)
  /// Pictures that a frame is predicted from are not there.
  case missingReferences
  /// The codec failed in its own work.
  case malfunction(String)
  /// Memory could not be had.
  case outOfMemory
}
