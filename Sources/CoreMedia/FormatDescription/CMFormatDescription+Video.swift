// SPDX-License-Identifier: Apache-2.0
import CoreVideo
import VideoBitstream

extension CMFormatDescription {
  // MARK: - Create

  /// Creates a description of video; see `CMVideoFormatDescriptionCreate`.
  /// - Throws: `CMFormatDescription.Error.invalidParameter` if the width or height is negative or
  ///   too large.
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
  /// - Throws: An `NSError` with the status of that function.
  public convenience init(h264ParameterSets: [Data], nalUnitHeaderLength: Int = 4) throws {
    try self.init(.h264, h264ParameterSets, nalUnitHeaderLength, nil)
  }

  /// Creates a description of HEVC; see `CMVideoFormatDescriptionCreateFromHEVCParameterSets`.
  /// - Throws: An `NSError` with the status of that function.
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

  /// The parameter sets of H.264 or HEVC, ordered by index.
  public struct ParameterSetCollection: RandomAccessCollection, Sendable {
    let sets: [Data]
    public var startIndex: Int { 0 }
    public var endIndex: Int { sets.count }
    /// The parameter set at an index: a NAL unit without a start code.
    public subscript(position: Int) -> Data { sets[position] }
  }

  /// The size in bytes of the length field before each NAL unit of the samples; nil without
  /// parameter sets.
  public var nalUnitHeaderLength: Int? { configuration?.lengthSize }

  /// The parameter sets of H.264 or HEVC; empty for other formats.
  public var parameterSets: ParameterSetCollection {
    ParameterSetCollection(sets: configuration?.parameterSets ?? [])
  }

  // MARK: - Geometry

  /// The width and height of the stored picture in pixels.
  public var dimensions: CMVideoDimensions { videoDimensions }

  /// Returns the width and height at which pictures are presented.
  public func presentationDimensions(usePixelAspectRatio: Bool = true, useCleanAperture: Bool = true)
    -> CGSize
  {
    CMVideoFormatDescriptionGetPresentationDimensions(
      self, usePixelAspectRatio: usePixelAspectRatio, useCleanAperture: useCleanAperture)
  }

  /// Returns the part of the picture that is presented, in pixels; all of it without a clean
  /// aperture.
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

  /// Returns whether this describes an image buffer; see
  /// `CMVideoFormatDescriptionMatchesImageBuffer`.
  public func matchesImageBuffer(_ imageBuffer: CVImageBuffer) -> Bool {
    CMVideoFormatDescriptionMatchesImageBuffer(self, imageBuffer: imageBuffer)
  }
}
