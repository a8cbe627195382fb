// SPDX-License-Identifier: Apache-2.0
import Foundation
import FuzzDriver

/// The harness that the environment variable OVT_FUZZ names.
private let harness: @Sendable (inout FuzzInput) -> Void = {
  switch ProcessInfo.processInfo.environment["OVT_FUZZ"] {
  case "decode": return fuzzDecode
  case "images": return fuzzImages
  case "sound": return fuzzAudio
  case "pictures": return fuzzPictures
  case "writer": return fuzzWriter
  case "pixels": return fuzzPixels
  case "properties": return fuzzProperties
  case "silo": return fuzzSilo
  case "stills": return fuzzStills
  case "compositions": return fuzzCompositions
  default:
    fatalError(
      "OVT_FUZZ: decode, images, audio, pictures, writer, pixels, properties, silo, stills or compositions")
  }
}()

runFuzzer { data, size in
  var input = FuzzInput(UnsafeBufferPointer(start: data, count: size))
  harness(&input)
  return 0
}
