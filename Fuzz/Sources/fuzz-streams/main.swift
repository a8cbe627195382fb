// SPDX-License-Identifier: Apache-2.0
import Foundation
import FuzzDriver

/// The harness that the environment variable OVT_FUZZ names.
private let harness: @Sendable (inout FuzzInput) -> Void = {
  switch ProcessInfo.processInfo.environment["OVT_FUZZ"] {
  case "parameter-sets": return fuzzParameterSets
  case "atoms": return fuzzAtoms
  case "streams": return fuzzStreams
  case "parser": return fuzzParser
  case "block-buffers": return fuzzBlockBuffers
  case "statistics": return fuzzStatistics
  case "hevc-encoder": return fuzzHEVCEncoder
  default:
    fatalError("OVT_FUZZ: parameter-sets, atoms, streams, parser, block-buffers, statistics or hevc-encoder")
  }
}()

runFuzzer { data, size in
  var input = FuzzInput(UnsafeBufferPointer(start: data, count: size))
  harness(&input)
  return 0
}
