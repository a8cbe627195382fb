// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

@c @implementation
public func CMMetadataFormatDescriptionCreateWithKeys(
  _ allocator: OpaquePointer?, _ metadataType: UInt32, _ keys: OpaquePointer?,
  _ formatDescriptionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  formatDescriptionOut?.pointee = nil
  guard let formatDescriptionOut else { return kCMFormatDescriptionError_InvalidParameter }
  guard let keys = FromC.optionalArray(keys) else { return kCMFormatDescriptionError_InvalidParameter }
  var formatDescriptionOutObject: CMMetadataFormatDescription?
  let result = CoreMedia.CMMetadataFormatDescriptionCreateWithKeys(
    allocator: FromC.allocator(allocator), metadataType: metadataType, keys: keys,
    formatDescriptionOut: &formatDescriptionOutObject)
  formatDescriptionOut.pointee = ToC.retained(formatDescriptionOutObject)
  return result
}

@c @implementation
public func CMMetadataFormatDescriptionCreateWithMetadataSpecifications(
  _ allocator: OpaquePointer?, _ metadataType: UInt32, _ metadataSpecifications: OpaquePointer?,
  _ formatDescriptionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  formatDescriptionOut?.pointee = nil
  guard let formatDescriptionOut else { return kCMFormatDescriptionError_InvalidParameter }
  guard let metadataSpecifications = FromC.array(metadataSpecifications) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  var formatDescriptionOutObject: CMMetadataFormatDescription?
  let result = CoreMedia.CMMetadataFormatDescriptionCreateWithMetadataSpecifications(
    allocator: FromC.allocator(allocator), metadataType: metadataType,
    metadataSpecifications: metadataSpecifications, formatDescriptionOut: &formatDescriptionOutObject)
  formatDescriptionOut.pointee = ToC.retained(formatDescriptionOutObject)
  return result
}

@c @implementation
public func CMMetadataFormatDescriptionCreateWithMetadataFormatDescriptionAndMetadataSpecifications(
  _ allocator: OpaquePointer?, _ sourceDescription: OpaquePointer?, _ metadataSpecifications: OpaquePointer?,
  _ formatDescriptionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  formatDescriptionOut?.pointee = nil
  guard let formatDescriptionOut else { return kCMFormatDescriptionError_InvalidParameter }
  guard let sourceDescription = FromC.object(sourceDescription, CMFormatDescription.self) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  guard let metadataSpecifications = FromC.array(metadataSpecifications) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  var formatDescriptionOutObject: CMMetadataFormatDescription?
  let result =
    CoreMedia.CMMetadataFormatDescriptionCreateWithMetadataFormatDescriptionAndMetadataSpecifications(
      allocator: FromC.allocator(allocator), sourceDescription: sourceDescription,
      metadataSpecifications: metadataSpecifications, formatDescriptionOut: &formatDescriptionOutObject)
  formatDescriptionOut.pointee = ToC.retained(formatDescriptionOutObject)
  return result
}

@c @implementation
public func CMMetadataFormatDescriptionCreateByMergingMetadataFormatDescriptions(
  _ allocator: OpaquePointer?, _ sourceDescription: OpaquePointer?, _ otherSourceDescription: OpaquePointer?,
  _ formatDescriptionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  formatDescriptionOut?.pointee = nil
  guard let formatDescriptionOut else { return kCMFormatDescriptionError_InvalidParameter }
  guard let sourceDescription = FromC.object(sourceDescription, CMFormatDescription.self) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  guard let otherSourceDescription = FromC.object(otherSourceDescription, CMFormatDescription.self) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  var formatDescriptionOutObject: CMMetadataFormatDescription?
  let result = CoreMedia.CMMetadataFormatDescriptionCreateByMergingMetadataFormatDescriptions(
    allocator: FromC.allocator(allocator), sourceDescription: sourceDescription,
    otherSourceDescription: otherSourceDescription, formatDescriptionOut: &formatDescriptionOutObject)
  formatDescriptionOut.pointee = ToC.retained(formatDescriptionOutObject)
  return result
}

@c @implementation
public func CMMetadataFormatDescriptionGetKeyWithLocalID(_ desc: OpaquePointer?, _ localKeyID: UInt32)
  -> OpaquePointer?
{
  guard let desc = FromC.object(desc, CMFormatDescription.self) else { return nil }
  return ToC.kept(by: desc, "key \(localKeyID)") {
    CoreMedia.CMMetadataFormatDescriptionGetKeyWithLocalID(desc, localKeyID: localKeyID)
  }
}

@c @implementation
public func CMMetadataFormatDescriptionGetIdentifiers(_ desc: OpaquePointer?) -> OpaquePointer? {
  guard let desc = FromC.object(desc, CMFormatDescription.self) else { return nil }
  return ToC.kept(by: desc, "identifiers") { CoreMedia.CMMetadataFormatDescriptionGetIdentifiers(desc) }
}
