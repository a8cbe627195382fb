// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Testing
import VideoToolbox

/// A buffer of one byte a pixel, filled by a function of x and y.
private func gray(_ width: Int, _ height: Int, _ value: (Int, Int) -> Int) throws -> CVPixelBuffer {
  let buffer = try #require(makeBuffer(width, height, kCVPixelFormatType_OneComponent8))
  CVPixelBufferLockBaseAddress(buffer, [])
  defer { CVPixelBufferUnlockBaseAddress(buffer, []) }
  let base = try #require(CVPixelBufferGetBaseAddress(buffer)).assumingMemoryBound(to: UInt8.self)
  for y in 0..<height {
    for x in 0..<width { base[y * CVPixelBufferGetBytesPerRow(buffer) + x] = UInt8(clamping: value(x, y)) }
  }
  return buffer
}

/// A buffer of one BGRA colour.
private func solid(_ width: Int, _ height: Int, _ pixel: [UInt8]) throws -> CVPixelBuffer {
  let buffer = try #require(makeBuffer(width, height, kCVPixelFormatType_32BGRA))
  CVPixelBufferLockBaseAddress(buffer, [])
  defer { CVPixelBufferUnlockBaseAddress(buffer, []) }
  let base = try #require(CVPixelBufferGetBaseAddress(buffer)).assumingMemoryBound(to: UInt8.self)
  for y in 0..<height {
    for x in 0..<width {
      for c in 0..<4 { base[y * CVPixelBufferGetBytesPerRow(buffer) + 4 * x + c] = pixel[c] }
    }
  }
  return buffer
}

private func pixel(_ buffer: CVPixelBuffer, _ x: Int, _ y: Int, bytes: Int = 1) -> [Int] {
  CVPixelBufferLockBaseAddress(buffer, .readOnly)
  defer { CVPixelBufferUnlockBaseAddress(buffer, .readOnly) }
  guard let base = CVPixelBufferGetBaseAddress(buffer) else { return [] }
  let row = base + y * CVPixelBufferGetBytesPerRow(buffer) + x * bytes
  return UnsafeRawBufferPointer(start: row, count: bytes).map { Int($0) }
}

private func makeTransfer(_ properties: [CFString: Any] = [:]) throws -> VTPixelTransferSession {
  var session: VTPixelTransferSession?
  try check(VTPixelTransferSessionCreate(allocator: nil, pixelTransferSessionOut: &session), "create")
  let made = try #require(session)
  try check(VTSessionSetProperties(made, propertyDictionary: properties as CFDictionary), "properties")
  return made
}

@Suite struct PixelTransferTests {
  @Test(
    "Greys stay grey on their way through 4:2:0",
    arguments: [
      kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, kCVPixelFormatType_420YpCbCr8BiPlanarFullRange,
      kCVPixelFormatType_420YpCbCr8Planar, kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange,
      kCVPixelFormatType_422YpCbCr8,
    ])
  func greysStayGrey(format: OSType) throws {
    let session = try makeTransfer()
    for level in stride(from: 0, through: 255, by: 5) {
      let source = try solid(16, 16, [UInt8(level), UInt8(level), UInt8(level), 255])
      let middle = try #require(makeBuffer(16, 16, format))
      let target = try #require(makeBuffer(16, 16, kCVPixelFormatType_32BGRA))
      try check(VTPixelTransferSessionTransferImage(session, from: source, to: middle), "to 4:2:0")
      try check(VTPixelTransferSessionTransferImage(session, from: middle, to: target), "to BGRA")
      let result = pixel(target, 7, 7, bytes: 4)
      #expect(result[0] == result[1] && result[1] == result[2], "\(level): \(result)")
      #expect(abs(result[0] - level) <= 1, "\(level): \(result)")
    }
  }

