// SPDX-License-Identifier: Apache-2.0
import CoreVideo
import Testing

@Suite struct PixelFormatTests {
  @Test func descriptionsAgreeWithBuffers() throws {
    let codes = try #require(CVPixelFormatDescriptionArrayCreateWithAllPixelFormatTypes(nil) as? [UInt32])
    for code in codes {
      let description = try #require(
        CVPixelFormatDescriptionCreateWithPixelFormatType(nil, code) as? [CFString: Any])
      #expect(description[kCVPixelFormatConstant] as? UInt32 == code)
      let buffer = try makeBuffer(96, 16, code, [kCVPixelBufferBytesPerRowAlignmentKey: 1])
      let planes = description[kCVPixelFormatPlanes] as? [[CFString: Any]] ?? [description]
      #expect(CVPixelBufferGetPlaneCount(buffer) == (planes.count > 1 ? planes.count : 0))
      for (index, plane) in planes.enumerated() {
        let bits = try #require(plane[kCVPixelFormatBitsPerBlock] as? Int)
        let block = plane[kCVPixelFormatBlockWidth] as? Int ?? 1
        let sub = plane[kCVPixelFormatHorizontalSubsampling] as? Int ?? 1
        let aligned = plane[kCVPixelFormatBlockHorizontalAlignment] as? Int ?? 1
        let blocks = (96 / sub / block + aligned - 1) / aligned * aligned
        #expect(CVPixelBufferGetBytesPerRowOfPlane(buffer, index) == (blocks * bits + 7) / 8)
        if let black = plane[kCVPixelFormatBlackBlock] as? Data { #expect(black.count * 8 == bits) }
      }
    }
    #expect(CVPixelFormatDescriptionCreateWithPixelFormatType(nil, 0x1234) == nil)
  }

  @Test func descriptionsTellWhatAFormatContains() throws {
    func contains(_ code: OSType, _ key: CFString) -> Bool {
      (CVPixelFormatDescriptionCreateWithPixelFormatType(nil, code) as? [CFString: Any])?[key] as? Bool
        ?? false
    }
    #expect(contains(kCVPixelFormatType_32BGRA, kCVPixelFormatContainsAlpha))
    #expect(contains(kCVPixelFormatType_32BGRA, kCVPixelFormatContainsRGB))
    #expect(!contains(kCVPixelFormatType_24RGB, kCVPixelFormatContainsAlpha))
    #expect(contains(kCVPixelFormatType_420YpCbCr8BiPlanarFullRange, kCVPixelFormatContainsYCbCr))
    #expect(contains(kCVPixelFormatType_OneComponent8, kCVPixelFormatContainsGrayscale))
    let range =
      CVPixelFormatDescriptionCreateWithPixelFormatType(
        nil, kCVPixelFormatType_420YpCbCr8BiPlanarFullRange)?[kCVPixelFormatComponentRange] as? String
    #expect(range == "FullRange")
  }

  @Test func registeredFormatsMakeBuffers() throws {
    let code: OSType = 0x7465_7374
    var out: CVPixelBuffer?
    #expect(CVPixelBufferCreate(nil, 64, 64, code, nil, &out) == kCVReturnInvalidPixelFormat)
    // A description that makes no sense is not taken.
    CVPixelFormatDescriptionRegisterDescriptionWithPixelFormatType(
      [kCVPixelFormatBitsPerBlock: 0] as CFDictionary, code)
    #expect(CVPixelBufferCreate(nil, 64, 64, code, nil, &out) == kCVReturnInvalidPixelFormat)
    var fill = CVFillExtendedPixelsCallBackData(
      version: 0,
      fillCallBack: { buffer, _ in
        memset(CVPixelBufferGetBaseAddress(buffer)! - 2, 0x77, 2)
        return true
      }, refCon: nil)
    let callback = withUnsafeBytes(of: &fill) { Data($0) }
    CVPixelFormatDescriptionRegisterDescriptionWithPixelFormatType(
      [
        kCVPixelFormatName: "test", kCVPixelFormatContainsRGB: true,
        kCVPixelFormatPlanes: [
          [kCVPixelFormatBitsPerBlock: 16],
          [kCVPixelFormatBitsPerBlock: 8, kCVPixelFormatVerticalSubsampling: 4],
        ] as [[CFString: Any]],
        kCVPixelFormatFillExtendedPixelsCallback: callback,
      ] as [CFString: Any] as CFDictionary, code)
    let buffer = try makeBuffer(64, 64, code, [kCVPixelBufferExtendedPixelsLeftKey: 1])
    #expect(CVPixelBufferGetPlaneCount(buffer) == 2)
    #expect(CVPixelBufferGetHeightOfPlane(buffer, 1) == 16)
    #expect(CVPixelBufferFillExtendedPixels(buffer) == kCVReturnSuccess)
    #expect(CVPixelBufferGetBaseAddress(buffer)!.load(fromByteOffset: -2, as: UInt16.self) == 0x7777)
    let known = CVPixelFormatDescriptionArrayCreateWithAllPixelFormatTypes(nil) as? [UInt32]
    #expect(known?.contains(code) == true)
  }

