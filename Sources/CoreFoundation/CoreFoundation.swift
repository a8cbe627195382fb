@_exported import Foundation

public typealias CFString = NSString
