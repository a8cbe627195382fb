@_exported import CoreFoundation
