// SPDX-License-Identifier: Apache-2.0
import CoreVideo
import VideoBitstream

// MARK: - Create

/// Creates a description of video.
///
/// Of the parameters:
///
/// - `codecType`: The codec, or the pixel format of uncompressed video.
/// - `width`: In pixels, as they are stored.
/// - `extensions`: Property list values by key.
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
/// Dimensions, shape of the pixels, colour and fields are taken from the first sequence parameter
/// set.
///
/// Of the parameters:
///
/// - `parameterSetCount`: At least 2: a sequence and a picture parameter set.
/// - `parameterSetPointers`: NAL units, with emulation prevention bytes, without start codes.
/// - `nalUnitHeaderLength`: The size of the length before each NAL unit of the samples: 1, 2 or 4
///   bytes.
/// - Returns: `kCMFormatDescriptionError_InvalidParameter`, or
///   `kCMFormatDescriptionBridgeError_InvalidParameter` if the parameter sets cannot be read.
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

/// Creates a description of HEVC from its parameter sets.
///
/// Of the parameters:
///
/// - `parameterSetCount`: At least 3: a video, a sequence and a picture parameter set.
/// - `extensions`: More extensions, or others than those that the parameter sets say.
/// See `CMVideoFormatDescriptionCreateFromH264ParameterSets` for the rest.
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
      // The atoms that are given come on top of the one with the parameter sets.
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

/// Finds a parameter set of H.264: sequence parameter sets come first, then picture parameter sets.
///
/// Of the parameters:
///
/// - `parameterSetPointerOut`: The NAL unit; it lives as long as the format description.
/// - `nalUnitHeaderLengthOut`: The size of the length before each NAL unit of the samples, in
///   bytes.
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

/// Finds a parameter set of HEVC: video, sequence and picture parameter sets, in that order.
///
/// See `CMVideoFormatDescriptionGetH264ParameterSetAtIndex`.
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

/// The width and height in pixels, as they are stored.
@discardableResult
public func CMVideoFormatDescriptionGetDimensions(_ videoDesc: CMVideoFormatDescription) -> CMVideoDimensions
{
  videoDesc.videoDimensions
}

/// The width and height that pictures are to be shown with.
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

/// The part of the picture that is to be shown, in pixels; all of it if there is no clean aperture.
///
/// Of the parameters:
///
/// - `originIsAtTopLeft`: Whether y grows downwards from the top or upwards from the bottom.
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

/// A value as numerator and denominator, or as a plain number.
private func rational(_ dictionary: NSDictionary, _ rationalKey: CFString, _ key: CFString) -> Double? {
  if let parts = dictionary.object(forKey: rationalKey) as? [NSNumber], parts.count == 2,
    parts[1].doubleValue != 0
  {
    return parts[0].doubleValue / parts[1].doubleValue
  }
  return number(dictionary, key)
}
