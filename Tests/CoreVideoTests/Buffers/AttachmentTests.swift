// SPDX-License-Identifier: Apache-2.0
import CoreVideo
import Testing

@Suite struct AttachmentTests {
  @Test func attachmentsAreSetReadAndRemoved() throws {
    let buffer = try makeBuffer(16, 16, kCVPixelFormatType_32BGRA)
    CVBufferSetAttachment(
      buffer, kCVImageBufferYCbCrMatrixKey, kCVImageBufferYCbCrMatrix_ITU_R_709_2, .shouldPropagate)
    CVBufferSetAttachment(buffer, "private" as CFString, 5 as CFNumber, .shouldNotPropagate)
    var mode = CVAttachmentMode.shouldNotPropagate
    let matrix = CVBufferGetAttachment(buffer, kCVImageBufferYCbCrMatrixKey, &mode)?.takeUnretainedValue()
    #expect(matrix as? String == "ITU_R_709_2" && mode == .shouldPropagate)
    #expect(
      CVBufferCopyAttachment(buffer, "private" as CFString, &mode) as? Int == 5 && mode == .shouldNotPropagate
    )
    #expect(CVBufferGetAttachments(buffer, .shouldPropagate)?.count == 1)
    #expect((CVBufferCopyAttachments(buffer, .shouldNotPropagate) as? [String: Int]) == ["private": 5])
    CVBufferRemoveAttachment(buffer, "private" as CFString)
    #expect(CVBufferGetAttachments(buffer, .shouldNotPropagate) == nil)
    CVBufferRemoveAllAttachments(buffer)
    #expect(!CVBufferHasAttachment(buffer, kCVImageBufferYCbCrMatrixKey))
    #expect(CVBufferGetAttachment(buffer, kCVImageBufferYCbCrMatrixKey, nil) == nil)
  }

  @Test func attachmentsPropagateByTheirMode() throws {
    let source = try makeBuffer(16, 16, kCVPixelFormatType_32BGRA)
    let target = try makeBuffer(16, 16, kCVPixelFormatType_32BGRA)
    CVBufferSetAttachments(source, ["a": 1, "b": 2] as CFDictionary, .shouldPropagate)
    CVBufferSetAttachment(source, "c" as CFString, 3 as CFNumber, .shouldNotPropagate)
    CVBufferSetAttachment(target, "a" as CFString, 9 as CFNumber, .shouldNotPropagate)
    CVBufferPropagateAttachments(source, target)
    #expect((CVBufferCopyAttachments(target, .shouldPropagate) as? [String: Int]) == ["a": 1, "b": 2])
    #expect(CVBufferCopyAttachments(target, .shouldNotPropagate) == nil)
  }

  @Test func attributesBringAttachments() throws {
    let buffer = try makeBuffer(
      16, 16, kCVPixelFormatType_32BGRA,
      [kCVBufferPropagatedAttachmentsKey: [kCVImageBufferFieldCountKey: 1] as [CFString: Any]])
    #expect(CVBufferCopyAttachment(buffer, kCVImageBufferFieldCountKey, nil) as? Int == 1)
  }

  @Test func theDisplayedSizeFollowsTheAttachments() throws {
    let buffer = try makeBuffer(720, 480, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange)
    #expect(CVImageBufferGetEncodedSize(buffer) == CGSize(width: 720, height: 480))
    #expect(CVImageBufferGetCleanRect(buffer) == CGRect(x: 0, y: 0, width: 720, height: 480))
    CVBufferSetAttachment(
      buffer, kCVImageBufferCleanApertureKey,
      [
        kCVImageBufferCleanApertureWidthKey: 704, kCVImageBufferCleanApertureHeightKey: 480,
        kCVImageBufferCleanApertureHorizontalOffsetKey: 0, kCVImageBufferCleanApertureVerticalOffsetKey: 0,
      ] as CFDictionary, .shouldPropagate)
    CVBufferSetAttachment(
      buffer, kCVImageBufferPixelAspectRatioKey,
      [
        kCVImageBufferPixelAspectRatioHorizontalSpacingKey: 10,
        kCVImageBufferPixelAspectRatioVerticalSpacingKey: 11,
      ] as CFDictionary, .shouldPropagate)
    #expect(CVImageBufferGetCleanRect(buffer) == CGRect(x: 8, y: 0, width: 704, height: 480))
    #expect(CVImageBufferGetDisplaySize(buffer) == CGSize(width: 640, height: 480))
    CVBufferSetAttachment(
      buffer, kCVImageBufferDisplayDimensionsKey,
      [kCVImageBufferDisplayWidthKey: 654, kCVImageBufferDisplayHeightKey: 480] as CFDictionary,
      .shouldPropagate)
    #expect(CVImageBufferGetDisplaySize(buffer) == CGSize(width: 654, height: 480))
    #expect(CVImageBufferIsFlipped(buffer))
  }

  @Test func colorCodePointsAndNamesCorrespond() {
    for point: Int32 in [1, 6, 7, 9, 11, 12] {
      let name = CVYCbCrMatrixGetStringForIntegerCodePoint(point)?.takeUnretainedValue()
      #expect(CVYCbCrMatrixGetIntegerCodePointForString(name) == point)
    }
    for point: Int32 in [1, 5, 6, 9, 11, 12, 22] {
      let name = CVColorPrimariesGetStringForIntegerCodePoint(point)?.takeUnretainedValue()
      #expect(CVColorPrimariesGetIntegerCodePointForString(name) == point)
    }
    for point: Int32 in [1, 7, 8, 13, 14, 16, 17, 18] {
      let name = CVTransferFunctionGetStringForIntegerCodePoint(point)?.takeUnretainedValue()
      #expect(CVTransferFunctionGetIntegerCodePointForString(name) == point)
    }
    #expect(CVYCbCrMatrixGetIntegerCodePointForString(nil) == 2)
    #expect(CVColorPrimariesGetIntegerCodePointForString("nonsense" as CFString) == 2)
    #expect(CVTransferFunctionGetStringForIntegerCodePoint(2) == nil)
  }

  @Test func colorSpacesAreMadeFromAttachments() throws {
    let attachments =
      [
        kCVImageBufferColorPrimariesKey: kCVImageBufferColorPrimaries_ITU_R_709_2,
        kCVImageBufferTransferFunctionKey: kCVImageBufferTransferFunction_ITU_R_709_2,
        kCVImageBufferYCbCrMatrixKey: kCVImageBufferYCbCrMatrix_ITU_R_709_2,
      ] as CFDictionary
    let space = CVImageBufferCreateColorSpaceFromAttachments(attachments)?.takeRetainedValue()
    #expect(space == CGColorSpace(name: CGColorSpace.itur_709))
    #expect(CVImageBufferCreateColorSpaceFromAttachments([:] as CFDictionary) == nil)
    let buffer = try makeBuffer(16, 16, kCVPixelFormatType_32BGRA)
    #expect(CVImageBufferGetColorSpace(buffer) == nil)
    CVBufferSetAttachments(buffer, attachments, .shouldPropagate)
    #expect(CVImageBufferGetColorSpace(buffer)?.takeUnretainedValue() == space)
    #expect(CGColorSpace(name: "nonsense" as CFString) == nil)
    #expect(CGColorSpace(iccData: Data(count: 200) as CFData) == nil)
  }
}
