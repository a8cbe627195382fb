// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// The samples before which parameter sets are written.
public enum ParameterSetPlacement: Sendable {
  /// None: the receiver has the parameter sets, or the samples contain them.
  case none
  /// Before each sample with which decoding can begin.
  case syncSamples
  /// Before each sample.
  case all
}

extension CMSampleBuffer {
  /// Converts the data of an H.264 or HEVC sample to a byte stream (Annex B).
  ///
  /// - Parameter parameterSets: the samples before which the parameter sets of the format
  ///   description are written.
  /// - Returns: the byte stream, with start codes of four bytes.
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

  /// Returns copies of the NAL units of an H.264 or HEVC sample.
  ///
  /// - Throws: `ElementaryStreamError`, or the error of a data buffer that cannot be read.
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
