// SPDX-License-Identifier: Apache-2.0
import CoreVideo
import VideoBitstream

// MARK: - Create

/// Creates a description of video.
///
/// - Parameters:
///   - allocator: Not used.
///   - codecType: The codec, or the pixel format of uncompressed video.
///   - width: The width of the stored picture in pixels.
///   - height: The height of the stored picture in pixels.
///   - extensions: Property list values by key.
///   - formatDescriptionOut: Receives the description.
/// - Returns: `kCMFormatDescriptionError_InvalidParameter` if the width or height is negative.
@discardableResult
public func CMVideoFormatDescriptionCreate(
  allocator: CFAllocator?, codecType: CMVideoCodecType, width: Int32, height: Int32,
  extensions: CFDictionary?, formatDescriptionOut: UnsafeMutablePointer<CMFormatDescription?>
) -> OSStatus {
  formatDescriptionOut.pointee = nil
  guard width >= 0, height >= 0 else { return kCMFormatDescriptionError_InvalidParameter }
  formatDescriptionOut.pointee = CMFormatDescription(
    mediaType: kCMMediaType_Video, mediaSubType: codecType,
    dimensions: CMVideoDimensions(width: width, height: height), extensions: extensions)
  return noErr
}

/// Creates a description of H.264 from its parameter sets.
///
/// The dimensions, the pixel aspect ratio, the colours and the number of fields are those of the
/// first sequence parameter set.
///
/// - Parameters:
///   - allocator: Not used.
///   - parameterSetCount: The number of parameter sets, at least 2: a sequence and a picture
///     parameter set.
///   - parameterSetPointers: NAL units with emulation prevention bytes, without start codes.
///   - parameterSetSizes: Their sizes in bytes.
///   - NALUnitHeaderLength: The size of the length field before each NAL unit of the samples: 1, 2
///     or 4 bytes.
///   - formatDescriptionOut: Receives the description.
/// - Returns: `kCMFormatDescriptionError_InvalidParameter` for an invalid number or size,
///   `kCMFormatDescriptionBridgeError_InvalidParameter` if the parameter sets are malformed.
@discardableResult
public func CMVideoFormatDescriptionCreateFromH264ParameterSets(
  allocator: CFAllocator?, parameterSetCount: Int,
  parameterSetPointers: UnsafePointer<UnsafePointer<UInt8>>, parameterSetSizes: UnsafePointer<Int>,
  nalUnitHeaderLength NALUnitHeaderLength: Int32,
  formatDescriptionOut: UnsafeMutablePointer<CMFormatDescription?>
) -> OSStatus {
  create(
    .h264, parameterSetCount, parameterSetPointers, parameterSetSizes, NALUnitHeaderLength, nil,
    formatDescriptionOut)
}

/// Creates a description of HEVC from its parameter sets. It is as
/// `CMVideoFormatDescriptionCreateFromH264ParameterSets`, except for two parameters:
/// `parameterSetCount` is at least 3, for a video, a sequence and a picture parameter set, and
/// `extensions` contains further extensions, or replaces those that follow from the parameter sets.
@discardableResult
public func CMVideoFormatDescriptionCreateFromHEVCParameterSets(
  allocator: CFAllocator?, parameterSetCount: Int,
  parameterSetPointers: UnsafePointer<UnsafePointer<UInt8>>, parameterSetSizes: UnsafePointer<Int>,
  nalUnitHeaderLength NALUnitHeaderLength: Int32, extensions: CFDictionary?,
  formatDescriptionOut: UnsafeMutablePointer<CMFormatDescription?>
) -> OSStatus {
  create(
    .hevc, parameterSetCount, parameterSetPointers, parameterSetSizes, NALUnitHeaderLength, extensions,
    formatDescriptionOut)
}

private func create(
  _ codec: NALCodec, _ count: Int, _ pointers: UnsafePointer<UnsafePointer<UInt8>>,
  _ sizes: UnsafePointer<Int>, _ lengthSize: Int32, _ extensions: CFDictionary?,
  _ output: UnsafeMutablePointer<CMFormatDescription?>
) -> OSStatus {
  output.pointee = nil
  guard count >= (codec == .h264 ? 2 : 3), (0..<count).allSatisfy({ sizes[$0] > 0 }) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  let sets = (0..<count).map { Data(bytes: pointers[$0], count: sizes[$0]) }
  switch CMFormatDescription.make(codec, sets, lengthSize: Int(lengthSize), extensions: extensions) {
  case .success(let description):
    output.pointee = description
    return noErr
  case .failure(let error): return error.status
  }
}

