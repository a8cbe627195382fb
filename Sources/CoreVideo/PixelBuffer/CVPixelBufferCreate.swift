// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// Creates a pixel buffer with memory of its own.
///
/// Rows are multiples of 64 bytes unless `kCVPixelBufferBytesPerRowAlignmentKey` names another
/// alignment; the memory starts at a multiple of 64; planes follow each other in one block, without
/// a gap unless `kCVPixelBufferPlaneAlignmentKey` asks for one. The values of the pixels are
/// undefined.
///
/// - Returns: `kCVReturnInvalidSize`, `kCVReturnInvalidPixelFormat`,
///   `kCVReturnInvalidPixelBufferAttributes` or `kCVReturnAllocationFailed`; the buffer is nil
///   then.
@discardableResult
public func CVPixelBufferCreate(
  _ allocator: CFAllocator?, _ width: Int, _ height: Int, _ pixelFormatType: OSType,
  _ pixelBufferAttributes: CFDictionary?, _ pixelBufferOut: UnsafeMutablePointer<CVPixelBuffer?>
) -> CVReturn {
  pixelBufferOut.pointee = nil
  guard width > 0, height > 0 else { return kCVReturnInvalidSize }
  guard let format = PixelFormat.find(pixelFormatType) else { return kCVReturnInvalidPixelFormat }
  let attributes: PixelBufferAttributes
  do { attributes = try PixelBufferAttributes(pixelBufferAttributes) } catch { return error.code }
  guard let layout = try? attributes.layout(format, width: width, height: height) else {
    return kCVReturnInvalidSize
  }
  guard let storage = PixelStorage(layout: layout) else { return kCVReturnAllocationFailed }
  pixelBufferOut.pointee = CVBuffer(
    storage: storage, pixelFormatType: pixelFormatType, width: width, height: height,
    extendedPixels: attributes.extended,
    creationAttributes: creationAttributes(pixelBufferAttributes, width, height, pixelFormatType))
  pixelBufferOut.pointee?.attachInitial(pixelBufferAttributes)
  return kCVReturnSuccess
}

/// The type identifier of pixel buffers.
@discardableResult
public func CVPixelBufferGetTypeID() -> CFTypeID { CVBuffer.cfTypeID }

/// The attributes that a buffer was created with, including its size and format.
@discardableResult
public func CVPixelBufferCopyCreationAttributes(_ pixelBuffer: CVPixelBuffer) -> CFDictionary {
  pixelBuffer.creationAttributes
}

/// Whether a buffer meets the requirements of attributes: it has their size, one of their formats,
/// extended pixels at least as wide, and rows and planes with at least their alignment.
@discardableResult
public func CVPixelBufferIsCompatibleWithAttributes(
  _ pixelBuffer: CVPixelBuffer, _ attributes: CFDictionary?
) -> Bool {
  guard let wanted = try? PixelBufferAttributes(attributes) else { return false }
  let storage = pixelBuffer.storage
  let (has, wants) = (pixelBuffer.extendedPixels, wanted.extended)
  guard wanted.width ?? pixelBuffer.width == pixelBuffer.width,
    wanted.height ?? pixelBuffer.height == pixelBuffer.height,
    wanted.pixelFormats?.contains(pixelBuffer.pixelFormatType) ?? true,
    has.left >= wants.left, has.right >= wants.right, has.top >= wants.top, has.bottom >= wants.bottom
  else { return false }
  let row = wanted.bytesPerRowAlignment ?? 1
  let plane = wanted.planeAlignment ?? 1
  return (0..<max(storage.planeCount, 1)).allSatisfy {
    storage.planes[$0].bytesPerRow % row == 0
      && UInt(bitPattern: storage.planes[$0].baseAddress) % UInt(plane) == 0
  }
}

/// The given attributes, with the buffer's actual size and format.
func creationAttributes(_ given: CFDictionary?, _ width: Int, _ height: Int, _ format: OSType) -> CFDictionary
{
  let result = NSMutableDictionary()
  if let given { result.addEntries(from: given as! [AnyHashable: Any]) }
  result[kCVPixelBufferWidthKey] = NSNumber(value: width)
  result[kCVPixelBufferHeightKey] = NSNumber(value: height)
  result[kCVPixelBufferPixelFormatTypeKey] = NSNumber(value: format)
  return result.copy() as! NSDictionary
}
