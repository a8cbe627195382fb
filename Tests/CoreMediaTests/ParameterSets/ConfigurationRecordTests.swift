// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Testing
import VideoBitstream

/// Configuration records from what a program hands over.
@Suite struct ConfigurationRecordTests {
  /// A record counts the sets of a type with 16 bits.
  @Test func moreSetsThanARecordHoldsAreRefused() {
    let video = Data(HEVCVideoParameterSet().nalUnit)
    let sequence = Data(HEVCSequenceParameterSet().nalUnit)
    let picture = Data(HEVCPictureParameterSet().nalUnit)
    for (count, isPossible) in [(1, true), (65_535, true), (65_536, false)] {
      let sets = [video, sequence] + Array(repeating: picture, count: count)
      let configuration = DecoderConfiguration(codec: .hevc, lengthSize: 4, parameterSets: sets)
      #expect(((try? configuration.hvcC()) != nil) == isPossible)
    }
  }
}
