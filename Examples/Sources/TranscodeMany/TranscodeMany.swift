// SPDX-License-Identifier: Apache-2.0
// Makes every movie of a folder smaller, several at a time, and says which failed.
//   TranscodeMany FOLDER OUTPUT-FOLDER
import AVFoundation

@main
struct TranscodeMany {
  static func main() async throws {
    guard CommandLine.arguments.count == 3 else {
      return print("usage: TranscodeMany FOLDER OUTPUT-FOLDER")
    }
    let folder = URL(fileURLWithPath: CommandLine.arguments[1])
    let destination = URL(fileURLWithPath: CommandLine.arguments[2])
    try FileManager.default.createDirectory(at: destination, withIntermediateDirectories: true)
    var waiting = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil
    ).sorted { $0.path < $1.path }.makeIterator()

    // Two at a time: each encoder has threads of its own.
    let failures = await withTaskGroup(of: String?.self) { group in
      func startNext() {
        guard let source = waiting.next() else { return }
        group.addTask {
          do {
            try await shrink(source, into: destination)
            return nil
          } catch {
            return "\(source.lastPathComponent): \(error.localizedDescription)"
          }
        }
      }
      for _ in 0..<2 { startNext() }
      var failures: [String] = []
      for await failure in group {
        if let failure { failures.append(failure) }
        startNext()
      }
      return failures
    }
    for failure in failures { print(failure) }
    if !failures.isEmpty { exit(1) }
  }

  /// Writes a movie of at most 1280x720 with the source's audio. A failed export leaves no file.
  static func shrink(_ source: URL, into folder: URL) async throws {
    let name = source.deletingPathExtension().lastPathComponent + ".mp4"
    let asset = AVURLAsset(url: source)
    guard let export = AVAssetExportSession(asset: asset, presetName: AVAssetExportPreset1280x720)
    else { throw AVError(.unknown) }
    export.shouldOptimizeForNetworkUse = true
    try await export.export(to: folder.appendingPathComponent(name), as: .mp4)
  }
}
