// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// When parameter sets stand before the NAL units of a sample.
public enum ParameterSetPlacement: Sendable {
  /// Never: the receiver has them already, or they are in the samples.
  case none
  /// Before each sample that decoding can begin with.
  case syncSamples
  /// Before each sample.
  case all
}

extension CMSampleBuffer {
  /// The sample's data as a byte stream of Annex B, for H.264 and HEVC.
  ///
  /// - Parameter parameterSets: Where the parameter sets of the format description are written.
  /// - Throws: `ElementaryStreamError`, or the error of a data buffer that cannot be read.
  public func annexBData(parameterSets: ParameterSetPlacement = .syncSamples) throws -> Data {
    guard let format = formatDescription, ElementaryStreamCodec(format) != nil, let block = dataBuffer else {
      throw ElementaryStreamError.unsupportedSampleBuffer
    }
    let lengthSize = format.nalUnitHeaderLength ?? 4
    let writesSets =
      switch parameterSets {
      case .none: false
      case .all: true
      case .syncSamples: sampleAttachments.first?[.notSync] as? Bool != true
      }
    let sets = writesSets ? Array(format.parameterSets) : []
    return try block.withContiguousStorage { bytes in
      let ranges = try AnnexB.unitRanges(inLengthPrefixed: bytes, lengthSize: lengthSize)
      var result = Data(
        capacity: (ranges.reduce(0) { $0 + $1.count + 4 }) + (sets.reduce(0) { $0 + $1.count + 4 }))
      for set in sets {
        result.append(AnnexB.startCode)
        result.append(set)
      }
      for range in ranges {
        result.append(AnnexB.startCode)
        result.append(contentsOf: bytes[range])
      }
      return result
    }
  }

  /// The NAL units of the sample, for H.264 and HEVC.
  public func nalUnits() throws -> [NALUnit] {
    guard let format = formatDescription, let codec = ElementaryStreamCodec(format), let block = dataBuffer
    else {
      throw ElementaryStreamError.unsupportedSampleBuffer
    }
    return try block.withContiguousStorage { bytes in
      try AnnexB.unitRanges(inLengthPrefixed: bytes, lengthSize: format.nalUnitHeaderLength ?? 4).map {
        NALUnit(codec: codec, data: Data(UnsafeRawBufferPointer(rebasing: bytes[$0])))
      }
    }
  }
}
