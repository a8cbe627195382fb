// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreVideo
import Synchronization

@c @implementation
public func CVPixelFormatDescriptionCreateWithPixelFormatType(
  _ allocator: OpaquePointer?, _ pixelFormat: UInt32
) -> OpaquePointer? {
  ToC.retained(
    CoreVideo.CVPixelFormatDescriptionCreateWithPixelFormatType(FromC.allocator(allocator), pixelFormat)
      .map(FillCallback.toC))
}

@c @implementation
public func CVPixelFormatDescriptionArrayCreateWithAllPixelFormatTypes(_ allocator: OpaquePointer?)
  -> OpaquePointer?
{
  ToC.retained(
    CoreVideo.CVPixelFormatDescriptionArrayCreateWithAllPixelFormatTypes(FromC.allocator(allocator)))
}

@c @implementation
public func CVPixelFormatDescriptionRegisterDescriptionWithPixelFormatType(
  _ description: OpaquePointer?, _ pixelFormat: UInt32
) {
  guard let description = FromC.dictionary(description) else { return }
  CoreVideo.CVPixelFormatDescriptionRegisterDescriptionWithPixelFormatType(
    FillCallback.toModule(description), pixelFormat)
}

/// A callback of C that fills extended pixels, as the module calls it: the bytes of the structure
/// of C are not those of the module's, whose callback is a closure that must not capture anything.
/// So the callback is what the closure's context pointer points to.
private final class FillCallback: @unchecked Sendable {
  // Sendable: immutable; the program says from which threads its function may be called.
  let given: C_CVFillExtendedPixelsCallBackData

  init(_ given: C_CVFillExtendedPixelsCallBackData) { self.given = given }

  /// All callbacks that were registered, by their addresses. They stay: a format stays registered.
  private static let registered = Mutex<[UInt: FillCallback]>([:])

  private static func callback(at address: UInt) -> FillCallback? { registered.withLock { $0[address] } }

  private static func closure(_ buffer: CVPixelBuffer, _ context: UnsafeMutableRawPointer?) -> Bool {
    guard let context else { return false }
    let given = Unmanaged<FillCallback>.fromOpaque(context).takeUnretainedValue().given
    return given.fillCallBack.map { $0(ToC.unretained(buffer), given.refCon) != 0 } ?? true
  }

  /// A copy of a description with the module's structure in place of that of C.
  static func toModule(_ description: NSDictionary) -> NSDictionary {
    let key = CoreVideo.kCVPixelFormatFillExtendedPixelsCallback
    guard let data = description.object(forKey: key) as? NSData,
      data.length == MemoryLayout<C_CVFillExtendedPixelsCallBackData>.size,
      let result = description.mutableCopy() as? NSMutableDictionary
    else { return description }
    let callback = FillCallback(data.bytes.loadUnaligned(as: C_CVFillExtendedPixelsCallBackData.self))
    let address = Unmanaged.passUnretained(callback).toOpaque()
    let number = UInt(bitPattern: address)
    registered.withLock { $0[number] = callback }
    var structure = CVFillExtendedPixelsCallBackData(
      version: callback.given.version, fillCallBack: closure, refCon: address)
    let bytes = withUnsafeBytes(of: &structure) { NSData(bytes: $0.baseAddress, length: $0.count) }
    result.setObject(bytes, forKey: key)
    return result
  }

  /// A copy of a description of the module with the structure of C that the program registered.
  static func toC(_ description: NSDictionary) -> NSDictionary {
    let key = CoreVideo.kCVPixelFormatFillExtendedPixelsCallback
    guard let data = description.object(forKey: key) as? NSData,
      let offset = MemoryLayout<CVFillExtendedPixelsCallBackData>.offset(of: \.refCon),
      data.length == MemoryLayout<CVFillExtendedPixelsCallBackData>.size,
      let callback = callback(at: data.bytes.loadUnaligned(fromByteOffset: offset, as: UInt.self)),
      let result = description.mutableCopy() as? NSMutableDictionary
    else { return description }
    let bytes = withUnsafeBytes(of: callback.given) { NSData(bytes: $0.baseAddress, length: $0.count) }
    result.setObject(bytes, forKey: key)
    return result
  }
}
