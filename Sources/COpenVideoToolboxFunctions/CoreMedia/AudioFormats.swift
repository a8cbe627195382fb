// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

@c @implementation
public func CMAudioFormatDescriptionCreate(
  _ allocator: OpaquePointer?, _ asbd: UnsafePointer<C_AudioStreamBasicDescription>?, _ layoutSize: Int,
  _ layout: UnsafePointer<C_AudioChannelLayout>?, _ magicCookieSize: Int, _ magicCookie: UnsafeRawPointer?,
  _ extensions: OpaquePointer?, _ formatDescriptionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  formatDescriptionOut?.pointee = nil
  guard let formatDescriptionOut else { return kCMFormatDescriptionError_InvalidParameter }
  guard let asbd else { return kCMFormatDescriptionError_InvalidParameter }
  guard let extensions = FromC.optionalDictionary(extensions) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  var formatDescriptionOutObject: CMAudioFormatDescription?
  let result = CoreMedia.CMAudioFormatDescriptionCreate(
    allocator: FromC.allocator(allocator), asbd: rebound(asbd), layoutSize: layoutSize,
    layout: rebound(layout), magicCookieSize: magicCookieSize, magicCookie: magicCookie,
    extensions: extensions, formatDescriptionOut: &formatDescriptionOutObject)
  formatDescriptionOut.pointee = ToC.retained(formatDescriptionOutObject)
  return result
}

@c @implementation
public func CMAudioFormatDescriptionGetStreamBasicDescription(_ desc: OpaquePointer?) -> UnsafePointer<
  C_AudioStreamBasicDescription
>? {
  guard let desc = FromC.object(desc, CMFormatDescription.self) else { return nil }
  return rebound(CoreMedia.CMAudioFormatDescriptionGetStreamBasicDescription(desc))
}

@c @implementation
public func CMAudioFormatDescriptionGetMagicCookie(
  _ desc: OpaquePointer?, _ sizeOut: UnsafeMutablePointer<Int>?
) -> UnsafeRawPointer? {
  guard let desc = FromC.object(desc, CMFormatDescription.self) else { return nil }
  return CoreMedia.CMAudioFormatDescriptionGetMagicCookie(desc, sizeOut: sizeOut)
}

@c @implementation
public func CMAudioFormatDescriptionGetChannelLayout(
  _ desc: OpaquePointer?, _ sizeOut: UnsafeMutablePointer<Int>?
) -> UnsafePointer<C_AudioChannelLayout>? {
  guard let desc = FromC.object(desc, CMFormatDescription.self) else { return nil }
  return rebound(CoreMedia.CMAudioFormatDescriptionGetChannelLayout(desc, sizeOut: sizeOut))
}

@c @implementation
public func CMAudioFormatDescriptionGetFormatList(
  _ desc: OpaquePointer?, _ sizeOut: UnsafeMutablePointer<Int>?
) -> UnsafePointer<C_AudioFormatListItem>? {
  guard let desc = FromC.object(desc, CMFormatDescription.self) else { return nil }
  return rebound(CoreMedia.CMAudioFormatDescriptionGetFormatList(desc, sizeOut: sizeOut))
}

@c @implementation
public func CMAudioFormatDescriptionGetRichestDecodableFormat(_ desc: OpaquePointer?) -> UnsafePointer<
  C_AudioFormatListItem
>? {
  guard let desc = FromC.object(desc, CMFormatDescription.self) else { return nil }
  return rebound(CoreMedia.CMAudioFormatDescriptionGetRichestDecodableFormat(desc))
}

@c @implementation
public func CMAudioFormatDescriptionGetMostCompatibleFormat(_ desc: OpaquePointer?) -> UnsafePointer<
  C_AudioFormatListItem
>? {
  guard let desc = FromC.object(desc, CMFormatDescription.self) else { return nil }
  return rebound(CoreMedia.CMAudioFormatDescriptionGetMostCompatibleFormat(desc))
}

@c @implementation
public func CMAudioFormatDescriptionEqual(
  _ formatDescription: OpaquePointer?, _ otherFormatDescription: OpaquePointer?, _ equalityMask: UInt32,
  _ equalityMaskOut: UnsafeMutablePointer<UInt32>?
) -> UInt8 {
  guard let formatDescription = FromC.object(formatDescription, CMFormatDescription.self) else { return 0 }
  guard let otherFormatDescription = FromC.object(otherFormatDescription, CMFormatDescription.self) else {
    return 0
  }
  return CoreMedia.CMAudioFormatDescriptionEqual(
    formatDescription, otherFormatDescription: otherFormatDescription, equalityMask: equalityMask,
    equalityMaskOut: equalityMaskOut) ? 1 : 0
}
