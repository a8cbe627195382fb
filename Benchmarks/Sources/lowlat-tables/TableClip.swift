// SPDX-License-Identifier: Apache-2.0
import BenchmarkSupport
import Foundation
import SessionSupport

/// A clip, and what to ask of an encoder for it.
struct TableClip {
  let pictures: ClipPictures
  /// Bits a second that make a fair picture at this size and frame rate.
  let rate: Int

  init(_ pictures: ClipPictures) {
    self.pictures = pictures
    let area = Double(pictures.width * pictures.height) / (1280 * 720)
    let exact = 1_500_000 * pow(area, 0.75) * pow(pictures.frameRate / 30, 0.7)
    rate = max(Int((exact / 10_000).rounded()), 1) * 10_000
  }

  var name: String { pictures.name }
  var frameRate: Double { pictures.frameRate }

  /// How often the sides have to be halved to get to this height.
  func halvesToHeight(_ height: Int) -> Int {
    var halves = 0
    while pictures.height >> halves > height { halves += 1 }
    return halves
  }

  /// Encodes so many pictures, back and forth; a dropped one is nil.
  func encode(_ configuration: LowLatencySession.Configuration, count: Int) throws -> [CodedFrame?] {
    let session = try LowLatencySession(self.pictures, configuration)
    return try (0..<count).map { try session.encode(picture: $0) }
  }
}
