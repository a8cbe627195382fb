// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

@c @implementation
public func CMTextFormatDescriptionGetDisplayFlags(
  _ desc: OpaquePointer?, _ displayFlagsOut: UnsafeMutablePointer<UInt32>?
) -> Int32 {
  guard let desc = FromC.object(desc, CMFormatDescription.self) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  guard let displayFlagsOut else { return kCMFormatDescriptionError_InvalidParameter }
  return CoreMedia.CMTextFormatDescriptionGetDisplayFlags(desc, displayFlagsOut: displayFlagsOut)
}

@c @implementation
public func CMTextFormatDescriptionGetJustification(
  _ desc: OpaquePointer?, _ horizontaJustificationlOut: UnsafeMutablePointer<Int8>?,
  _ verticalJustificationOut: UnsafeMutablePointer<Int8>?
) -> Int32 {
  guard let desc = FromC.object(desc, CMFormatDescription.self) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  return CoreMedia.CMTextFormatDescriptionGetJustification(
    desc, horizontalOut: horizontaJustificationlOut, verticalOut: verticalJustificationOut)
}

@c @implementation
public func CMTextFormatDescriptionGetDefaultTextBox(
  _ desc: OpaquePointer?, _ originIsAtTopLeft: UInt8, _ heightOfTextTrack: Double,
  _ defaultTextBoxOut: UnsafeMutablePointer<C_CGRect>?
) -> Int32 {
  guard let desc = FromC.object(desc, CMFormatDescription.self) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  guard let defaultTextBoxOut else { return kCMFormatDescriptionError_InvalidParameter }
  return CoreMedia.CMTextFormatDescriptionGetDefaultTextBox(
    desc, originIsAtTopLeft: originIsAtTopLeft != 0, heightOfTextTrack: heightOfTextTrack,
    defaultTextBoxOut: rebound(defaultTextBoxOut))
}

@c @implementation
public func CMTextFormatDescriptionGetDefaultStyle(
  _ desc: OpaquePointer?, _ localFontIDOut: UnsafeMutablePointer<UInt16>?,
  _ boldOut: UnsafeMutablePointer<UInt8>?, _ italicOut: UnsafeMutablePointer<UInt8>?,
  _ underlineOut: UnsafeMutablePointer<UInt8>?, _ fontSizeOut: UnsafeMutablePointer<Double>?,
  _ colorComponentsOut: UnsafeMutablePointer<Double>?
) -> Int32 {
  guard let desc = FromC.object(desc, CMFormatDescription.self) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  return CoreMedia.CMTextFormatDescriptionGetDefaultStyle(
    desc, localFontIDOut: localFontIDOut, boldOut: rebound(boldOut), italicOut: rebound(italicOut),
    underlineOut: rebound(underlineOut), fontSizeOut: rebound(fontSizeOut),
    colorComponentsOut: rebound(colorComponentsOut))
}

@c @implementation
public func CMTextFormatDescriptionGetFontName(
  _ desc: OpaquePointer?, _ localFontID: UInt16, _ fontNameOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  fontNameOut?.pointee = nil
  guard let fontNameOut else { return kCMFormatDescriptionError_InvalidParameter }
  guard let desc = FromC.object(desc, CMFormatDescription.self) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  var fontNameOutObject: CFString?
  let result = CoreMedia.CMTextFormatDescriptionGetFontName(
    desc, localFontID: localFontID, fontNameOut: &fontNameOutObject)
  fontNameOut.pointee = ToC.retained(fontNameOutObject)
  return result
}

@c @implementation
public func CMTimeCodeFormatDescriptionCreate(
  _ allocator: OpaquePointer?, _ timeCodeFormatType: UInt32, _ frameDuration: C_CMTime, _ frameQuanta: UInt32,
  _ flags: UInt32, _ extensions: OpaquePointer?, _ formatDescriptionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  formatDescriptionOut?.pointee = nil
  guard let formatDescriptionOut else { return kCMFormatDescriptionError_InvalidParameter }
  guard let extensions = FromC.optionalDictionary(extensions) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  var formatDescriptionOutObject: CMTimeCodeFormatDescription?
  let result = CoreMedia.CMTimeCodeFormatDescriptionCreate(
    allocator: FromC.allocator(allocator), timeCodeFormatType: timeCodeFormatType,
    frameDuration: FromC.value(frameDuration), frameQuanta: frameQuanta, flags: flags, extensions: extensions,
    formatDescriptionOut: &formatDescriptionOutObject)
  formatDescriptionOut.pointee = ToC.retained(formatDescriptionOutObject)
  return result
}

@c @implementation
public func CMTimeCodeFormatDescriptionGetFrameDuration(_ timeCodeFormatDescription: OpaquePointer?)
  -> C_CMTime
{
  guard let timeCodeFormatDescription = FromC.object(timeCodeFormatDescription, CMFormatDescription.self)
  else { return ToC.value(CoreMedia.CMTime.invalid) }
  return ToC.value(CoreMedia.CMTimeCodeFormatDescriptionGetFrameDuration(timeCodeFormatDescription))
}

@c @implementation
public func CMTimeCodeFormatDescriptionGetFrameQuanta(_ timeCodeFormatDescription: OpaquePointer?) -> UInt32 {
  guard let timeCodeFormatDescription = FromC.object(timeCodeFormatDescription, CMFormatDescription.self)
  else { return 0 }
  return CoreMedia.CMTimeCodeFormatDescriptionGetFrameQuanta(timeCodeFormatDescription)
}

@c @implementation
public func CMTimeCodeFormatDescriptionGetTimeCodeFlags(_ desc: OpaquePointer?) -> UInt32 {
  guard let desc = FromC.object(desc, CMFormatDescription.self) else { return 0 }
  return CoreMedia.CMTimeCodeFormatDescriptionGetTimeCodeFlags(desc)
}
