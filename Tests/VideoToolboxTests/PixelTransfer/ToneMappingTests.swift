// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import VideoToolbox

/// High dynamic range to BT.709, against the formulas of BT.2100 and BT.2390 worked out by hand.
@Suite struct ToneMappingTests {
  /// The signal of PQ for candela per square metre.
  private func pq(_ candelas: Double) -> Double {
    let y = pow(candelas / 10_000, 0.1593017578125)
    return pow((0.8359375 + 18.8515625 * y) / (1 + 18.6875 * y), 78.84375)
  }

  /// The grey that a grey of `signal` becomes, both from 0 to 1.
  private func map(_ signal: Double, transfer: CFString) throws -> Double {
    var source: CVPixelBuffer?
    var target: CVPixelBuffer?
    CVPixelBufferCreate(nil, 4, 4, kCVPixelFormatType_64RGBALE, nil, &source)
    CVPixelBufferCreate(nil, 4, 4, kCVPixelFormatType_64RGBALE, nil, &target)
    let from = try #require(source)
    let to = try #require(target)
    CVBufferSetAttachment(
      from, kCVImageBufferColorPrimariesKey, kCVImageBufferColorPrimaries_ITU_R_2020, .shouldPropagate)
    CVBufferSetAttachment(from, kCVImageBufferTransferFunctionKey, transfer, .shouldPropagate)
    CVPixelBufferLockBaseAddress(from, [])
    let base = try #require(CVPixelBufferGetBaseAddress(from))
    for y in 0..<4 {
      let row = (base + y * CVPixelBufferGetBytesPerRow(from)).assumingMemoryBound(to: UInt16.self)
      for x in 0..<4 {
        for channel in 0..<3 { row[4 * x + channel] = UInt16((signal * 65535).rounded()) }
        row[4 * x + 3] = 65535
      }
    }
    CVPixelBufferUnlockBaseAddress(from, [])
    var session: VTPixelTransferSession?
    VTPixelTransferSessionCreate(allocator: nil, pixelTransferSessionOut: &session)
    let transferring = try #require(session)
    let properties: [CFString: Any] = [
      kVTPixelTransferPropertyKey_DestinationColorPrimaries: kCVImageBufferColorPrimaries_ITU_R_709_2,
      kVTPixelTransferPropertyKey_DestinationTransferFunction: kCVImageBufferTransferFunction_ITU_R_709_2,
    ]
    #expect(VTSessionSetProperties(transferring, propertyDictionary: properties as CFDictionary) == noErr)
    #expect(VTPixelTransferSessionTransferImage(transferring, from: from, to: to) == noErr)
    CVPixelBufferLockBaseAddress(to, .readOnly)
    defer { CVPixelBufferUnlockBaseAddress(to, .readOnly) }
    let pixels = try #require(CVPixelBufferGetBaseAddress(to)).assumingMemoryBound(to: UInt16.self)
    // Grey stays grey: the primaries share their white.
    #expect(abs(Int(pixels[0]) - Int(pixels[1])) < 200 && abs(Int(pixels[1]) - Int(pixels[2])) < 200)
    return Double(pixels[1]) / 65535
  }

  /// Below the knee, light is shown as it is: white of an ordinary picture is 203 cd/m², on a
  /// display of gamma 2.4.
  @Test(arguments: [1.0, 10, 50, 80]) func darkTonesStay(candelas: Double) throws {
    let shown = try map(pq(candelas), transfer: kCVImageBufferTransferFunction_SMPTE_ST_2084_PQ)
    #expect(abs(shown - pow(candelas / 203, 1 / 2.4)) < 0.004, "\(shown)")
  }

  @Test func theBrightestIsWhiteAndNothingTurnsDarker() throws {
    var last = 0.0
    for candelas in [100.0, 150, 203, 300, 500, 700, 1000] {
      let shown = try map(pq(candelas), transfer: kCVImageBufferTransferFunction_SMPTE_ST_2084_PQ)
      #expect(shown > last, "\(candelas) cd/m²: \(shown) after \(last)")
      last = shown
    }
    #expect(last > 0.997)
    #expect(try map(1, transfer: kCVImageBufferTransferFunction_SMPTE_ST_2084_PQ) > 0.997)
  }

  /// HLG's grey of 0.5 is a twelfth of the scene's light, and so 1000 * (1/12)^1.2 cd/m² on the
  /// reference display.
  @Test func hybridLogGammaIsShownAsTheStandardSays() throws {
    let shown = try map(0.5, transfer: kCVImageBufferTransferFunction_ITU_R_2100_HLG)
    #expect(abs(shown - pow(1000 * pow(1.0 / 12, 1.2) / 203, 1 / 2.4)) < 0.004, "\(shown)")
    #expect(try map(1, transfer: kCVImageBufferTransferFunction_ITU_R_2100_HLG) > 0.997)
  }
}
