// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreVideo

@c @implementation
public func CVPixelFormatDescriptionCreateWithPixelFormatType(
  _ allocator: OpaquePointer?, _ pixelFormat: UInt32
) -> OpaquePointer? {
  ToC.retained(
    CoreVideo.CVPixelFormatDescriptionCreateWithPixelFormatType(FromC.allocator(allocator), pixelFormat))
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
  CoreVideo.CVPixelFormatDescriptionRegisterDescriptionWithPixelFormatType(description, pixelFormat)
}
