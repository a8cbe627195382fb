// SPDX-License-Identifier: Apache-2.0
/// The notation of a path. POSIX is the only one.
public enum CFURLPathStyle: CFIndex, Sendable {
  case cfurlposixPathStyle = 0
}

/// Creates the URL of a file or directory. It returns nil for an empty path.
@discardableResult
public func CFURLCreateWithFileSystemPath(
  _ allocator: CFAllocator!, _ filePath: CFString!, _ pathStyle: CFURLPathStyle, _ isDirectory: Bool
) -> CFURL! {
  guard let filePath, filePath.length > 0 else { return nil }
  return NSURL(fileURLWithPath: filePath as String, isDirectory: isDirectory)
}

/// Creates a URL from a string, relative to a base URL if there is one. It returns nil if the
/// string is not a URL.
@discardableResult
public func CFURLCreateWithString(_ allocator: CFAllocator!, _ URLString: CFString!, _ baseURL: CFURL!)
  -> CFURL!
{
  guard let URLString else { return nil }
  return NSURL(string: URLString as String, relativeTo: baseURL as URL?)
}

/// Returns the text of the URL, without its base URL.
@discardableResult
public func CFURLGetString(_ anURL: CFURL!) -> CFString! { anURL.map { $0.relativeString as CFString } }

/// Returns the path of a file URL.
@discardableResult
public func CFURLCopyFileSystemPath(_ anURL: CFURL!, _ pathStyle: CFURLPathStyle) -> CFString! {
  anURL?.path.map { $0 as CFString }
}

@discardableResult
public func CFURLCopyLastPathComponent(_ url: CFURL!) -> CFString! {
  url?.lastPathComponent.map { $0 as CFString }
}

@discardableResult
public func CFURLCopyPathExtension(_ url: CFURL!) -> CFString! {
  guard let text = url?.pathExtension, !text.isEmpty else { return nil }
  return text as CFString
}

@discardableResult
public func CFURLCopyScheme(_ anURL: CFURL!) -> CFString! { anURL?.scheme.map { $0 as CFString } }