  /// A buffer that is used again tells of the picture that it holds now.
  @Test func attachmentsOfThePictureBeforeAreRemoved() throws {
    let session = try makeTransfer()
    let target = try #require(makeBuffer(64, 48, kCVPixelFormatType_32BGRA))
    let first = try #require(makeBuffer(64, 48, kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange))
    for (key, value) in [
      (kCVImageBufferColorPrimariesKey, kCVImageBufferColorPrimaries_ITU_R_2020),
      (kCVImageBufferTransferFunctionKey, kCVImageBufferTransferFunction_SMPTE_ST_2084_PQ),
      (kCVImageBufferYCbCrMatrixKey, kCVImageBufferYCbCrMatrix_ITU_R_2020),
      (kCVImageBufferMasteringDisplayColorVolumeKey, Data(count: 24) as CFData),
    ] as [(CFString, AnyObject)] { CVBufferSetAttachment(first, key, value, .shouldPropagate) }
    try check(VTPixelTransferSessionTransferImage(session, from: first, to: target), "the first")
    #expect(CVBufferHasAttachment(target, kCVImageBufferMasteringDisplayColorVolumeKey))
    let (second, fresh) = (try solid(64, 48, [9, 9, 9, 255]), try solid(64, 48, [0, 0, 0, 0]))
    try check(VTPixelTransferSessionTransferImage(session, from: second, to: target), "the second")
    try check(VTPixelTransferSessionTransferImage(session, from: second, to: fresh), "the second alone")
    func attachments(_ buffer: CVPixelBuffer) -> NSDictionary {
      CVBufferCopyAttachments(buffer, .shouldPropagate) as NSDictionary? ?? [:]
    }
    #expect(attachments(target) == attachments(fresh))
    #expect(!CVBufferHasAttachment(target, kCVImageBufferTransferFunctionKey))
  }