extension CMFormatDescription {
  static func make(_ codec: NALCodec, _ parameterSets: [Data], lengthSize: Int, extensions: CFDictionary?)
    -> Result<CMFormatDescription, SampleError>
  {
    parts(codec, parameterSets, lengthSize: lengthSize, extensions: extensions).map {
      CMFormatDescription(
        mediaType: kCMMediaType_Video, mediaSubType: $0.subType, dimensions: $0.description.dimensions,
        extensions: $0.extensions, configuration: $0.description.configuration)
    }
  }

  typealias Parts = (description: ParameterSetDescription, subType: FourCharCode, extensions: CFDictionary)

  static func parts(
    _ codec: NALCodec, _ parameterSets: [Data], lengthSize: Int, extensions: CFDictionary?
  ) -> Result<Parts, SampleError> {
    guard [1, 2, 4].contains(lengthSize), parameterSets.count >= (codec == .h264 ? 2 : 3) else {
      return .failure(SampleError(kCMFormatDescriptionError_InvalidParameter))
    }
    guard
      let description = try? ParameterSetDescription(
        codec: codec, parameterSets: parameterSets, lengthSize: lengthSize)
    else { return .failure(SampleError(kCMFormatDescriptionBridgeError_InvalidParameter)) }
    let all = description.extensions
    extensions?.enumerateKeysAndObjects { key, value, _ in
      guard let key = key as? String else { return }
      // The given atoms are added to the atom with the parameter sets.
      if key == kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms as String,
        let given = value as? [String: Any], let own = all[key as NSString] as? [String: Any]
      {
        all[key as NSString] = own.merging(given) { own, _ in own } as NSDictionary
      } else {
        all[key as NSString] = value
      }
    }
    return .success((description, codec == .h264 ? kCMVideoCodecType_H264 : kCMVideoCodecType_HEVC, all))
  }
}

// MARK: - Parameter sets

/// Gets a parameter set of H.264. Sequence parameter sets come before picture parameter sets.
///
/// - Parameters:
///   - videoDesc: A description of H.264.
///   - parameterSetIndex: The index of the parameter set, from 0.
///   - parameterSetPointerOut: Receives the NAL unit, which is valid as long as the description.
///   - parameterSetSizeOut: Receives its size in bytes.
///   - parameterSetCountOut: Receives the number of parameter sets.
///   - NALUnitHeaderLengthOut: Receives the size in bytes of the length field before each NAL unit
///     of the samples.
/// - Returns: `kCMFormatDescriptionBridgeError_InvalidParameter` if there is no such parameter set.
@discardableResult
public func CMVideoFormatDescriptionGetH264ParameterSetAtIndex(
  _ videoDesc: CMFormatDescription, parameterSetIndex: Int,
  parameterSetPointerOut: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
  parameterSetSizeOut: UnsafeMutablePointer<Int>?, parameterSetCountOut: UnsafeMutablePointer<Int>?,
  nalUnitHeaderLengthOut NALUnitHeaderLengthOut: UnsafeMutablePointer<Int32>?
) -> OSStatus {
  parameterSet(
    .h264, videoDesc, parameterSetIndex, parameterSetPointerOut, parameterSetSizeOut, parameterSetCountOut,
    NALUnitHeaderLengthOut)
}

/// Gets a parameter set of HEVC. Video parameter sets come first, then sequence and picture
/// parameter sets. See `CMVideoFormatDescriptionGetH264ParameterSetAtIndex` for the parameters.
@discardableResult
public func CMVideoFormatDescriptionGetHEVCParameterSetAtIndex(
  _ videoDesc: CMFormatDescription, parameterSetIndex: Int,
  parameterSetPointerOut: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
  parameterSetSizeOut: UnsafeMutablePointer<Int>?, parameterSetCountOut: UnsafeMutablePointer<Int>?,
  nalUnitHeaderLengthOut NALUnitHeaderLengthOut: UnsafeMutablePointer<Int32>?
) -> OSStatus {
  parameterSet(
    .hevc, videoDesc, parameterSetIndex, parameterSetPointerOut, parameterSetSizeOut, parameterSetCountOut,
    NALUnitHeaderLengthOut)
}

