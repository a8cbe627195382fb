// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

// Pixel buffers that wrap memory of the program.

/// Called when the memory is no longer used, with the `releaseRefCon` of the creation and the
/// memory's address.
public typealias CVPixelBufferReleaseBytesCallback =
  @convention(c) (_ releaseRefCon: UnsafeMutableRawPointer?, _ baseAddress: UnsafeRawPointer?) -> Void

/// Called when the memory is no longer used, with the `releaseRefCon` of the creation, the block's
/// address and size, and the addresses of all planes.
public typealias CVPixelBufferReleasePlanarBytesCallback =
  @convention(c) (
    _ releaseRefCon: UnsafeMutableRawPointer?, _ dataPtr: UnsafeRawPointer?, _ dataSize: Int,
    _ numberOfPlanes: Int,
    _ planeAddresses: UnsafeMutablePointer<UnsafeRawPointer?>?
  ) -> Void

/// Creates a pixel buffer that wraps memory with pixels in one plane.
///
/// Nothing is copied: the memory must stay valid until `releaseCallback` is called.
/// - Parameters:
///   - allocator: Ignored.
///   - width: The width in pixels.
///   - height: The height in pixels.
///   - pixelFormatType: A pixel format with one plane.
///   - baseAddress: The address of the first row.
///   - bytesPerRow: The distance between two rows in bytes.
///   - releaseCallback: Called once, when the memory is no longer used; may be nil.
///   - releaseRefCon: Passed to the callback.
///   - pixelBufferAttributes: Attributes of the pixel buffer, as for `CVPixelBufferCreate`.
///   - pixelBufferOut: Receives the pixel buffer.
/// - Returns: `kCVReturnInvalidArgument` if `bytesPerRow` is too small for a row or exceeds 2^31 -
///   1, or the format has several planes; the other errors of `CVPixelBufferCreate`. The callback
///   is not called in these cases.
@discardableResult
public func CVPixelBufferCreateWithBytes(
  _ allocator: CFAllocator?, _ width: Int, _ height: Int, _ pixelFormatType: OSType,
  _ baseAddress: UnsafeMutableRawPointer, _ bytesPerRow: Int,
  _ releaseCallback: CVPixelBufferReleaseBytesCallback?, _ releaseRefCon: UnsafeMutableRawPointer?,
  _ pixelBufferAttributes: CFDictionary?, _ pixelBufferOut: UnsafeMutablePointer<CVPixelBuffer?>
) -> CVReturn {
  pixelBufferOut.pointee = nil
  guard width > 0, height > 0 else { return kCVReturnInvalidSize }
  guard let format = PixelFormat.find(pixelFormatType) else { return kCVReturnInvalidPixelFormat }
  guard format.planes.count == 1 else { return kCVReturnInvalidArgument }
  let layout: PixelLayout
  switch wrappingLayout(format, width, height, pixelBufferAttributes) {
  case .success(let tight): layout = tight
  case .failure(let failure): return failure.code
  }
  let (size, overflow) = bytesPerRow.multipliedReportingOverflow(by: layout.planes[0].rows)
  guard bytesPerRow >= layout.planes[0].bytesPerRow, bytesPerRow <= maxBytesPerRow, !overflow else {
    return kCVReturnInvalidArgument
  }
  let owner = OutsideMemory(address: baseAddress, refCon: releaseRefCon)
  var release: (@Sendable () -> Void)?
  if let releaseCallback {
    release = { releaseCallback(owner.refCon, owner.address) }
  }
  let storage = PixelStorage(
    baseAddress: baseAddress, dataSize: size, bytesPerRow: bytesPerRow, isPlanar: format.isPlanar,
    planes: [
      .init(
        baseAddress: baseAddress, width: width, height: height, bytesPerRow: bytesPerRow, byteCount: size)
    ],
    allocation: nil, release: release)
  pixelBufferOut.pointee = CVBuffer(
    storage: storage, pixelFormatType: pixelFormatType, width: width, height: height, extendedPixels: .init(),
    creationAttributes: creationAttributes(pixelBufferAttributes, width, height, pixelFormatType))
  pixelBufferOut.pointee?.attachInitial(pixelBufferAttributes)
  return kCVReturnSuccess
}