  @Test func attributesAreResolvedToWhatAllAccept() throws {
    func resolve(_ list: [[CFString: Any]]) -> (CVReturn, [CFString: Any]?) {
      var out: CFDictionary?
      let status = CVPixelBufferCreateResolvedAttributesDictionary(nil, list as CFArray, &out)
      return (status, out as? [CFString: Any])
    }
    let formats = kCVPixelBufferPixelFormatTypeKey
    let (status, merged) = resolve([
      [formats: [1, 2, 3], kCVPixelBufferBytesPerRowAlignmentKey: 16, kCVPixelBufferWidthKey: 10],
      [
        formats: [3, 2, 9], kCVPixelBufferBytesPerRowAlignmentKey: 64,
        kCVPixelBufferMetalCompatibilityKey: true,
      ],
      [formats: [2, 9], kCVPixelBufferExtendedPixelsLeftKey: 8, kCVPixelBufferMetalCompatibilityKey: false],
    ])
    #expect(status == kCVReturnSuccess)
    #expect(merged?[formats] as? Int == 2)
    #expect(merged?[kCVPixelBufferBytesPerRowAlignmentKey] as? Int == 64)
    #expect(merged?[kCVPixelBufferExtendedPixelsLeftKey] as? Int == 8)
    #expect(merged?[kCVPixelBufferMetalCompatibilityKey] as? Bool == true)
    #expect(resolve([[formats: 1], [formats: [2, 3]]]).0 == kCVReturnInvalidPixelBufferAttributes)
    #expect(
      resolve([[kCVPixelBufferWidthKey: 1], [kCVPixelBufferWidthKey: 2]]).0
        == kCVReturnInvalidPixelBufferAttributes)
  }

  @Test func compatibilityFollowsTheAttributes() throws {
    let buffer = try makeBuffer(64, 48, kCVPixelFormatType_32BGRA, [kCVPixelBufferExtendedPixelsTopKey: 2])
    func fits(_ attributes: [CFString: Any]) -> Bool {
      CVPixelBufferIsCompatibleWithAttributes(buffer, attributes as CFDictionary)
    }
    #expect(fits([:]))
    #expect(
      fits([kCVPixelBufferWidthKey: 64, kCVPixelBufferPixelFormatTypeKey: [1, kCVPixelFormatType_32BGRA]]))
    #expect(fits([kCVPixelBufferExtendedPixelsTopKey: 1, kCVPixelBufferBytesPerRowAlignmentKey: 64]))
    #expect(!fits([kCVPixelBufferHeightKey: 64]))
    #expect(!fits([kCVPixelBufferPixelFormatTypeKey: kCVPixelFormatType_32ARGB]))
    #expect(!fits([kCVPixelBufferBytesPerRowAlignmentKey: 1024]))
    #expect(CVPixelBufferCopyCreationAttributes(buffer)[kCVPixelBufferWidthKey] as? Int == 64)
  }
}

