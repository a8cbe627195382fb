// SPDX-License-Identifier: Apache-2.0
// The interface between sessions and codecs.
//
// A codec takes a typed configuration and pictures, and returns coded frames with their properties,
// or the other way round. It knows nothing of sessions, of properties by name, or of sample
// buffers. A new codec is one type that conforms to `VideoEncoder` or `VideoDecoder`, and one
// description in the registry.

/// The reason why a codec could not do what it was asked to do.
public enum CodecError: Error, Sendable, Equatable {
  /// The configuration, or a request for a frame, contradicts itself or is outside the range of the
  /// standard or of the codec.
  case invalidConfiguration(String)
  /// The codec does not have the feature that was asked for.
  case unsupported(String)
  /// The compressed data is damaged.
  case badData(String)
  /// The pictures that a frame is predicted from are missing.
  case missingReferences
  /// The codec itself failed.
  case malfunction(String)
  /// There was not enough memory.
  case outOfMemory
}