/// Creates a pixel buffer that wraps memory with pixels in several planes.
///
/// - Parameters:
///   - allocator: Ignored.
///   - width: The width in pixels.
///   - height: The height in pixels.
///   - pixelFormatType: A planar pixel format.
///   - dataPtr: The block that contains all planes, which `CVPixelBufferGetBaseAddress` returns;
///     nil if there is none.
///   - dataSize: The size of the block in bytes.
///   - numberOfPlanes: The number of planes of the format.
///   - planeBaseAddress: The address of each plane.
///   - planeWidth: The width of each plane in pixels.
///   - planeHeight: The height of each plane in rows.
///   - planeBytesPerRow: The distance between two rows of each plane in bytes.
///   - releaseCallback: Called once, when the memory is no longer used; may be nil.
///   - releaseRefCon: Passed to the callback.
///   - pixelBufferAttributes: Attributes of the pixel buffer, as for `CVPixelBufferCreate`.
///   - pixelBufferOut: Receives the pixel buffer.
/// - Returns: `kCVReturnInvalidArgument` if the number of planes is wrong, an address is nil, a
///   size or a row's length is too small, a row's length exceeds 2^31 - 1, or a plane's size
///   exceeds Int; the other errors of `CVPixelBufferCreate`. The callback is not called in these
///   cases.
@discardableResult
public func CVPixelBufferCreateWithPlanarBytes(
  _ allocator: CFAllocator?, _ width: Int, _ height: Int, _ pixelFormatType: OSType,
  _ dataPtr: UnsafeMutableRawPointer?, _ dataSize: Int, _ numberOfPlanes: Int,
  _ planeBaseAddress: UnsafeMutablePointer<UnsafeMutableRawPointer?>, _ planeWidth: UnsafeMutablePointer<Int>,
  _ planeHeight: UnsafeMutablePointer<Int>, _ planeBytesPerRow: UnsafeMutablePointer<Int>,
  _ releaseCallback: CVPixelBufferReleasePlanarBytesCallback?, _ releaseRefCon: UnsafeMutableRawPointer?,
  _ pixelBufferAttributes: CFDictionary?, _ pixelBufferOut: UnsafeMutablePointer<CVPixelBuffer?>
) -> CVReturn {
  pixelBufferOut.pointee = nil
  guard width > 0, height > 0 else { return kCVReturnInvalidSize }
  guard let format = PixelFormat.find(pixelFormatType) else { return kCVReturnInvalidPixelFormat }
  guard numberOfPlanes == format.planes.count, dataSize >= 0 else { return kCVReturnInvalidArgument }
  let layout: PixelLayout
  switch wrappingLayout(format, width, height, pixelBufferAttributes) {
  case .success(let tight): layout = tight
  case .failure(let failure): return failure.code
  }
  var planes: [PixelStorage.Plane] = []
  var allBytes = 0
  for (index, tight) in layout.planes.enumerated() {
    guard let address = planeBaseAddress[index],
      planeBytesPerRow[index] >= tight.bytesPerRow, planeBytesPerRow[index] <= maxBytesPerRow,
      planeWidth[index] >= tight.width, planeHeight[index] >= tight.height
    else { return kCVReturnInvalidArgument }
    let (bytes, tooLarge) = planeBytesPerRow[index].multipliedReportingOverflow(by: planeHeight[index])
    let (sum, overflow) = allBytes.addingReportingOverflow(bytes)
    guard !tooLarge, !overflow else { return kCVReturnInvalidArgument }
    allBytes = sum
    planes.append(
      .init(
        baseAddress: address, width: planeWidth[index], height: planeHeight[index],
        bytesPerRow: planeBytesPerRow[index],
        byteCount: planeBytesPerRow[index] * ceilDivide(planeHeight[index], format.planes[index].blockHeight))
    )
  }
  let size = dataSize > 0 ? dataSize : allBytes
  let owner = OutsideMemory(address: dataPtr, refCon: releaseRefCon)
  var release: (@Sendable () -> Void)?
  if let releaseCallback {
    let planes = OutsideMemory.Planes(planes.map { UnsafeRawPointer($0.baseAddress) })
    release = {
      var addresses = planes.addresses
      releaseCallback(owner.refCon, owner.address, dataSize, addresses.count, &addresses)
    }
  }
  let storage = PixelStorage(
    baseAddress: dataPtr, dataSize: size, bytesPerRow: ceilDivide(size, height), isPlanar: true,
    planes: planes,
    allocation: nil, release: release)
  pixelBufferOut.pointee = CVBuffer(
    storage: storage, pixelFormatType: pixelFormatType, width: width, height: height, extendedPixels: .init(),
    creationAttributes: creationAttributes(pixelBufferAttributes, width, height, pixelFormatType))
  pixelBufferOut.pointee?.attachInitial(pixelBufferAttributes)
  return kCVReturnSuccess
}

/// The largest distance of two rows in bytes: codecs, converters and textures store it in 32 bits.
private let maxBytesPerRow = Int(Int32.max)

/// The smallest layout that the program's memory may have. Extended pixels are an error, because
/// nothing tells where they are in that memory.
func wrappingLayout(
  _ format: PixelFormat, _ width: Int, _ height: Int, _ attributes: CFDictionary?
) -> Result<PixelLayout, PixelBufferAttributes.Failure> {
  do {
    guard try PixelBufferAttributes(attributes).extended == ExtendedPixels() else {
      return .failure(.init(code: kCVReturnInvalidPixelBufferAttributes))
    }
  } catch {
    return .failure(error)
  }
  // Without the padding that the format requires: the program's memory may have less.
  var format = format
  for index in format.planes.indices {
    format.planes[index].blockHorizontalAlignment = 1
    format.planes[index].blockVerticalAlignment = 1
  }
  guard let layout = try? PixelLayout(format: format, width: width, height: height, rowAlignment: 1) else {
    return .failure(.init(code: kCVReturnInvalidSize))
  }
  return .success(layout)
}

/// Addresses of the program, for its release callback, which may run on any thread.
private struct OutsideMemory: @unchecked Sendable {
  // Sendable: pointers of the program, which are only passed to its release callback, once.
  let address: UnsafeMutableRawPointer?
  let refCon: UnsafeMutableRawPointer?

  struct Planes: @unchecked Sendable {
    // Sendable: pointers of the program, which are only passed to its release callback, once.
    let addresses: [UnsafeRawPointer?]
    init(_ addresses: [UnsafeRawPointer?]) { self.addresses = addresses }
  }
}
