// SPDX-License-Identifier: Apache-2.0
/// Runs `body` and returns its result. Swift releases objects after their last use, without a pool,
/// so nothing is drained.
@inlinable
public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result { try body() }