  @Test func letterboxAddsBlackBars() throws {
    let source = try gray(160, 90) { _, _ in 200 }
    let target = try gray(100, 100) { _, _ in 77 }
    let session = try makeTransfer([kVTPixelTransferPropertyKey_ScalingMode: kVTScalingMode_Letterbox])
    try check(VTPixelTransferSessionTransferImage(session, from: source, to: target), "transfer")
    // 100 columns of 16 to 9 are 56 rows, 22 below and above.
    for y in 0..<100 {
      let expected = (22..<78).contains(y) ? 200 : 0
      for x in [0, 50, 99] { #expect(abs(pixel(target, x, y)[0] - expected) <= 1, "\(x) \(y)") }
    }
  }

  @Test func letterboxCountsPixelShapes() throws {
    // 100 by 100 pixels twice as wide as high in a square of square pixels.
    let source = try gray(100, 100) { _, _ in 200 }
    CVBufferSetAttachment(
      source, kCVImageBufferPixelAspectRatioKey,
      [
        kCVImageBufferPixelAspectRatioHorizontalSpacingKey: 2,
        kCVImageBufferPixelAspectRatioVerticalSpacingKey: 1,
      ] as NSDictionary, .shouldPropagate)
    let target = try gray(80, 80) { _, _ in 77 }
    let square: NSDictionary = [
      kCVImageBufferPixelAspectRatioHorizontalSpacingKey: 1,
      kCVImageBufferPixelAspectRatioVerticalSpacingKey: 1,
    ]
    let session = try makeTransfer([
      kVTPixelTransferPropertyKey_ScalingMode: kVTScalingMode_Letterbox,
      kVTPixelTransferPropertyKey_DestinationPixelAspectRatio: square,
    ])
    try check(VTPixelTransferSessionTransferImage(session, from: source, to: target), "transfer")
    for y in 0..<80 { #expect(abs(pixel(target, 40, y)[0] - ((20..<60).contains(y) ? 200 : 0)) <= 1) }
    #expect(shape(target).aspect == square)
  }

  private func shape(_ buffer: CVPixelBuffer) -> (aspect: NSDictionary?, aperture: NSDictionary?) {
    (
      CVBufferCopyAttachment(buffer, kCVImageBufferPixelAspectRatioKey, nil) as? NSDictionary,
      CVBufferCopyAttachment(buffer, kCVImageBufferCleanApertureKey, nil) as? NSDictionary
    )
  }

  @Test(
    "Without a pixel aspect ratio the source's stays where the picture's shape does",
    arguments: [kVTScalingMode_Letterbox, kVTScalingMode_Trim, kVTScalingMode_CropSourceToCleanAperture].map {
      $0 as String
    })
  func pixelsKeepTheirShape(_ mode: String) throws {
    let source = try gray(100, 100) { _, _ in 200 }
    let wide: NSDictionary = [
      kCVImageBufferPixelAspectRatioHorizontalSpacingKey: 2,
      kCVImageBufferPixelAspectRatioVerticalSpacingKey: 1,
    ]
    CVBufferSetAttachment(source, kCVImageBufferPixelAspectRatioKey, wide, .shouldPropagate)
    let target = try gray(80, 80) { _, _ in 77 }
    // The previous attachments of the destination have no effect.
    CVBufferSetAttachment(
      target, kCVImageBufferPixelAspectRatioKey,
      [
        kCVImageBufferPixelAspectRatioHorizontalSpacingKey: 1,
        kCVImageBufferPixelAspectRatioVerticalSpacingKey: 3,
      ] as NSDictionary, .shouldPropagate)
    CVBufferSetAttachment(
      target, kCVImageBufferCleanApertureKey,
      [kCVImageBufferCleanApertureWidthKey: 10, kCVImageBufferCleanApertureHeightKey: 10] as NSDictionary,
      .shouldPropagate)
    let session = try makeTransfer([kVTPixelTransferPropertyKey_ScalingMode: mode as CFString])
    try check(VTPixelTransferSessionTransferImage(session, from: source, to: target), "transfer")
    for y in 0..<80 { #expect(abs(pixel(target, 40, y)[0] - 200) <= 1, "\(mode)") }
    let isCut = mode == kVTScalingMode_CropSourceToCleanAperture as String
    #expect(shape(target).aspect == (isCut ? nil : wide) && shape(target).aperture == nil, "\(mode)")
  }

  @Test("A stretched picture's clean aperture and pixel aspect ratio are stretched with it")
  func stretchedPicturesKeepTheirShape() throws {
    let source = try gray(720, 480) { _, _ in 200 }
    CVBufferSetAttachment(
      source, kCVImageBufferPixelAspectRatioKey,
      [
        kCVImageBufferPixelAspectRatioHorizontalSpacingKey: 10,
        kCVImageBufferPixelAspectRatioVerticalSpacingKey: 11,
      ] as NSDictionary, .shouldPropagate)
    CVBufferSetAttachment(
      source, kCVImageBufferCleanApertureKey,
      [
        kCVImageBufferCleanApertureWidthKey: 704, kCVImageBufferCleanApertureHeightKey: 480,
        kCVImageBufferCleanApertureHorizontalOffsetKey: 2, kCVImageBufferCleanApertureVerticalOffsetKey: 0,
      ] as NSDictionary, .shouldPropagate)
    let target = try gray(360, 480) { _, _ in 77 }
    // Both are ignored in this mode.
    let session = try makeTransfer([
      kVTPixelTransferPropertyKey_DestinationCleanAperture: [
        kCVImageBufferCleanApertureWidthKey: 100, kCVImageBufferCleanApertureHeightKey: 100,
        kCVImageBufferCleanApertureHorizontalOffsetKey: 0, kCVImageBufferCleanApertureVerticalOffsetKey: 0,
      ] as NSDictionary,
      kVTPixelTransferPropertyKey_DestinationPixelAspectRatio: [
        kCVImageBufferPixelAspectRatioHorizontalSpacingKey: 5,
        kCVImageBufferPixelAspectRatioVerticalSpacingKey: 1,
      ] as NSDictionary,
    ])
    try check(VTPixelTransferSessionTransferImage(session, from: source, to: target), "transfer")
    let (aspect, aperture) = shape(target)
    #expect(
      aspect == [
        kCVImageBufferPixelAspectRatioHorizontalSpacingKey: 20,
        kCVImageBufferPixelAspectRatioVerticalSpacingKey: 11,
      ] as NSDictionary)
    #expect(
      aperture == [
        kCVImageBufferCleanApertureWidthKey: 352, kCVImageBufferCleanApertureHeightKey: 480,
        kCVImageBufferCleanApertureHorizontalOffsetKey: 1, kCVImageBufferCleanApertureVerticalOffsetKey: 0,
      ] as NSDictionary)
    #expect(pixel(target, 0, 0) == [200] && pixel(target, 359, 479) == [200])
  }

  @Test func trimCutsWhatDoesNotFit() throws {
    // The outer thirds are cut away.
    let source = try gray(300, 100) { x, _ in (100..<200).contains(x) ? 150 : 10 }
    let target = try gray(60, 60) { _, _ in 77 }
    let session = try makeTransfer([kVTPixelTransferPropertyKey_ScalingMode: kVTScalingMode_Trim])
    try check(VTPixelTransferSessionTransferImage(session, from: source, to: target), "transfer")
    for x in 2..<58 { #expect(abs(pixel(target, x, 30)[0] - 150) <= 1) }
  }

  @Test func theSourceIsCroppedToItsCleanAperture() throws {
    let source = try gray(100, 100) { x, y in (20..<70).contains(x) && (10..<60).contains(y) ? 180 : 10 }
    CVBufferSetAttachment(
      source, kCVImageBufferCleanApertureKey,
      [
        kCVImageBufferCleanApertureWidthKey: 50, kCVImageBufferCleanApertureHeightKey: 50,
        kCVImageBufferCleanApertureHorizontalOffsetKey: -5, kCVImageBufferCleanApertureVerticalOffsetKey: -15,
      ] as NSDictionary, .shouldPropagate)
    let target = try gray(50, 50) { _, _ in 77 }
    let session = try makeTransfer([
      kVTPixelTransferPropertyKey_ScalingMode: kVTScalingMode_CropSourceToCleanAperture
    ])
    try check(VTPixelTransferSessionTransferImage(session, from: source, to: target), "transfer")
    for y in 0..<50 { for x in 0..<50 { #expect(pixel(target, x, y) == [180]) } }
  }

  @Test func scaledPicturesAreFilteredInBothDownsamplingModes() throws {
    let source = try gray(128, 128) { x, y in (x + y) % 2 == 0 ? 200 : 100 }
    let target = try gray(32, 32) { _, _ in 0 }
    let average = try makeTransfer([kVTPixelTransferPropertyKey_DownsamplingMode: kVTDownsamplingMode_Average]
    )
    try check(VTPixelTransferSessionTransferImage(average, from: source, to: target), "average")
    #expect(abs(pixel(target, 16, 16)[0] - 150) <= 2)
    // It is about chroma: pictures that are scaled are filtered all the same.
    let decimate = try makeTransfer([
      kVTPixelTransferPropertyKey_DownsamplingMode: kVTDownsamplingMode_Decimate
    ])
    try check(VTPixelTransferSessionTransferImage(decimate, from: source, to: target), "decimate")
    #expect(abs(pixel(target, 16, 16)[0] - 150) <= 2)
    let (wide, standard) = (try gray(200, 160) { _, _ in 0 }, try gray(200, 160) { _, _ in 0 })
    try check(VTPixelTransferSessionTransferImage(decimate, from: source, to: wide), "larger")
    try check(VTPixelTransferSessionTransferImage(makeTransfer(), from: source, to: standard), "usual")
    for (x, y) in [(3, 5), (70, 90), (199, 159)] { #expect(pixel(wide, x, y) == pixel(standard, x, y)) }
  }

  /// Thin lines, of which the usual filter does not make the mean: that is taken before colours
  /// change.
  @Test(arguments: [true, false]) func downsamplingTakesTheMeanBeforeColoursChange(isCurve: Bool) throws {
    let source = try solid(128, 128, [60, 60, 60, 255])
    CVPixelBufferLockBaseAddress(source, [])
    let base = try #require(CVPixelBufferGetBaseAddress(source))
    for y in 0..<128 {
      for x in stride(from: 0, to: 128, by: 8) {
        memset(base + y * CVPixelBufferGetBytesPerRow(source) + 4 * x, 220, 3)
      }
    }
    CVPixelBufferUnlockBaseAddress(source, [])
    for (key, value) in [
      (kCVImageBufferColorPrimariesKey, kCVImageBufferColorPrimaries_ITU_R_709_2),
      (kCVImageBufferTransferFunctionKey, kCVImageBufferTransferFunction_ITU_R_709_2),
    ] { CVBufferSetAttachment(source, key, value, .shouldPropagate) }
    let mean: [CFString: Any] = [kVTPixelTransferPropertyKey_DownsamplingMode: kVTDownsamplingMode_Average]
    let color: [CFString: Any] =
      isCurve
      ? [kVTPixelTransferPropertyKey_DestinationTransferFunction: kCVImageBufferTransferFunction_sRGB]
      : [kVTPixelTransferPropertyKey_DestinationColorPrimaries: kCVImageBufferColorPrimaries_P3_D65]
    func scaled(_ picture: CVPixelBuffer, _ properties: [CFString: Any]) throws -> CVPixelBuffer {
      let target = try solid(32, 32, [0, 0, 0, 0])
      try check(
        VTPixelTransferSessionTransferImage(makeTransfer(properties), from: picture, to: target), "transfer")
      return target
    }
    let both = try scaled(source, mean.merging(color) { $1 })
    let after = try scaled(scaled(source, mean), color)
    let standard = try scaled(source, color)
    var maxToStandard = 0
    for x in 2..<30 {
      let (a, b, c) = (
        pixel(both, x, 16, bytes: 3), pixel(after, x, 16, bytes: 3), pixel(standard, x, 16, bytes: 3)
      )
      #expect(zip(a, b).allSatisfy { abs($0 - $1) <= 2 }, "\(x): \(a) \(b)")
      maxToStandard = max(maxToStandard, zip(a, c).map { abs($0 - $1) }.max() ?? 0)
    }
    #expect(maxToStandard > 4, "\(maxToStandard)")
  }

  /// Rows of two colours of the same luma: one of them is taken, or their mean.
  @Test func downsamplingOfChromaAveragesOrDecimates() throws {
    let source = try #require(makeBuffer(64, 64, kCVPixelFormatType_444YpCbCr8BiPlanarVideoRange))
    CVPixelBufferLockBaseAddress(source, [])
    for plane in 0..<2 {
      let base = try #require(CVPixelBufferGetBaseAddressOfPlane(source, plane))
      let stride = CVPixelBufferGetBytesPerRowOfPlane(source, plane)
      for y in 0..<64 {
        memset(base + y * stride, plane == 0 ? 90 : y % 2 == 0 ? 60 : 180, plane == 0 ? 64 : 128)
      }
    }
    CVPixelBufferUnlockBaseAddress(source, [])
    func chroma(_ mode: CFString) throws -> (luma: Int, chroma: Int) {
      let target = try #require(makeBuffer(64, 64, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange))
      let session = try makeTransfer([kVTPixelTransferPropertyKey_DownsamplingMode: mode])
      try check(VTPixelTransferSessionTransferImage(session, from: source, to: target), "transfer")
      CVPixelBufferLockBaseAddress(target, .readOnly)
      defer { CVPixelBufferUnlockBaseAddress(target, .readOnly) }
      func value(_ plane: Int) throws -> Int {
        let base = try #require(CVPixelBufferGetBaseAddressOfPlane(target, plane))
        let place = 16 * CVPixelBufferGetBytesPerRowOfPlane(target, plane) + 16
        return Int(base.load(fromByteOffset: place, as: UInt8.self))
      }
      return (try value(0), try value(1))
    }
    let average = try chroma(kVTDownsamplingMode_Average)
    #expect(average.luma == 90 && abs(average.chroma - 120) <= 2, "\(average)")
    let decimate = try chroma(kVTDownsamplingMode_Decimate)
    #expect(decimate.luma == 90 && [60, 180].contains { abs(decimate.chroma - $0) <= 2 }, "\(decimate)")
  }

  /// Pure colours in the three matrices, against the standards' formulas.
  @Test(arguments: [
    (kCVImageBufferYCbCrMatrix_ITU_R_601_4 as String, 0.299, 0.114),
    (kCVImageBufferYCbCrMatrix_ITU_R_709_2 as String, 0.2126, 0.0722),
    (kCVImageBufferYCbCrMatrix_ITU_R_2020 as String, 0.2627, 0.0593),
  ]) func matricesAreThoseOfTheStandards(matrix: String, kr: Double, kb: Double) throws {
    let session = try makeTransfer([kVTPixelTransferPropertyKey_DestinationYCbCrMatrix: matrix])
    for (format, scale, offset) in [
      (kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, 219.0, 16.0),
      (kCVPixelFormatType_420YpCbCr8BiPlanarFullRange, 255.0, 0.0),
    ] {
      for color: [UInt8] in [[0, 0, 255, 255], [0, 255, 0, 255], [255, 0, 0, 255], [40, 90, 200, 255]] {
        let source = try solid(32, 32, color)
        let target = try #require(makeBuffer(32, 32, format))
        try check(VTPixelTransferSessionTransferImage(session, from: source, to: target), "transfer")
        #expect(CVBufferCopyAttachment(target, kCVImageBufferYCbCrMatrixKey, nil) as? String == matrix)
        let (b, g, r) = (Double(color[0]) / 255, Double(color[1]) / 255, Double(color[2]) / 255)
        let y = kr * r + (1 - kr - kb) * g + kb * b
        let chroma = scale == 219 ? 224.0 : 255.0
        let expected = [
          offset + scale * y, 128 + chroma * (b - y) / (2 * (1 - kb)),
          128 + chroma * (r - y) / (2 * (1 - kr)),
        ]
        let samples = planar(target)
        let found = [samples[0], samples[32 * 32], samples[32 * 32 + 256]].map { Double($0) }
        for (a, b) in zip(found, expected) {
          #expect(abs(a - min(255, b)) <= 2, "\(matrix) \(color) \(found) \(expected)")
        }
      }
    }
  }

  /// BT.709 red in BT.2020 primaries, against the matrix that BT.2087 gives.
  @Test func primariesAreConvertedAsBT2087Says() throws {
    let session = try makeTransfer([
      kVTPixelTransferPropertyKey_DestinationColorPrimaries: kCVImageBufferColorPrimaries_ITU_R_2020,
      kVTPixelTransferPropertyKey_DestinationTransferFunction: kCVImageBufferTransferFunction_Linear,
    ])
    let source = try solid(16, 16, [0, 0, 255, 255])
    for (key, value) in [
      (kCVImageBufferColorPrimariesKey, kCVImageBufferColorPrimaries_ITU_R_709_2),
      (kCVImageBufferTransferFunctionKey, kCVImageBufferTransferFunction_ITU_R_709_2),
    ] { CVBufferSetAttachment(source, key, value, .shouldPropagate) }
    let target = try #require(makeBuffer(16, 16, kCVPixelFormatType_32BGRA))
    try check(VTPixelTransferSessionTransferImage(session, from: source, to: target), "transfer")
    let found = pixel(target, 8, 8, bytes: 4)
    for (a, b) in zip(found, [0.0164, 0.0691, 0.6274]) {
      #expect(abs(Double(a) - 255 * b) <= 1.5, "\(found)")
    }
    #expect(
      CVBufferCopyAttachment(target, kCVImageBufferColorPrimariesKey, nil) as? NSString
        == kCVImageBufferColorPrimaries_ITU_R_2020)
  }

  @Test("A picture that says nothing of its colours has those that are asked for")
  func untaggedPicturesAreConverted() throws {
    let session = try makeTransfer([
      kVTPixelTransferPropertyKey_DestinationColorPrimaries: kCVImageBufferColorPrimaries_ITU_R_709_2,
      kVTPixelTransferPropertyKey_DestinationTransferFunction: kCVImageBufferTransferFunction_ITU_R_709_2,
      kVTPixelTransferPropertyKey_DestinationYCbCrMatrix: kCVImageBufferYCbCrMatrix_ITU_R_709_2,
    ])
    let plain = try makeTransfer([
      kVTPixelTransferPropertyKey_DestinationYCbCrMatrix: kCVImageBufferYCbCrMatrix_ITU_R_709_2
    ])
    let source = try solid(16, 16, [30, 90, 200, 255])
    let target = try #require(makeBuffer(16, 16, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange))
    let expected = try #require(makeBuffer(16, 16, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange))
    try check(VTPixelTransferSessionTransferImage(session, from: source, to: target), "transfer")
    try check(VTPixelTransferSessionTransferImage(plain, from: source, to: expected), "transfer")
    for (a, b) in zip(planar(target), planar(expected)) { #expect(abs(Int(a) - Int(b)) <= 1) }
    #expect(
      CVBufferCopyAttachment(target, kCVImageBufferColorPrimariesKey, nil) as? NSString
        == kCVImageBufferColorPrimaries_ITU_R_709_2)
  }

  @Test func whatCannotBeDoneIsRefused() throws {
    let hdr = try makeTransfer([
      kVTPixelTransferPropertyKey_DestinationTransferFunction: kCVImageBufferTransferFunction_SMPTE_ST_2084_PQ
    ])
    let source = try solid(16, 16, [1, 2, 3, 255])
    let target = try solid(16, 16, [1, 2, 3, 255])
    #expect(
      VTPixelTransferSessionTransferImage(hdr, from: source, to: target) == kVTPixelTransferNotSupportedErr)
    let session = try makeTransfer()
    let bayer = try #require(makeBuffer(16, 16, kCVPixelFormatType_14Bayer_GRBG))
    #expect(
      VTPixelTransferSessionTransferImage(session, from: source, to: bayer) == kVTPixelTransferNotSupportedErr
    )
    #expect(VTPixelTransferSessionTransferImage(session, from: source, to: source) == kVTParameterErr)
    #expect(
      VTSessionSetProperty(session, key: kVTPixelTransferPropertyKey_DestinationICCProfile, value: NSData())
        == kVTPropertyNotSupportedErr)
    #expect(
      VTSessionSetProperty(session, key: kVTPixelTransferPropertyKey_ScalingMode, value: "Wide" as CFString)
        == kVTParameterErr)
    VTPixelTransferSessionInvalidate(session)
    #expect(VTPixelTransferSessionTransferImage(session, from: source, to: target) == kVTInvalidSessionErr)
  }
}

