// SPDX-License-Identifier: Apache-2.0
/// An error that a tool prints before it exits with status 1, for example about its arguments, its
/// clips or its results.
public struct BenchmarkError: Error, CustomStringConvertible {
  public var description: String

  public init(description: String) { self.description = description }
}
