// SPDX-License-Identifier: Apache-2.0
/// What a tool says before it ends with status 1: what was wrong with its arguments, its clips or its results.
public struct BenchmarkError: Error, CustomStringConvertible {
  public var description: String

  public init(description: String) { self.description = description }
}
