// SPDX-License-Identifier: Apache-2.0
// Runs every job of the cookbook on a movie and leaves the results in a folder.
//   Cookbook MOVIE FOLDER
import AVFoundation

@main
struct Cookbook {
  static func main() async throws {
    guard CommandLine.arguments.count == 3 else { return print("usage: Cookbook MOVIE FOLDER") }
    let movie = AVURLAsset(url: URL(fileURLWithPath: CommandLine.arguments[1]))
    let folder = URL(fileURLWithPath: CommandLine.arguments[2])
    for (name, recipe) in Recipes.all {
      try await recipe(movie, folder.appendingPathComponent(name))
      print(name)
    }
  }
}
