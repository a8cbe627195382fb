// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// Copies pictures that the decoder still refers to, for a program that may write to them.
final class PictureCopier {
  private let converter = PixelConverter()
  private var pool: CVPixelBufferPool?
  private var poolKey: [Int] = []

  func copy(_ source: CVPixelBuffer) throws -> CVPixelBuffer {
    let target = try makeBuffer(like: source)
    do { try converter.convert(source, to: target) } catch {
      throw AVError(.decodeFailed, reason: "The picture cannot be copied: \(error).", underlying: error)
    }
    CVBufferPropagateAttachments(source, target)
    return target
  }

  private func makeBuffer(like source: CVPixelBuffer) throws -> CVPixelBuffer {
    let key = [
      Int(CVPixelBufferGetPixelFormatType(source)), CVPixelBufferGetWidth(source),
      CVPixelBufferGetHeight(source),
    ]
    if pool == nil || poolKey != key {
      let attributes: [CFString: Any] = [
        kCVPixelBufferPixelFormatTypeKey: NSNumber(value: key[0]),
        kCVPixelBufferWidthKey: NSNumber(value: key[1]),
        kCVPixelBufferHeightKey: NSNumber(value: key[2]),
      ]
      var made: CVPixelBufferPool?
      CVPixelBufferPoolCreate(kCFAllocatorDefault, nil, attributes as NSDictionary, &made)
      pool = made
      poolKey = key
    }
    var buffer: CVPixelBuffer?
    if let pool { CVPixelBufferPoolCreatePixelBuffer(kCFAllocatorDefault, pool, &buffer) }
    guard let buffer else { throw AVError(.outOfMemory, reason: "There is no memory for a picture.") }
    return buffer
  }
}
