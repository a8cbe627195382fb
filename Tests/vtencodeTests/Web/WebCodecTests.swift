// SPDX-License-Identifier: Apache-2.0
import ElementaryStream
import Foundation
import Testing
import VideoToolbox

@testable import vtencode

/// The fields that the page and its server read from frames of both codecs.
@Suite struct WebCodecTests {
  /// A short stream of the sample.
  private func stream(_ codec: String, in folder: Folder) throws -> Data {
    let made = try CommandLine.vtencode(
      "conferencing", CommandLine.sample, "--codec", codec, "--bitrate", "200k", "--dimensions", "320", "180",
      "--unpaced", "--duration", "0.5", "--out", "call.\(codec)", in: folder)
    try #require(made.status == 0, "\(made.complaints)")
    return try Data(contentsOf: URL(fileURLWithPath: folder.path("call.\(codec)")))
  }

  @Test("The page's script names the codec as the configuration record does", arguments: ["h264", "hevc"])
  func thePagesScriptNamesTheCodec(codec: String) throws {
    guard try CommandLine.shell("command -v node").status == 0 else {
      Issue.record("node is not installed", severity: .warning)
      return
    }
    let folder = try Folder()
    let units = AnnexB.units(in: try stream(codec, in: folder))
    let isHEVC = codec == "hevc"
    let sets = isHEVC ? Array(units.prefix(3)) : Array(units.prefix(2))
    let format =
      isHEVC
      ? try CMVideoFormatDescription(hevcParameterSets: sets)
      : try CMVideoFormatDescription(h264ParameterSets: sets)
    let expected = try #require(CodecString.of(format)).replacing("hvc1", with: "hev1")
    let start = try #require(WebPage.script.range(of: "function codecOf"))
    let end = try #require(WebPage.script.range(of: "// A browser may accept"))
    let script = """
      \(WebPage.script[start.lowerBound..<end.lowerBound])
      console.log(codecOf(new Uint8Array(require('fs').readFileSync('call.\(codec)')), \(isHEVC)));
      console.log(codecOf(new Uint8Array([0, 0, 0, 1, 66, 1, 1]), \(isHEVC)) === '');
      """
    try Data(script.utf8).write(to: URL(fileURLWithPath: folder.path("name.js")))
    let named = try CommandLine.shell("node name.js", in: folder)
    #expect(named.text.lowercased() == "\(expected)\ntrue\n".lowercased(), "\(named.complaints)")
  }

  @Test("The QP of slices is read as FFmpeg's trace of the headers has it", arguments: ["h264", "hevc"])
  func theQPOfSlicesIsRead(codec: String) throws {
    let folder = try Folder()
    let units = AnnexB.units(in: try stream(codec, in: folder)).map { Array($0) }
    var slices = SliceQP()
    let found = units.compactMap { slices.averageQP([$0], codec == "hevc" ? .hevc : .h264) }
    let trace = try CommandLine.shell(
      "ffmpeg -v trace -i call.\(codec) -c copy -bsf:v trace_headers -f null - 2>&1", in: folder)
    func values(_ name: String) -> [Int] {
      trace.text.split(separator: "\n").filter { $0.contains(" \(name) ") }.compactMap {
        $0.split(separator: " ").last.flatMap { Int($0) }
      }
    }
    let initial = try #require(values(codec == "hevc" ? "init_qp_minus26" : "pic_init_qp_minus26").first)
    let deltas = values("slice_qp_delta")
    #expect(found.count == 15 && found == deltas.suffix(15).map { Double(26 + initial + $0) })
    // Without parameter sets nothing can be read.
    var lost = SliceQP()
    let read = units.dropFirst(3).compactMap { lost.averageQP([$0], codec == "hevc" ? .hevc : .h264) }
    #expect(read.isEmpty)
  }
}
