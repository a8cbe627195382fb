// SPDX-License-Identifier: Apache-2.0
import VideoEncoding

/// Finds the motion of large parts of pictures: scrolls, and parts of a screen that were moved.
struct ScreenDetectors {
  private let scrollDetector: ScrollDetector
  private let displacementDetector: DisplacementDetector
  /// Luma of a reference picture with 8 bits per sample, where it is coded with more.
  private let narrow: UnsafeMutablePointer<UInt8>?
  /// Whether the last picture was scrolled.
  private var hasScrolled = false

  /// The longest vertical vector in luma samples.
  private static let longest = 4096

  init(_ configuration: HEVCEncoderConfiguration, _ coder: AnyPictureCoder, memory: inout EncoderMemory) {
    let geometry = PictureGeometry(width: configuration.width, height: configuration.height)
    let stride = coder.layout.lumaStride
    scrollDetector = ScrollDetector(geometry, stride: stride, memory: &memory)
    displacementDetector = DisplacementDetector(geometry, memory: &memory)
    narrow =
      configuration.profile == .main10
      ? memory.allocate(UInt8.self, count: stride * coder.layout.height) : nil
  }

  /// Compares a picture with the last one and with its first reference picture. It is called for
  /// each picture, in order.
  /// - Parameters:
  ///   - source: the picture.
  ///   - index: its index.
  ///   - first: its first reference picture; nil: there is none.
  ///   - isCut: whether it differs from the last one as a new scene does.
  ///   - coder: has the reference picture.
  mutating func find(
    _ source: SourcePicture, index: UInt64, first: ReferenceBuffer.Entry?, isCut: Bool,
    _ coder: AnyPictureCoder
  ) -> ScreenMotion {
    var motion = ScreenMotion()
    if let first, isCut || hasScrolled || displacementDetector.mayScroll(index: index),
      let reference = coder.eightBitLuma(first.picture, narrow: narrow)
    {
      motion.scroll = scrollDetector.distance(source, from: reference, limit: Self.longest)
      hasScrolled = motion.scroll != 0
    }
    motion.displacements = displacementDetector.displacements(
      source, index: index, isSceneChange: isCut,
      refersToLast: first.map { $0.index &+ 1 == index } ?? false, limit: Self.longest)
    motion.luma = source.luma
    motion.bytesPerRow = source.lumaBytesPerRow
    (motion.width, motion.height) = (source.width, source.height)
    return motion
  }
}
