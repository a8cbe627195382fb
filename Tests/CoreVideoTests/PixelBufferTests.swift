import CoreVideo
import Testing

@Suite struct PixelBufferTests {
  @Test func biPlanarGeometry() throws {
    var out: CVPixelBuffer?
    #expect(
      CVPixelBufferCreate(nil, 1280, 720, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, nil, &out)
        == kCVReturnSuccess)
    let buffer = try #require(out)
    #expect(CVPixelBufferGetPlaneCount(buffer) == 2)
    #expect(CVPixelBufferGetWidthOfPlane(buffer, 1) == 640)
    #expect(CVPixelBufferGetHeightOfPlane(buffer, 1) == 360)
    #expect(CVPixelBufferGetBytesPerRowOfPlane(buffer, 1) == 1280)
    let first = try #require(CVPixelBufferGetBaseAddressOfPlane(buffer, 0))
    #expect(CVPixelBufferGetBaseAddressOfPlane(buffer, 1) == first + 1280 * 720)
  }
}
