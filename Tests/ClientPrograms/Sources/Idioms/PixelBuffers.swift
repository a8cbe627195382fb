// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import CoreVideo
import Foundation

nonisolated(unsafe) private var releaseCount = 0

func pixelBuffers() {
  // Biplanar, filled plane by plane.
  var out: CVPixelBuffer?
  let attributes =
    [
      kCVPixelBufferIOSurfacePropertiesKey as String: [:] as [String: Any],
      kCVPixelBufferCGImageCompatibilityKey as String: true,
    ] as [String: Any]
  let status = CVPixelBufferCreate(
    kCFAllocatorDefault, 640, 480, kCVPixelFormatType_420YpCbCr8BiPlanarFullRange, attributes as CFDictionary,
    &out)
  guard status == kCVReturnSuccess, let pixelBuffer = out else { return check(false, "\(status)") }
  check(CVPixelBufferIsPlanar(pixelBuffer))
  checkEqual(CVPixelBufferGetPlaneCount(pixelBuffer), 2)
  checkEqual(CVPixelBufferGetWidthOfPlane(pixelBuffer, 1), 320)
  checkEqual(CVPixelBufferGetHeightOfPlane(pixelBuffer, 1), 240)
  check(CVPixelBufferGetBytesPerRowOfPlane(pixelBuffer, 1) >= 640)
  checkEqual(CVPixelBufferGetPixelFormatType(pixelBuffer), kCVPixelFormatType_420YpCbCr8BiPlanarFullRange)
  checkEqual(CVPixelBufferLockBaseAddress(pixelBuffer, []), kCVReturnSuccess)
  if let luma = CVPixelBufferGetBaseAddressOfPlane(pixelBuffer, 0)?.assumingMemoryBound(to: UInt8.self) {
    luma[0] = 200
    memset(luma + 1, 100, 639)
  }
  CVPixelBufferUnlockBaseAddress(pixelBuffer, [])
  CVPixelBufferLockBaseAddress(pixelBuffer, .readOnly)
  let read = CVPixelBufferGetBaseAddressOfPlane(pixelBuffer, 0)!.load(as: UInt8.self)
  checkEqual(read, 200)
  CVPixelBufferUnlockBaseAddress(pixelBuffer, CVPixelBufferLockFlags.readOnly)
  checkEqual(CVImageBufferGetEncodedSize(pixelBuffer), CGSize(width: 640, height: 480))
  checkEqual(CVImageBufferGetDisplaySize(pixelBuffer), CGSize(width: 640, height: 480))
  checkEqual(CVImageBufferGetCleanRect(pixelBuffer), CGRect(x: 0, y: 0, width: 640, height: 480))
  check(CVPixelBufferGetDataSize(pixelBuffer) >= 640 * 480 * 3 / 2)

  // Packed.
  var bgra: CVPixelBuffer!
  CVPixelBufferCreate(nil, 17, 5, kCVPixelFormatType_32BGRA, nil, &bgra)
  check(!CVPixelBufferIsPlanar(bgra))
  checkEqual(CVPixelBufferGetPlaneCount(bgra), 0)
  check(CVPixelBufferGetBytesPerRow(bgra) >= 68 && CVPixelBufferGetBytesPerRow(bgra) % 16 == 0)
  CVPixelBufferLockBaseAddress(bgra, CVPixelBufferLockFlags(rawValue: 0))
  let pointer = unsafeBitCast(CVPixelBufferGetBaseAddress(bgra), to: UnsafeMutablePointer<UInt32>.self)
  pointer[0] = 0xFF00_FF00
  let buffer = UnsafeMutableBufferPointer(start: pointer, count: 4)
  checkEqual(buffer[0], 0xFF00_FF00)
  CVPixelBufferUnlockBaseAddress(bgra, CVPixelBufferLockFlags(rawValue: 0))
  check(CVPixelBufferCreate(nil, 0, 5, kCVPixelFormatType_32BGRA, nil, &bgra) != kCVReturnSuccess)
  var unknown: CVPixelBuffer?
  checkEqual(CVPixelBufferCreate(nil, 8, 8, 0x3F3F_3F3F, nil, &unknown), kCVReturnInvalidPixelFormat)

  // Outside memory.
  let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 64 * 4 * 4)
  bytes.initialize(repeating: 7, count: 64 * 4 * 4)
  var wrapped: CVPixelBuffer?
  checkEqual(
    CVPixelBufferCreateWithBytes(
      kCFAllocatorDefault, 64, 4, kCVPixelFormatType_32BGRA, bytes, 256,
      { refcon, baseAddress in
        releaseCount += 1
        baseAddress?.assumingMemoryBound(to: UInt8.self).deallocate()
      }, nil, nil, &wrapped), kCVReturnSuccess)
  CVPixelBufferLockBaseAddress(wrapped!, .readOnly)
  check(CVPixelBufferGetBaseAddress(wrapped!) == UnsafeMutableRawPointer(bytes))
  CVPixelBufferUnlockBaseAddress(wrapped!, .readOnly)
  wrapped = nil
  checkEqual(releaseCount, 1)

  let plane0 = UnsafeMutablePointer<UInt8>.allocate(capacity: 16 * 16)
  let plane1 = UnsafeMutablePointer<UInt8>.allocate(capacity: 16 * 8)
  var planeBaseAddress: [UnsafeMutableRawPointer?] = [
    UnsafeMutableRawPointer(plane0), UnsafeMutableRawPointer(plane1),
  ]
  var planeWidth: [Int] = [16, 8]
  var planeHeight: [Int] = [16, 8]
  var planeBytesPerRow: [Int] = [16, 16]
  checkEqual(
    CVPixelBufferCreateWithPlanarBytes(
      kCFAllocatorDefault, 16, 16, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, nil, 0, 2,
      &planeBaseAddress,
      &planeWidth, &planeHeight, &planeBytesPerRow,
      { _, _, _, count, addresses in
        releaseCount += count
        for i in 0..<count { addresses?[i]?.assumingMemoryBound(to: UInt8.self).deallocate() }
      }, nil, nil, &wrapped), kCVReturnSuccess)
  checkEqual(CVPixelBufferGetBytesPerRowOfPlane(wrapped!, 1), 16)
  wrapped = nil
  checkEqual(releaseCount, 3)
}