private func parameterSet(
  _ codec: NALCodec, _ description: CMFormatDescription, _ index: Int,
  _ pointerOut: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ sizeOut: UnsafeMutablePointer<Int>?,
  _ countOut: UnsafeMutablePointer<Int>?, _ lengthSizeOut: UnsafeMutablePointer<Int32>?
) -> OSStatus {
  pointerOut?.pointee = nil
  sizeOut?.pointee = 0
  guard let configuration = description.configuration, configuration.codec == codec else {
    countOut?.pointee = 0
    return kCMFormatDescriptionBridgeError_InvalidParameter
  }
  countOut?.pointee = configuration.parameterSets.count
  lengthSizeOut?.pointee = Int32(configuration.lengthSize)
  guard let set = description.parameterSet(at: index) else {
    return kCMFormatDescriptionBridgeError_InvalidParameter
  }
  pointerOut?.pointee = set.baseAddress
  sizeOut?.pointee = set.count
  return noErr
}

// MARK: - Geometry

/// Returns the width and height of the stored picture in pixels.
@discardableResult
public func CMVideoFormatDescriptionGetDimensions(_ videoDesc: CMVideoFormatDescription) -> CMVideoDimensions
{
  videoDesc.videoDimensions
}

/// Returns the width and height at which pictures are presented, in pixels.
///
/// - Parameters:
///   - videoDesc: A description of video.
///   - usePixelAspectRatio: Whether the width is scaled so that pixels are square.
///   - useCleanAperture: Whether the dimensions are those of the clean aperture.
@discardableResult
public func CMVideoFormatDescriptionGetPresentationDimensions(
  _ videoDesc: CMVideoFormatDescription, usePixelAspectRatio: Bool, useCleanAperture: Bool
) -> CGSize {
  var size = CGSize(
    width: CGFloat(videoDesc.videoDimensions.width), height: CGFloat(videoDesc.videoDimensions.height))
  if useCleanAperture {
    size = CMVideoFormatDescriptionGetCleanAperture(videoDesc, originIsAtTopLeft: true).size
  }
  if usePixelAspectRatio,
    let ratio = videoDesc.extensionValue(kCMFormatDescriptionExtension_PixelAspectRatio) as? NSDictionary,
    let horizontal = number(ratio, kCMFormatDescriptionKey_PixelAspectRatioHorizontalSpacing),
    let vertical = number(ratio, kCMFormatDescriptionKey_PixelAspectRatioVerticalSpacing), horizontal > 0,
    vertical > 0
  {
    size.width = size.width * CGFloat(horizontal) / CGFloat(vertical)
  }
  return size
}

/// Returns the part of the picture that is presented, in pixels; all of it without a clean
/// aperture.
///
/// - Parameters:
///   - videoDesc: A description of video.
///   - originIsAtTopLeft: Whether the y axis points down from the top; otherwise it points up from
///     the bottom.
@discardableResult
public func CMVideoFormatDescriptionGetCleanAperture(
  _ videoDesc: CMVideoFormatDescription, originIsAtTopLeft: Bool
) -> CGRect {
  let width = Double(videoDesc.videoDimensions.width)
  let height = Double(videoDesc.videoDimensions.height)
  guard
    let aperture = videoDesc.extensionValue(kCMFormatDescriptionExtension_CleanAperture) as? NSDictionary,
    let cleanWidth = rational(
      aperture, kCMFormatDescriptionKey_CleanApertureWidthRational, kCMFormatDescriptionKey_CleanApertureWidth
    ),
    let cleanHeight = rational(
      aperture, kCMFormatDescriptionKey_CleanApertureHeightRational,
      kCMFormatDescriptionKey_CleanApertureHeight)
  else { return CGRect(x: 0, y: 0, width: width, height: height) }
  let offsetX =
    rational(
      aperture, kCMFormatDescriptionKey_CleanApertureHorizontalOffsetRational,
      kCMFormatDescriptionKey_CleanApertureHorizontalOffset) ?? 0
  let offsetY =
    rational(
      aperture, kCMFormatDescriptionKey_CleanApertureVerticalOffsetRational,
      kCMFormatDescriptionKey_CleanApertureVerticalOffset) ?? 0
  let top = (height - cleanHeight) / 2 + offsetY
  return CGRect(
    x: (width - cleanWidth) / 2 + offsetX, y: originIsAtTopLeft ? top : height - top - cleanHeight,
    width: cleanWidth, height: cleanHeight)
}

private func number(_ dictionary: NSDictionary, _ key: CFString) -> Double? {
  (dictionary.object(forKey: key) as? NSNumber)?.doubleValue
}

/// Returns a value that is stored as numerator and denominator, or as a number.
private func rational(_ dictionary: NSDictionary, _ rationalKey: CFString, _ key: CFString) -> Double? {
  if let parts = dictionary.object(forKey: rationalKey) as? [NSNumber], parts.count == 2,
    parts[1].doubleValue != 0
  {
    return parts[0].doubleValue / parts[1].doubleValue
  }
  return number(dictionary, key)
}
