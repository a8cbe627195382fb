// SPDX-License-Identifier: Apache-2.0
import FuzzDriver

runFuzzer { data, size in
  var input = FuzzInput(UnsafeBufferPointer(start: data, count: size))
  fuzzAudioFile(&input)
  return 0
}