func pools() {
  // The way encoders and filters make one.
  let poolAttributes: [String: Any] = [kCVPixelBufferPoolMinimumBufferCountKey as String: 3]
  let bufferAttributes: [String: Any] = [
    kCVPixelBufferPixelFormatTypeKey as String: UInt(kCVPixelFormatType_32BGRA),
    kCVPixelBufferWidthKey as String: 320, kCVPixelBufferHeightKey as String: 240,
    kCVPixelBufferOpenGLCompatibilityKey as String: true,
    kCVPixelBufferIOSurfacePropertiesKey as String: NSDictionary(),
  ]
  var pool: CVPixelBufferPool?
  checkEqual(
    CVPixelBufferPoolCreate(
      kCFAllocatorDefault, poolAttributes as NSDictionary?, bufferAttributes as NSDictionary?, &pool),
    kCVReturnSuccess)
  let auxAttributes = [kCVPixelBufferPoolAllocationThresholdKey as String: NSNumber(value: 3)] as NSDictionary
  // Preallocation, in the shape of Apple's camera samples.
  var pixelBuffers = [CVPixelBuffer]()
  var error: CVReturn = kCVReturnSuccess
  var pixelBuffer: CVPixelBuffer?
  while error == kCVReturnSuccess {
    error = CVPixelBufferPoolCreatePixelBufferWithAuxAttributes(
      kCFAllocatorDefault, pool!, auxAttributes, &pixelBuffer)
    if let pixelBuffer { pixelBuffers.append(pixelBuffer) }
    pixelBuffer = nil
  }
  checkEqual(error, kCVReturnWouldExceedAllocationThreshold)
  checkEqual(pixelBuffers.count, 3)
  let addresses = Set(pixelBuffers.map { ObjectIdentifier($0) })
  checkEqual(addresses.count, 3)
  pixelBuffers.removeAll()
  // A buffer that was given back is used again.
  checkEqual(
    CVPixelBufferPoolCreatePixelBufferWithAuxAttributes(
      kCFAllocatorDefault, pool!, auxAttributes, &pixelBuffer),
    kCVReturnSuccess)
  checkEqual(CVPixelBufferPoolCreatePixelBuffer(nil, pool!, &pixelBuffer), kCVReturnSuccess)
  checkEqual(CVPixelBufferGetWidth(pixelBuffer!), 320)
  let attributes = CVPixelBufferPoolGetPixelBufferAttributes(pool!) as! [String: Any]
  check(attributes[kCVPixelBufferWidthKey as String] as? Int == 320)
  check(
    (CVPixelBufferPoolGetAttributes(pool!) as! [String: Any])[
      kCVPixelBufferPoolMinimumBufferCountKey as String]
      as? Int == 3)
  CVPixelBufferPoolFlush(pool!, [.excessBuffers])
  CVPixelBufferPoolFlush(pool!, CVPixelBufferPoolFlushFlags(rawValue: 0))
  var formatDescription: CMFormatDescription?
  CMVideoFormatDescriptionCreateForImageBuffer(
    allocator: kCFAllocatorDefault, imageBuffer: pixelBuffer!, formatDescriptionOut: &formatDescription)
  checkEqual(CMFormatDescriptionGetMediaSubType(formatDescription!), kCVPixelFormatType_32BGRA)
  check(CFGetTypeID(pool!) == CVPixelBufferPoolGetTypeID())
  var invalid: CVPixelBufferPool?
  checkEqual(
    CVPixelBufferPoolCreate(nil, nil, [kCVPixelBufferWidthKey: 10] as CFDictionary, &invalid),
    kCVReturnInvalidPixelBufferAttributes)
}
