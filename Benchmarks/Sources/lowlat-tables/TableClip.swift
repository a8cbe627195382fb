// SPDX-License-Identifier: Apache-2.0
import BenchmarkSupport
import Foundation
import SessionSupport

/// A clip with a suitable bit rate.
struct TableClip {
  let pictures: ClipPictures
  /// A bit rate in bits per second that gives medium quality for this picture size and frame rate.
  let rate: Int

  init(_ pictures: ClipPictures) {
    self.pictures = pictures
    let area = Double(pictures.width * pictures.height) / (1280 * 720)
    let exact = 1_500_000 * pow(area, 0.75) * pow(pictures.frameRate / 30, 0.7)
    rate = max(Int((exact / 10_000).rounded()), 1) * 10_000
  }

  var name: String { pictures.name }
  var frameRate: Double { pictures.frameRate }

  /// How often the width and height have to be halved so that the height is at most `height`.
  func halvesToHeight(_ height: Int) -> Int {
    var halves = 0
    while pictures.height >> halves > height { halves += 1 }
    return halves
  }

  /// Encodes `count` pictures of the clip, played forwards and backwards. Dropped frames are nil.
  func encode(_ configuration: LowLatencySession.Configuration, count: Int) throws -> [CodedFrame?] {
    let session = try LowLatencySession(self.pictures, configuration)
    return try (0..<count).map { try session.encode(picture: $0) }
  }
}
