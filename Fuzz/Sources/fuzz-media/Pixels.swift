// SPDX-License-Identifier: Apache-2.0
import CoreVideo
import Foundation
import FuzzDriver
import VideoToolbox

private let formats: [OSType] = [
  kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, kCVPixelFormatType_420YpCbCr8BiPlanarFullRange,
  kCVPixelFormatType_420YpCbCr8Planar, kCVPixelFormatType_422YpCbCr8, kCVPixelFormatType_422YpCbCr8_yuvs,
  kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange, kCVPixelFormatType_422YpCbCr10BiPlanarVideoRange,
  kCVPixelFormatType_444YpCbCr10BiPlanarFullRange, kCVPixelFormatType_4444AYpCbCr16,
  kCVPixelFormatType_32BGRA,
  kCVPixelFormatType_32ARGB, kCVPixelFormatType_24RGB, kCVPixelFormatType_64RGBALE,
  kCVPixelFormatType_OneComponent8,
  kCVPixelFormatType_16LE565, kCVPixelFormatType_422YpCbCr10, kCVPixelFormatType_128RGBAFloat,
  kCVPixelFormatType_422YpCbCr16, kCVPixelFormatType_444YpCbCr10, kCVPixelFormatType_444YpCbCr8,
  kCVPixelFormatType_4444YpCbCrA8, kCVPixelFormatType_4444AYpCbCr8, kCVPixelFormatType_64ARGB,
]

/// Converts and rotates pictures of any format and size, in memory that ends with their last
/// sample, with arbitrary attachments.
@Sendable func fuzzPixels(_ input: inout FuzzInput) {
  var sessions: (VTPixelTransferSession?, VTPixelRotationSession?) = (nil, nil)
  VTPixelTransferSessionCreate(allocator: nil, pixelTransferSessionOut: &sessions.0)
  VTPixelRotationSessionCreate(nil, &sessions.1)
  guard let transfer = sessions.0, let rotation = sessions.1 else { return }
  let modes = [
    kVTScalingMode_Normal, kVTScalingMode_CropSourceToCleanAperture, kVTScalingMode_Letterbox,
    kVTScalingMode_Trim,
  ]
  for _ in 0..<4 where !input.isEmpty {
    guard let source = picture(&input), let target = picture(&input) else { continue }
    VTSessionSetProperty(
      transfer, key: kVTPixelTransferPropertyKey_ScalingMode, value: modes[Int(input.byte()) % modes.count])
    VTSessionSetProperty(
      transfer, key: kVTPixelTransferPropertyKey_DestinationCleanAperture,
      value: aperture(&input))
    VTPixelTransferSessionTransferImage(transfer, from: source, to: target)
    let turns = [kVTRotation_0, kVTRotation_CW90, kVTRotation_180, kVTRotation_CCW90]
    VTSessionSetProperty(
      rotation, key: kVTPixelRotationPropertyKey_Rotation, value: turns[Int(input.byte()) % 4])
    VTPixelRotationSessionRotateImage(rotation, source, target)
  }
  VTPixelTransferSessionInvalidate(transfer)
  VTPixelRotationSessionInvalidate(rotation)
}

private func picture(_ input: inout FuzzInput) -> CVPixelBuffer? {
  let format = formats[Int(input.byte()) % formats.count]
  let (width, height) = (Int(input.byte() % 80) + 1, Int(input.byte() % 60) + 1)
  var made: CVPixelBuffer?
  CVPixelBufferCreate(nil, width, height, format, nil, &made)
  if input.byte() & 1 != 0, let model = made, !CVPixelBufferIsPlanar(model) {
    // The picture in memory of exactly its size, so that AddressSanitizer finds accesses beyond it.
    // Some rows have two bytes of padding.
    let bytesPerRow = (bytesOfRow(format, width) + Int(input.byte() & 2))
    if let memory = malloc(bytesPerRow * height) {
      memset(memory, Int32(input.byte()), bytesPerRow * height)
      var wrapped: CVPixelBuffer?
      let result = CVPixelBufferCreateWithBytes(
        nil, width, height, format, memory, bytesPerRow,
        { _, base in free(UnsafeMutableRawPointer(mutating: base)) }, nil,
        nil, &wrapped)
      if result == kCVReturnSuccess { made = wrapped } else { free(memory) }
    }
  }
  guard let made else { return nil }
  if input.byte() & 1 != 0 {
    CVBufferSetAttachment(made, kCVImageBufferCleanApertureKey, aperture(&input), .shouldPropagate)
  }
  if input.byte() & 1 != 0 {
    let aspect: NSDictionary = [
      kCVImageBufferPixelAspectRatioHorizontalSpacingKey: NSNumber(value: input.real()),
      kCVImageBufferPixelAspectRatioVerticalSpacingKey: NSNumber(value: input.real()),
    ]
    CVBufferSetAttachment(made, kCVImageBufferPixelAspectRatioKey, aspect, .shouldPropagate)
  }
  if input.byte() & 1 != 0 {
    CVBufferSetAttachment(
      made, kCVImageBufferYCbCrMatrixKey,
      [kCVImageBufferYCbCrMatrix_ITU_R_2020, kCVImageBufferYCbCrMatrix_ITU_R_601_4][Int(input.byte()) % 2],
      .shouldPropagate)
  }
  return made
}

private func bytesOfRow(_ format: OSType, _ width: Int) -> Int {
  switch format {
  case kCVPixelFormatType_422YpCbCr8, kCVPixelFormatType_422YpCbCr8_yuvs: (width + 1) / 2 * 4
  case kCVPixelFormatType_24RGB, kCVPixelFormatType_444YpCbCr8: width * 3
  case kCVPixelFormatType_422YpCbCr16: (width + 1) / 2 * 8
  case kCVPixelFormatType_OneComponent8: width
  case kCVPixelFormatType_16LE565: width * 2
  case kCVPixelFormatType_64RGBALE, kCVPixelFormatType_4444AYpCbCr16, kCVPixelFormatType_64ARGB:
    width * 8
  case kCVPixelFormatType_128RGBAFloat: width * 16
  case kCVPixelFormatType_422YpCbCr10: (width + 5) / 6 * 16
  default: width * 4
  }
}

private func aperture(_ input: inout FuzzInput) -> NSDictionary {
  [
    kCVImageBufferCleanApertureWidthKey: NSNumber(value: input.real()),
    kCVImageBufferCleanApertureHeightKey: NSNumber(value: input.real()),
    kCVImageBufferCleanApertureHorizontalOffsetKey: NSNumber(value: input.real()),
    kCVImageBufferCleanApertureVerticalOffsetKey: NSNumber(value: input.real()),
  ]
}
