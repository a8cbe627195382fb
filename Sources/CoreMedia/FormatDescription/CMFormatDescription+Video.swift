// SPDX-License-Identifier: Apache-2.0
import CoreVideo
import VideoBitstream

extension CMFormatDescription {
  // MARK: - Create

  /// Creates a description of video; see `CMVideoFormatDescriptionCreate`.
  public convenience init(
    videoCodecType: MediaSubType, width: Int, height: Int, extensions: Extensions? = nil
  ) throws {
    guard let width = Int32(exactly: width), let height = Int32(exactly: height), width >= 0, height >= 0
    else {
      throw Error.invalidParameter
    }
    self.init(
      mediaType: kCMMediaType_Video, mediaSubType: videoCodecType.rawValue,
      dimensions: CMVideoDimensions(width: width, height: height), extensions: extensions?.dictionary)
  }

  /// Creates a description of an image buffer; see `CMVideoFormatDescriptionCreateForImageBuffer`.
  public convenience init(imageBuffer: CVImageBuffer) throws {
    self.init(describing: imageBuffer)
  }

  /// Creates a description of H.264; see `CMVideoFormatDescriptionCreateFromH264ParameterSets`.
  public convenience init(h264ParameterSets: [Data], nalUnitHeaderLength: Int = 4) throws {
    try self.init(.h264, h264ParameterSets, nalUnitHeaderLength, nil)
  }

  /// Creates a description of HEVC; see `CMVideoFormatDescriptionCreateFromHEVCParameterSets`.
  public convenience init(
    hevcParameterSets: [Data], nalUnitHeaderLength: Int = 4, extensions: Extensions? = nil
  ) throws {
    try self.init(.hevc, hevcParameterSets, nalUnitHeaderLength, extensions?.dictionary)
  }

  private convenience init(
    _ codec: NALCodec, _ sets: [Data], _ lengthSize: Int, _ extensions: CFDictionary?
  ) throws {
    switch Self.parts(codec, sets, lengthSize: lengthSize, extensions: extensions) {
    case .success(let parts):
      self.init(
        mediaType: kCMMediaType_Video, mediaSubType: parts.subType, dimensions: parts.description.dimensions,
        extensions: parts.extensions, configuration: parts.description.configuration)
    case .failure(let error): throw osStatusError(error.status)
    }
  }

  // MARK: - Parameter sets

  /// The parameter sets of H.264 or HEVC, in the order of their index.
  public struct ParameterSetCollection: RandomAccessCollection, Sendable {
    let sets: [Data]
    public var startIndex: Int { 0 }
    public var endIndex: Int { sets.count }
    /// A NAL unit, without a start code.
    public subscript(position: Int) -> Data { sets[position] }
  }

  /// The size of the length before each NAL unit of the samples, in bytes; nil without parameter sets.
  public var nalUnitHeaderLength: Int? { configuration?.lengthSize }

  /// The parameter sets of H.264 or HEVC; empty for other formats.
  public var parameterSets: ParameterSetCollection {
    ParameterSetCollection(sets: configuration?.parameterSets ?? [])
  }

  // MARK: - Geometry

  /// The width and height in pixels, as they are stored.
  public var dimensions: CMVideoDimensions { videoDimensions }

  /// The width and height that pictures are to be shown with.
  public func presentationDimensions(usePixelAspectRatio: Bool = true, useCleanAperture: Bool = true)
    -> CGSize
  {
    CMVideoFormatDescriptionGetPresentationDimensions(
      self, usePixelAspectRatio: usePixelAspectRatio, useCleanAperture: useCleanAperture)
  }

  /// The part of the picture that is to be shown, in pixels.
  public func cleanAperture(originIsAtTopLeft: Bool) -> CGRect {
    CMVideoFormatDescriptionGetCleanAperture(self, originIsAtTopLeft: originIsAtTopLeft)
  }

  // MARK: - Image buffers

  /// The keys of the extensions that are compared with an image buffer's attachments.
  public static var extensionKeysCommonWithImageBuffers: [Extensions.Key] {
    (CMVideoFormatDescriptionGetExtensionKeysCommonWithImageBuffers() as? [String] ?? []).map {
      Extensions.Key(rawValue: $0 as CFString)
    }
  }

  /// Whether this describes an image buffer; see `CMVideoFormatDescriptionMatchesImageBuffer`.
  public func matchesImageBuffer(_ imageBuffer: CVImageBuffer) -> Bool {
    CMVideoFormatDescriptionMatchesImageBuffer(self, imageBuffer: imageBuffer)
  }
}
