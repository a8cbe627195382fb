import CoreFoundation

/// Makes a pixel buffer with memory of its own.
///
/// Rows are multiples of 64 bytes unless `kCVPixelBufferBytesPerRowAlignmentKey` says otherwise; the memory
/// starts on a multiple of 64; planes follow each other in one block, without a gap unless
/// `kCVPixelBufferPlaneAlignmentKey` asks for one. The pixels' first values are undefined.
///
/// - Returns: `kCVReturnInvalidSize`, `kCVReturnInvalidPixelFormat`, `kCVReturnInvalidPixelBufferAttributes`
///   or `kCVReturnAllocationFailed`; the buffer is nil then.
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
  return kCVReturnSuccess
}

/// The given attributes with the size and the format that the buffer really has.
func creationAttributes(_ given: CFDictionary?, _ width: Int, _ height: Int, _ format: OSType) -> CFDictionary
{
  let result = NSMutableDictionary()
  if let given { result.addEntries(from: given as! [AnyHashable: Any]) }
  result[kCVPixelBufferWidthKey] = NSNumber(value: width)
  result[kCVPixelBufferHeightKey] = NSNumber(value: height)
  result[kCVPixelBufferPixelFormatTypeKey] = NSNumber(value: format)
  return result.copy() as! NSDictionary
}
