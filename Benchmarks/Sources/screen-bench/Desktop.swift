// SPDX-License-Identifier: Apache-2.0
import BenchmarkSupport
import Foundation

/// A clip of `scripts/render-desktops` and what happens in it.
struct Desktop {
  /// A change that begins with a frame, or a key frame that a viewer asks for.
  struct Event: Decodable {
    /// The first frame that shows the change, or that is to be a key frame.
    var frame: Int
    var name: String
    // The rectangle that changes, in luma samples.
    var x: Int
    var y: Int
    var width: Int
    var height: Int
    var isKeyFrameRequest: Bool
  }

  var name: String
  var pictures: ClipPictures
  /// In the order of their frames.
  var events: [Event]

  /// Whether no decision is taken on the clip.
  var isForValidation: Bool { name.hasPrefix("desktop-validation") }
  /// The name without that of the set.
  var shortName: String { name.split(separator: "-").last.map(String.init) ?? name }

  /// Reads a clip and its events, which are in a JSON file next to it.
  /// - Throws: `BenchmarkError` if either cannot be read, or if an event is not within the clip.
  init(path: String) throws {
    pictures = try ClipPictures(path: path, frames: 100_000)
    name = pictures.name
    let file = URL(fileURLWithPath: path).deletingPathExtension().appendingPathExtension("json")
    do {
      events = try JSONDecoder().decode([Event].self, from: Data(contentsOf: file))
    } catch {
      throw BenchmarkError(description: "\(file.path): \(error)")
    }
    events.sort { $0.frame < $1.frame }
    for event in events {
      guard (1..<pictures.count).contains(event.frame), event.x >= 0, event.y >= 0, event.width > 0,
        event.height > 0, event.x + event.width <= pictures.width,
        event.y + event.height <= pictures.height
      else { throw BenchmarkError(description: "\(file.path): '\(event.name)' is not within the clip") }
    }
  }

  /// The frame after the last one that belongs to an event: the next event, or the end.
  func end(of index: Int) -> Int {
    index + 1 < events.count ? events[index + 1].frame : pictures.count
  }
}
