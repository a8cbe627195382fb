// SPDX-License-Identifier: Apache-2.0
import Foundation

@_silgen_name("LLVMFuzzerRunDriver")
private func LLVMFuzzerRunDriver(
  _ argc: UnsafeMutablePointer<Int32>,
  _ argv: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

/// Runs libFuzzer with the command line's arguments.
public func runFuzzer(_ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32) -> Never {
  var count = CommandLine.argc
  var arguments = CommandLine.unsafeArgv
  exit(LLVMFuzzerRunDriver(&count, &arguments, test))
}

/// Checks a condition that must hold for any input. If it fails, the fuzzer stops and saves the
/// input.
public func require(_ condition: Bool, _ text: @autoclosure () -> String) {
  if !condition { fatalError(text()) }
}
