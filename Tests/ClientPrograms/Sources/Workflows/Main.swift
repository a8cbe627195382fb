// SPDX-License-Identifier: Apache-2.0
import Foundation

// Whole jobs in the shape of sample programs and packages: `Workflows MOVIE FOLDER`.
@main struct Workflows {
  static func main() async throws {
    let movie = URL(fileURLWithPath: CommandLine.arguments[1])
    let folder = URL(fileURLWithPath: CommandLine.arguments[2], isDirectory: true)
    sampleBuffers()
    try jitterBuffer()
    try await transcode(movie, to: folder.appendingPathComponent("transcoded.mov"))
    try await segments(of: movie, in: folder)
    try await play(movie)
    try await composite(movie, to: folder.appendingPathComponent("framed.mp4"))
    print("workflows: all well")
  }
}
