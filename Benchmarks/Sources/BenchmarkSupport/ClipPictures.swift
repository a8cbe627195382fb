// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Pictures of a clip in memory (planar 4:2:0 without padding), played alternately forwards and
/// backwards so that there is no scene change where the clip repeats.
// Unchecked: the memory is written only in `init`, before the object is shared.
public final class ClipPictures: @unchecked Sendable {
  public let name: String
  public let width: Int
  public let height: Int
  public let frameRate: Double
  /// The number of different pictures. ``picture(_:)`` repeats them.
  public let count: Int
  private let memory: UnsafeMutableRawPointer
  private let size: Int

  /// Reads the first frames of a clip. `halves` is how often the width and height are halved.
  public convenience init(path: String, frames: Int, halves: Int = 0) throws {
    let clip = try RawClip(path: path, frames: frames, halves: halves)
    defer { clip.remove() }
    let file = open(clip.rawPath, O_RDONLY)
    defer { if file >= 0 { close(file) } }
    let size = clip.frameSize * clip.frames
    // The mapping stays valid after the file has been deleted.
    guard file >= 0, let memory = mmap(nil, size, PROT_READ, MAP_SHARED, file, 0), memory != MAP_FAILED else {
      throw BenchmarkError(description: "cannot map \(clip.rawPath)")
    }
    self.init(
      name: clip.name, width: clip.width, height: clip.height, frameRate: clip.frameRate, count: clip.frames,
      memory: memory, size: size)
  }

  /// Creates synthetic pictures. `draw` gets the number of each picture and its memory, which is
  /// filled with zeros.
  public convenience init(
    name: String, width: Int, height: Int, frameRate: Double, count: Int,
    draw: (Int, UnsafeMutablePointer<UInt8>) -> Void
  ) throws {
    let frame = width * height * 3 / 2
    guard
      let memory = mmap(
        nil, frame * count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      memory != MAP_FAILED
    else { throw BenchmarkError(description: "no memory for \(count) pictures of \(width)x\(height)") }
    for n in 0..<count { draw(n, memory.assumingMemoryBound(to: UInt8.self) + n * frame) }
    self.init(
      name: name, width: width, height: height, frameRate: frameRate, count: count, memory: memory,
      size: frame * count)
  }

  private init(
    name: String, width: Int, height: Int, frameRate: Double, count: Int, memory: UnsafeMutableRawPointer,
    size: Int
  ) {
    self.name = name
    self.width = width
    self.height = height
    self.frameRate = frameRate
    self.count = count
    self.memory = memory
    self.size = size
  }

  deinit { munmap(memory, size) }

  /// The size of a picture in bytes.
  public var pictureSize: Int { width * height * 3 / 2 }

  /// The index of the clip's picture that is shown as picture `number`.
  public func index(of number: Int) -> Int {
    let lap = max(2 * (count - 1), 1)
    let place = number % lap
    return place < count ? place : lap - place
  }

  /// The memory of a picture. Numbers beyond the end of the clip continue backwards and forwards.
  /// The pointer is valid as long as this object exists.
  public func picture(_ number: Int) -> UnsafePointer<UInt8> {
    UnsafePointer(memory.assumingMemoryBound(to: UInt8.self)) + index(of: number) * pictureSize
  }
}
