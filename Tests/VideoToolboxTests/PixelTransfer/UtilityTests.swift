// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Testing
import VideoToolbox

@Suite struct UtilityTests {
  /// Every pixel of a picture in known colours.
  @Test func imagesHaveThePicturesColours() throws {
    for (format, alpha) in [
      (kCVPixelFormatType_32BGRA, CGImageAlphaInfo.premultipliedFirst),
      (kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, .noneSkipFirst),
      (kCVPixelFormatType_24RGB, .noneSkipFirst),
    ] {
      var buffer: CVPixelBuffer?
      CVPixelBufferCreate(nil, 34, 18, format, nil, &buffer)
      let picture = try #require(buffer)
      CVPixelBufferLockBaseAddress(picture, [])
      for plane in 0..<max(1, CVPixelBufferGetPlaneCount(picture)) {
        let base = try #require(CVPixelBufferGetBaseAddressOfPlane(picture, plane))
        let size =
          CVPixelBufferGetBytesPerRowOfPlane(picture, plane) * CVPixelBufferGetHeightOfPlane(picture, plane)
        // Grey: luma 126 in the video range is 128.
        memset(base, plane == 1 || !CVPixelBufferIsPlanar(picture) ? 128 : 126, size)
      }
      CVPixelBufferUnlockBaseAddress(picture, [])
      var made: CGImage?
      #expect(VTCreateCGImageFromCVPixelBuffer(picture, options: nil, imageOut: &made) == noErr)
      let image = try #require(made)
      #expect(image.width == 34 && image.height == 18 && image.bytesPerRow == 34 * 4)
      #expect(image.alphaInfo == alpha)
      #expect(image.colorSpace?.name == CGColorSpace.sRGB)
      let bytes = try #require(image.dataProvider?.data as Data?)
      #expect(bytes.count == 34 * 18 * 4)
      for (index, byte) in bytes.enumerated() where index % 4 != 3 { #expect(abs(Int(byte) - 128) <= 2) }
    }
  }

  /// Which images of alpha that is not multiplied say, and pictures that have none do not.
  @Test func imagesSayHowAlphaIsMeant() throws {
    var buffer: CVPixelBuffer?
    CVPixelBufferCreate(nil, 32, 16, kCVPixelFormatType_32ARGB, nil, &buffer)
    let source = try #require(buffer)
    CVBufferSetAttachment(
      source, kCVImageBufferAlphaChannelModeKey, kCVImageBufferAlphaChannelMode_StraightAlpha,
      .shouldPropagate)
    var image: CGImage?
    #expect(VTCreateCGImageFromCVPixelBuffer(source, options: nil, imageOut: &image) == noErr)
    #expect(image?.alphaInfo == .first)
    var session: VTPixelTransferSession?
    VTPixelTransferSessionCreate(allocator: nil, pixelTransferSessionOut: &session)
    for (format, keeps) in [
      (kCVPixelFormatType_32BGRA, true), (kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, false),
    ] {
      CVPixelBufferCreate(nil, 32, 16, format, nil, &buffer)
      let target = try #require(buffer)
      #expect(VTPixelTransferSessionTransferImage(try #require(session), from: source, to: target) == noErr)
      #expect(CVBufferHasAttachment(target, kCVImageBufferAlphaChannelModeKey) == keeps)
    }
    // Attachments of another picture are removed.
    CVBufferRemoveAttachment(source, kCVImageBufferAlphaChannelModeKey)
    CVPixelBufferCreate(nil, 32, 16, kCVPixelFormatType_32BGRA, nil, &buffer)
    let used = try #require(buffer)
    CVBufferSetAttachment(
      used, kCVImageBufferAlphaChannelModeKey, kCVImageBufferAlphaChannelMode_StraightAlpha, .shouldPropagate)
    #expect(VTPixelTransferSessionTransferImage(try #require(session), from: source, to: used) == noErr)
    #expect(!CVBufferHasAttachment(used, kCVImageBufferAlphaChannelModeKey))
  }

  /// Colours are not converted, so the image is in the buffer's space.
  @Test func imagesSayWhichColoursTheyHave() throws {
    var buffer: CVPixelBuffer?
    CVPixelBufferCreate(nil, 32, 32, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, nil, &buffer)
    let picture = try #require(buffer)
    for (key, value) in [
      (kCVImageBufferColorPrimariesKey, kCVImageBufferColorPrimaries_P3_D65),
      (kCVImageBufferTransferFunctionKey, kCVImageBufferTransferFunction_sRGB),
      (kCVImageBufferYCbCrMatrixKey, kCVImageBufferYCbCrMatrix_ITU_R_709_2),
    ] { CVBufferSetAttachment(picture, key, value, .shouldPropagate) }
    var image: CGImage?
    #expect(VTCreateCGImageFromCVPixelBuffer(picture, options: nil, imageOut: &image) == noErr)
    #expect(image?.colorSpace?.name == CGColorSpace.displayP3)
  }

  @Test func aBufferThatCannotBeReadGivesAnError() throws {
    var buffer: CVPixelBuffer?
    CVPixelBufferCreate(nil, 32, 32, kCVPixelFormatType_1Monochrome, nil, &buffer)
    var image: CGImage?
    if let buffer {
      #expect(VTCreateCGImageFromCVPixelBuffer(buffer, options: nil, imageOut: &image) != noErr)
      #expect(image == nil)
    }
  }
}
