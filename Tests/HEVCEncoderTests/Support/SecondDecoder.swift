// SPDX-License-Identifier: Apache-2.0
import Foundation
import ToolSupport
import VideoBitstream

/// libde265's command line, which decodes a whole stream: a decoder that shares no code with
/// libavcodec. Debian and Ubuntu have it in the package libde265-examples.
enum SecondDecoder {
  /// The program under Debian's name, or under the project's own; nil: it is not installed.
  private static let tool = ["libde265-dec265", "dec265"].map(Tool.init).first(where: \.isInstalled)

  static var isInstalled: Bool { tool != nil }

  /// Decodes a stream.
  /// - Parameters:
  ///   - stream: NAL units with start codes of four bytes.
  ///   - frame: a frame with the size and depth of all frames.
  ///   - threads: the number of threads; with 2 and more, rows begin at their entry points.
  /// - Returns: the frames in output order, without the samples outside of the conformance window;
  ///   an error if the program finds one, or its output is no whole number of frames.
  static func decode(
    _ stream: [UInt8], like frame: PlanarFrame, threads: Int
  ) throws -> Result<[PlanarFrame], DecodingError> {
    guard let tool else { return .failure(DecodingError(description: "libde265 is not installed")) }
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("de265-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (input, output) = (folder.appendingPathComponent("in"), folder.appendingPathComponent("out"))
    try Data(withoutRepetitions(stream)).write(to: input)
    let status = try tool.run(["-q", "-t", "\(threads)", "-o", output.path, input.path]).status
    guard status == 0 else { return .failure(DecodingError(description: "libde265: status \(status)")) }
    guard let frames = frames(Array(try Data(contentsOf: output)), like: frame) else {
      return .failure(DecodingError(description: "the output is no whole number of frames"))
    }
    return .success(frames)
  }

  /// Leaves out parameter sets that the stream has had already. libde265 1.0.11 does not predict
  /// from a picture before a sequence parameter set, even a repeated one, as RASL pictures do where
  /// a CRA picture has its own.
  private static func withoutRepetitions(_ stream: [UInt8]) -> [UInt8] {
    var starts = stream.indices.filter {
      $0 + 4 <= stream.count && stream[$0] == 0 && stream[$0 + 1] == 0 && stream[$0 + 2] == 0
        && stream[$0 + 3] == 1
    }
    starts.append(stream.count)
    var known: Set<ArraySlice<UInt8>> = []
    var result: [UInt8] = []
    for (start, end) in zip(starts, starts.dropFirst()) {
      let unit = stream[start..<end]
      let isSet = HEVCNALUnitHeader(of: unit.dropFirst(4))?.type.isParameterSet ?? false
      if !isSet || known.insert(unit).inserted { result += unit }
    }
    return result
  }

  /// The frames of a file of planes, whose samples of more than 8 bits are two bytes, the lower one
  /// first.
  private static func frames(_ bytes: [UInt8], like frame: PlanarFrame) -> [PlanarFrame]? {
    let bytesPerSample = frame.depth > 8 ? 2 : 1
    let (luma, chroma) = (frame.width * frame.height, frame.width * frame.height / 4)
    let samples = luma + 2 * chroma
    guard bytes.count % (samples * bytesPerSample) == 0 else { return nil }
    let all: [UInt16] =
      bytesPerSample == 1
      ? bytes.map { UInt16($0) }
      : stride(from: 0, to: bytes.count, by: 2).map { UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8 }
    return stride(from: 0, to: all.count, by: samples).map { start in
      var result = frame
      result.y = Array(all[start..<start + luma])
      result.u = Array(all[start + luma..<start + luma + chroma])
      result.v = Array(all[start + luma + chroma..<start + samples])
      return result
    }
  }
}
