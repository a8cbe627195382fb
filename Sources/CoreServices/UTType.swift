// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation
import UniformTypeIdentifiers

private func type(_ identifier: CFString) -> UniformTypeIdentifiers.UTType? {
  UniformTypeIdentifiers.UTType(identifier as String)
}

/// Whether a type is another, or a kind of it.
public func UTTypeConformsTo(_ inUTI: CFString, _ inConformsToUTI: CFString) -> Bool {
  guard let own = type(inUTI), let other = type(inConformsToUTI) else { return false }
  return own.conforms(to: other)
}

/// Whether two identifiers are of one type.
public func UTTypeEqual(_ inUTI1: CFString, _ inUTI2: CFString) -> Bool {
  (inUTI1 as String).caseInsensitiveCompare(inUTI2 as String) == .orderedSame
}

/// The type that a tag belongs to, to be taken with `takeRetainedValue()`; nil for a tag that is
/// not known, where Apple's systems make up an identifier.
/// - Parameters:
///   - inTagClass: `kUTTagClassFilenameExtension` or `kUTTagClassMIMEType`.
///   - inTag: "mov", "video/mp4", ...
///   - inConformingToUTI: What the type has to be a kind of; nil: anything.
public func UTTypeCreatePreferredIdentifierForTag(
  _ inTagClass: CFString, _ inTag: CFString, _ inConformingToUTI: CFString?
) -> Unmanaged<CFString>? {
  let found =
    inTagClass.isEqual(kUTTagClassFilenameExtension)
    ? UniformTypeIdentifiers.UTType(filenameExtension: inTag as String)
    : inTagClass.isEqual(kUTTagClassMIMEType) ? UniformTypeIdentifiers.UTType(mimeType: inTag as String) : nil
  guard let found, inConformingToUTI.map({ type($0).map { found.conforms(to: $0) } ?? false }) ?? true else {
    return nil
  }
  return Unmanaged.passRetained(found.identifier as NSString)
}

/// A type's tag of a class, `kUTTagClassFilenameExtension` or `kUTTagClassMIMEType`, to be taken
/// with `takeRetainedValue()`; nil where none is known.
public func UTTypeCopyPreferredTagWithClass(
  _ inUTI: CFString, _ inTagClass: CFString
) -> Unmanaged<CFString>? {
  let type = type(inUTI)
  let tag =
    inTagClass.isEqual(kUTTagClassFilenameExtension)
    ? type?.preferredFilenameExtension
    : inTagClass.isEqual(kUTTagClassMIMEType) ? type?.preferredMIMEType : nil
  return tag.map { Unmanaged.passRetained($0 as NSString) }
}
