// SPDX-License-Identifier: Apache-2.0
/// Runs `body`. Programs put loops over frames into it.
///
/// Objects here are released with their last use, not with a pool, so that there is nothing to drain.
@inlinable
public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result { try body() }