@Suite struct UnavailablePixelFormatTests {
  static let codes = [
    kCVPixelFormatType_40ARGBLEWideGamut, kCVPixelFormatType_40ARGBLEWideGamutPremultiplied,
    kCVPixelFormatType_96VersatileBayerPacked12, kCVPixelFormatType_30RGBLE_8A_BiPlanar,
    kCVPixelFormatType_Lossless_32BGRA, kCVPixelFormatType_Lossless_64RGBAHalf,
    kCVPixelFormatType_Lossless_420YpCbCr8BiPlanarVideoRange,
    kCVPixelFormatType_Lossless_420YpCbCr8BiPlanarFullRange,
    kCVPixelFormatType_Lossless_420YpCbCr10PackedBiPlanarVideoRange,
    kCVPixelFormatType_Lossless_422YpCbCr10PackedBiPlanarVideoRange,
    kCVPixelFormatType_Lossless_420YpCbCr10PackedBiPlanarFullRange,
    kCVPixelFormatType_Lossless_30RGBLE_8A_BiPlanar, kCVPixelFormatType_Lossless_30RGBLEPackedWideGamut,
    kCVPixelFormatType_Lossy_32BGRA, kCVPixelFormatType_Lossy_420YpCbCr8BiPlanarVideoRange,
    kCVPixelFormatType_Lossy_420YpCbCr8BiPlanarFullRange,
    kCVPixelFormatType_Lossy_420YpCbCr10PackedBiPlanarVideoRange,
    kCVPixelFormatType_Lossy_422YpCbCr10PackedBiPlanarVideoRange,
  ]

  @Test(arguments: codes) func formatsWithoutALayoutMakeNoBuffer(_ code: OSType) {
    var buffer: CVPixelBuffer?
    #expect(CVPixelBufferCreate(nil, 64, 64, code, nil, &buffer) == kCVReturnInvalidPixelFormat)
    #expect(buffer == nil)
    #expect(!CVIsCompressedPixelFormatAvailable(code))
    #expect(CVPixelFormatDescriptionCreateWithPixelFormatType(nil, code) == nil)
    let attributes: [CFString: Any] = [
      kCVPixelBufferPixelFormatTypeKey: code, kCVPixelBufferWidthKey: 64, kCVPixelBufferHeightKey: 64,
    ]
    var pool: CVPixelBufferPool?
    let status = CVPixelBufferPoolCreate(nil, nil, attributes as CFDictionary, &pool)
    if status == kCVReturnSuccess, let pool {
      #expect(CVPixelBufferPoolCreatePixelBuffer(nil, pool, &buffer) == kCVReturnInvalidPixelFormat)
      #expect(buffer == nil)
    }
  }

  @Test func eachUnavailableFormatHasACodeOfItsOwn() {
    #expect(Set(Self.codes).count == Self.codes.count)
    let known = CVPixelFormatDescriptionArrayCreateWithAllPixelFormatTypes(nil) as? [UInt32] ?? []
    #expect(Set(known).isDisjoint(with: Self.codes))
    #expect(kCVPixelFormatType_Lossless_420YpCbCr8BiPlanarFullRange == 0x2638_6630)
  }

  /// Pixels are filled as the memory was laid out, whatever the code means since.
  @Test(arguments: [1024, 8, 16]) func pixelsAreFilledAsTheMemoryWasLaidOut(bits: Int) throws {
    let code: OSType = 0x6A62_6300 + OSType(bits % 251)
    CVPixelFormatDescriptionRegisterDescriptionWithPixelFormatType(
      [kCVPixelFormatBitsPerBlock: 8] as CFDictionary, code)
    let buffer = try makeBuffer(
      64, 64, code,
      [
        kCVPixelBufferExtendedPixelsLeftKey: 16, kCVPixelBufferExtendedPixelsTopKey: 16,
        kCVPixelBufferExtendedPixelsRightKey: 16, kCVPixelBufferExtendedPixelsBottomKey: 16,
      ])
    let base = try #require(CVPixelBufferGetBaseAddress(buffer))
    let stride = CVPixelBufferGetBytesPerRow(buffer)
    for row in 0..<64 { memset(base + row * stride, Int32(row + 1), 64) }
    let planes = bits == 16 ? 4 : 1
    let plane: NSDictionary = [kCVPixelFormatBitsPerBlock: bits]
    CVPixelFormatDescriptionRegisterDescriptionWithPixelFormatType(
      planes == 1 ? plane : [kCVPixelFormatPlanes: [plane, plane, plane, plane]] as CFDictionary, code)
    #expect(CVPixelBufferFillExtendedPixels(buffer) == kCVReturnSuccess)
    for (x, y, value) in [(-16, -16, 1), (79, -1, 1), (-1, 63, 64), (79, 79, 64), (30, 30, 31), (70, 9, 10)] {
      #expect(base.load(fromByteOffset: y * stride + x, as: UInt8.self) == value, "\(x) \(y)")
    }
  }
}
