// SPDX-License-Identifier: Apache-2.0
import CoreMedia

// Keys of what no decoder here does. Each session answers `kVTPropertyNotSupportedErr` to them.

// MARK: - HDR metadata of each frame

/// Attach the metadata that the stream carries for its frames to the images. Boolean.
public nonisolated(unsafe) let kVTDecompressionPropertyKey_PropagatePerFrameHDRDisplayMetadata: CFString =
  "PropagatePerFrameHDRDisplayMetadata"
/// Make such metadata from the images. Boolean.
public nonisolated(unsafe) let kVTDecompressionPropertyKey_GeneratePerFrameHDRDisplayMetadata: CFString =
  "GeneratePerFrameHDRDisplayMetadata"

// MARK: - Several views in one stream, and raw formats

/// The layers of an MV-HEVC stream to decode. Array of numbers.
public nonisolated(unsafe) let kVTDecompressionPropertyKey_RequestedMVHEVCVideoLayerIDs: CFString =
  "RequestedMVHEVCVideoLayerIDs"
/// Whether the decoder gives sensor data. Read-only Boolean.
public nonisolated(unsafe) let kVTDecompressionPropertyKey_DecoderProducesRAWOutput: CFString =
  "DecoderProducesRAWOutput"
/// Give sensor data as they are. Boolean.
public nonisolated(unsafe) let kVTDecompressionPropertyKey_RequestRAWOutput: CFString = "RequestRAWOutput"

// MARK: - Options of a frame

/// For an analyser of pictures in the decoder: a rotation in degrees. Number.
public nonisolated(unsafe) let kVTDecodeFrameOptionKey_ContentAnalyzerRotation: CFString =
  "ContentAnalyzerRotation"
/// For an analyser of pictures in the decoder: the part of the picture. Dictionary of a rectangle.
public nonisolated(unsafe) let kVTDecodeFrameOptionKey_ContentAnalyzerCropRectangle: CFString =
  "ContentAnalyzerCropRectangle"