@Suite struct PixelRotationTests {
  @Test(arguments: ["0", "CW90", "180", "CCW90"], [0, 1, 2, 3])
  func picturesAreRotatedAndFlipped(rotation: String, flips: Int) throws {
    let (width, height) = (70, 41)
    let value = { (x: Int, y: Int) in x * 3 + y }
    let source = try gray(width, height, value)
    let isTurned = rotation.hasSuffix("90")
    let (newWidth, newHeight) = isTurned ? (height, width) : (width, height)
    let target = try gray(newWidth, newHeight) { _, _ in 0 }
    var created: VTPixelRotationSession?
    try check(VTPixelRotationSessionCreate(nil, &created), "create")
    let session = try #require(created)
    try check(
      VTSessionSetProperties(
        session,
        propertyDictionary: [
          kVTPixelRotationPropertyKey_Rotation: rotation,
          kVTPixelRotationPropertyKey_FlipHorizontalOrientation: flips & 1 == 1,
          kVTPixelRotationPropertyKey_FlipVerticalOrientation: flips & 2 == 2,
        ] as CFDictionary), "properties")
    try check(VTPixelRotationSessionRotateImage(session, source, target), "rotate")
    for y in 0..<newHeight {
      for x in 0..<newWidth {
        let u = flips & 1 == 1 ? newWidth - 1 - x : x
        let v = flips & 2 == 2 ? newHeight - 1 - y : y
        let (a, b) =
          switch rotation {
          case "CW90": (v, height - 1 - u)
          case "180": (width - 1 - u, height - 1 - v)
          case "CCW90": (width - 1 - v, u)
          default: (u, v)
          }
        let isRight = pixel(target, x, y)[0] == min(255, value(a, b))
        #expect(isRight, "\(x) \(y)")
      }
    }
  }

