// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreVideo

@c @implementation
public func CVPixelBufferPoolGetTypeID() -> UInt {
  CoreVideo.CVPixelBufferPoolGetTypeID()
}

@c @implementation
public func CVPixelBufferPoolCreate(
  _ allocator: OpaquePointer?, _ poolAttributes: OpaquePointer?, _ pixelBufferAttributes: OpaquePointer?,
  _ poolOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  poolOut?.pointee = nil
  guard let poolOut else { return kCVReturnInvalidArgument }
  guard let poolAttributes = FromC.optionalDictionary(poolAttributes) else { return kCVReturnInvalidArgument }
  guard let pixelBufferAttributes = FromC.optionalDictionary(pixelBufferAttributes) else {
    return kCVReturnInvalidArgument
  }
  var poolOutObject: CVPixelBufferPool?
  let result = CoreVideo.CVPixelBufferPoolCreate(
    FromC.allocator(allocator), poolAttributes, pixelBufferAttributes, &poolOutObject)
  poolOut.pointee = ToC.retained(poolOutObject)
  return result
}

@c @implementation
public func CVPixelBufferPoolGetAttributes(_ pool: OpaquePointer?) -> OpaquePointer? {
  guard let pool = FromC.object(pool, CVPixelBufferPool.self) else { return nil }
  return ToC.unretained(CoreVideo.CVPixelBufferPoolGetAttributes(pool))
}

@c @implementation
public func CVPixelBufferPoolGetPixelBufferAttributes(_ pool: OpaquePointer?) -> OpaquePointer? {
  guard let pool = FromC.object(pool, CVPixelBufferPool.self) else { return nil }
  return ToC.unretained(CoreVideo.CVPixelBufferPoolGetPixelBufferAttributes(pool))
}

@c @implementation
public func CVPixelBufferPoolCreatePixelBuffer(
  _ allocator: OpaquePointer?, _ pixelBufferPool: OpaquePointer?,
  _ pixelBufferOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  pixelBufferOut?.pointee = nil
  guard let pixelBufferOut else { return kCVReturnInvalidArgument }
  guard let pixelBufferPool = FromC.object(pixelBufferPool, CVPixelBufferPool.self) else {
    return kCVReturnInvalidArgument
  }
  var pixelBufferOutObject: CVPixelBuffer?
  let result = CoreVideo.CVPixelBufferPoolCreatePixelBuffer(
    FromC.allocator(allocator), pixelBufferPool, &pixelBufferOutObject)
  pixelBufferOut.pointee = ToC.retained(pixelBufferOutObject)
  return result
}

@c @implementation
public func CVPixelBufferPoolCreatePixelBufferWithAuxAttributes(
  _ allocator: OpaquePointer?, _ pixelBufferPool: OpaquePointer?, _ auxAttributes: OpaquePointer?,
  _ pixelBufferOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  pixelBufferOut?.pointee = nil
  guard let pixelBufferOut else { return kCVReturnInvalidArgument }
  guard let pixelBufferPool = FromC.object(pixelBufferPool, CVPixelBufferPool.self) else {
    return kCVReturnInvalidArgument
  }
  guard let auxAttributes = FromC.optionalDictionary(auxAttributes) else { return kCVReturnInvalidArgument }
  var pixelBufferOutObject: CVPixelBuffer?
  let result = CoreVideo.CVPixelBufferPoolCreatePixelBufferWithAuxAttributes(
    FromC.allocator(allocator), pixelBufferPool, auxAttributes, &pixelBufferOutObject)
  pixelBufferOut.pointee = ToC.retained(pixelBufferOutObject)
  return result
}

@c @implementation
public func CVPixelBufferPoolFlush(_ pool: OpaquePointer?, _ options: UInt64) {
  guard let pool = FromC.object(pool, CVPixelBufferPool.self) else { return }
  CoreVideo.CVPixelBufferPoolFlush(pool, .init(rawValue: options))
}