  /// Four quarter turns bring every format's picture back.
  @Test(arguments: [
    kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, kCVPixelFormatType_420YpCbCr8Planar,
    kCVPixelFormatType_32BGRA,
    kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange, kCVPixelFormatType_24RGB, kCVPixelFormatType_64RGBALE,
    kCVPixelFormatType_444YpCbCr8BiPlanarVideoRange,
  ]) func fourQuarterTurnsBringEveryFormatBack(format: OSType) throws {
    let picture = try gray(64, 48) { x, y in (x * 7 + y * 5) % 256 }
    let source = try #require(makeBuffer(64, 48, format))
    let transfer = try makeTransfer()
    try check(VTPixelTransferSessionTransferImage(transfer, from: picture, to: source), "fill")
    var created: VTPixelRotationSession?
    try check(VTPixelRotationSessionCreate(nil, &created), "create")
    let session = try #require(created)
    try check(
      VTSessionSetProperty(session, key: kVTPixelRotationPropertyKey_Rotation, value: kVTRotation_CW90),
      "turn")
    var current = source
    for _ in 0..<4 {
      let next = try #require(
        makeBuffer(CVPixelBufferGetHeight(current), CVPixelBufferGetWidth(current), format))
      try check(VTPixelRotationSessionRotateImage(session, current, next), "rotate")
      current = next
    }
    let isSame = contents(current) == contents(source)
    #expect(isSame)
  }

  @Test func packed422GoesThrough444() throws {
    let picture = try gray(64, 48) { x, y in 16 + (x * 3 + y) % 200 }
    let source = try #require(makeBuffer(64, 48, kCVPixelFormatType_422YpCbCr8))
    try check(VTPixelTransferSessionTransferImage(try makeTransfer(), from: picture, to: source), "fill")
    let target = try #require(makeBuffer(48, 64, kCVPixelFormatType_422YpCbCr8))
    var created: VTPixelRotationSession?
    try check(VTPixelRotationSessionCreate(nil, &created), "create")
    let session = try #require(created)
    try check(
      VTSessionSetProperty(session, key: kVTPixelRotationPropertyKey_Rotation, value: kVTRotation_CW90),
      "turn")
    try check(VTPixelRotationSessionRotateImage(session, source, target), "rotate")
    // Luma is the second byte of each pair.
    for (x, y) in [(0, 0), (47, 63), (20, 31)] {
      #expect(pixel(target, x, y, bytes: 2)[1] == pixel(source, y, 47 - x, bytes: 2)[1])
    }
    #expect(VTPixelRotationSessionRotateImage(session, source, source) == kVTParameterErr)
    let wrong = try #require(makeBuffer(64, 48, kCVPixelFormatType_422YpCbCr8))
    #expect(VTPixelRotationSessionRotateImage(session, source, wrong) == kVTParameterErr)
  }
}

/// All bytes of the pixels, without the padding.
private func contents(_ buffer: CVPixelBuffer) -> [UInt8] {
  guard !CVPixelBufferIsPlanar(buffer) else {
    var bytes: [UInt8] = []
    let isDeep = CVPixelBufferGetPixelFormatType(buffer) == kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange
    CVPixelBufferLockBaseAddress(buffer, .readOnly)
    defer { CVPixelBufferUnlockBaseAddress(buffer, .readOnly) }
    for plane in 0..<CVPixelBufferGetPlaneCount(buffer) {
      guard let base = CVPixelBufferGetBaseAddressOfPlane(buffer, plane) else { return [] }
      let isPaired = plane == 1 && CVPixelBufferGetPlaneCount(buffer) == 2
      let count = CVPixelBufferGetWidthOfPlane(buffer, plane) * (isDeep ? 2 : 1) * (isPaired ? 2 : 1)
      for row in 0..<CVPixelBufferGetHeightOfPlane(buffer, plane) {
        bytes += UnsafeRawBufferPointer(
          start: base + row * CVPixelBufferGetBytesPerRowOfPlane(buffer, plane), count: count)
      }
    }
    return bytes
  }
  let size =
    switch CVPixelBufferGetPixelFormatType(buffer) {
    case kCVPixelFormatType_24RGB: 3
    case kCVPixelFormatType_64RGBALE: 8
    default: 4
    }
  var bytes: [UInt8] = []
  CVPixelBufferLockBaseAddress(buffer, .readOnly)
  defer { CVPixelBufferUnlockBaseAddress(buffer, .readOnly) }
  guard let base = CVPixelBufferGetBaseAddress(buffer) else { return [] }
  for row in 0..<CVPixelBufferGetHeight(buffer) {
    bytes += UnsafeRawBufferPointer(
      start: base + row * CVPixelBufferGetBytesPerRow(buffer), count: size * CVPixelBufferGetWidth(buffer))
  }
  return bytes
}
