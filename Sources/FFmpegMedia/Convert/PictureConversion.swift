// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CodecInterface
import Synchronization

/// How the sample values of a picture are to be interpreted.
struct SampleMeaning: Hashable {
  /// Matrix coefficients, a code point of H.273; 2: unspecified.
  var matrix: UInt8 = 2
  var isFullRange = false
  var chroma: ChromaSiting?
}

/// Position of a chroma sample, in 1/256 of the distance between two luma samples.
struct ChromaSiting: Hashable {
  var x: Int32
  var y: Int32
}

/// The reason why a conversion failed.
public enum PixelConversionError: Error, Sendable, Equatable {
  /// This pixel format cannot be read, or written.
  case unsupportedPixelFormat(UInt32)
  /// A rectangle is empty or reaches beyond its picture.
  case invalidRectangle
  /// libswscale refused or ran out of memory.
  case failed
}

/// Converts pictures between formats, sizes, matrices and ranges. Keeps libswscale contexts for
/// later pictures. Thread-safe.
final class PictureConversion: Sendable {
  let filter: ScalingFilter
  let threads: Int
  /// Contexts that are not in use, the most recently used one last; at most `idleLimit`.
  private let idle = Mutex(IdleContexts())
  private static let idleLimit = 8

  private struct IdleContexts: ~Copyable {
    var list: [ScalingContext] = []
  }

  init(filter: ScalingFilter, threads: Int) {
    self.filter = filter
    self.threads = max(1, threads)
  }

  func convert(
    _ source: PictureView, _ sourceMeaning: SampleMeaning, to target: PictureView,
    _ targetMeaning: SampleMeaning, wholeTarget: Bool = true
  ) throws(PixelConversionError) {
    let (from, to) = Self.resolve(source, sourceMeaning, target, targetMeaning)
    if source.width == target.width, source.height == target.height, from.matrix == to.matrix,
      from.isFullRange == to.isFullRange
    {
      if source.format == target.format { return PlaneCopy.copy(source, to: target) }
      if PlaneCopy.rearrange(source, to: target, wholeTarget: wholeTarget) { return }
    }
    try scale(source, from, to: target, to, wholeTarget: wholeTarget)
  }

  private func scale(
    _ source: PictureView, _ from: SampleMeaning, to target: PictureView, _ to: SampleMeaning,
    wholeTarget: Bool
  ) throws(PixelConversionError) {
    guard let input = Self.readable(source.format), let output = Self.output(for: target, from: source.format)
    else { throw .failed }
    if source.height % 2 == 1, source.height == target.height, source.width == target.width,
      PackedOrder(input) != nil, target.layout.chromaHeightShift > 0
    {
      return try scaleWithAnotherRow(source, from, to: target, to)
    }
    // libswscale changes the matrix by converting to RGB and back, which works in one thread only.
    let changesMatrix = from.matrix != to.matrix
    let key = ScalingContext.Key(
      source: Self.side(source, input, from), target: Self.side(target, output, to), filter: filter,
      threads: changesMatrix ? 1 : threads)
    let known = reuse(key) ?? ScalingContext(key)
    guard let context = known else { throw .failed }
    defer { recycle(context) }

    var readable = source
    // libswscale makes a chroma sample from two RGB pixels: the last pixel of an odd row is
    // repeated after it.
    let isOdd = source.width % 2 == 1 && PixelFormatInfo.isRGB(input)
    if input != source.format || !source.isPadded || isOdd {
      guard let picture = context.scratchPicture(0, input, width: source.width, height: source.height) else {
        throw .failed
      }
      if input == source.format {
        PlaneCopy.copy(source, to: picture)
      } else if !PlaneCopy.rearrange(source, to: picture) {
        throw .failed
      }
      if isOdd { PlaneCopy.repeatLastColumn(of: picture) }
      readable = picture
    }
    // SIMD code may write past the right edge of a row; in a part of a picture, the pixels there
    // must not change.
    if output == target.format, wholeTarget, target.isPadded {
      guard context.scale(readable, to: target) else { throw .failed }
      return
    }
    guard let picture = context.scratchPicture(1, output, width: target.width, height: target.height),
      context.scale(readable, to: picture)
    else { throw .failed }
    if output == target.format {
      PlaneCopy.copy(picture, to: target)
    } else if !PlaneCopy.rearrange(picture, to: target, wholeTarget: wholeTarget) {
      throw .failed
    }
  }

  /// Converts packed 4:2:2 of an odd height to 4:2:0 with one row more, because libswscale would
  /// not write the last chroma row.
  private func scaleWithAnotherRow(
    _ source: PictureView, _ from: SampleMeaning, to target: PictureView, _ to: SampleMeaning
  ) throws(PixelConversionError) {
    let (width, height) = (source.width, source.height)
    guard let higher = PictureMemory(format: source.format, width: width, height: height + 1),
      let result = PictureMemory(format: target.format, width: width, height: height + 1)
    else { throw .failed }
    for (first, row) in [(0, height), (height, 1)] {
      let rows = PixelRect(x: 0, y: min(first, height - 1), width: width, height: row)
      PlaneCopy.copy(
        source.cropped(to: rows),
        to: higher.view.cropped(to: PixelRect(x: 0, y: first, width: width, height: row)))
    }
    try scale(higher.view, from, to: result.view, to, wholeTarget: true)
    PlaneCopy.copy(
      result.view.cropped(to: PixelRect(x: 0, y: 0, width: width, height: height)), to: target)
  }

  private func reuse(_ key: ScalingContext.Key) -> ScalingContext? {
    idle.withLock { idle in
      guard let index = idle.list.lastIndex(where: { $0.key == key }) else { return nil }
      return idle.list.remove(at: index)
    }
  }

  private func recycle(_ context: ScalingContext) {
    idle.withLock { idle in
      idle.list.append(context)
      if idle.list.count > Self.idleLimit { idle.list.removeFirst() }
    }
  }

  private static func side(
    _ view: PictureView, _ format: AVPixelFormat, _ meaning: SampleMeaning
  ) -> ScalingContext.Key.Side {
    var side = ScalingContext.Key.Side(
      format: format.rawValue, width: view.width, height: view.height, matrix: Int32(meaning.matrix),
      isFullRange: meaning.isFullRange)
    if view.layout.chromaHeightShift == 1 { side.chromaY = 128 }
    if let chroma = meaning.chroma, view.layout.chromaWidthShift == 1 {
      side.chromaX = chroma.x
      if view.layout.chromaHeightShift == 1 { side.chromaY = chroma.y }
    }
    return side
  }

  // MARK: What libswscale can do

  /// The format itself, or the planar one to which a picture must be rearranged for libswscale; nil
  /// if there is none.
  static func readable(_ format: AVPixelFormat) -> AVPixelFormat? {
    if sws_isSupportedInput(format) > 0 { return format }
    guard let pair = SemiPlanarPair(semiPlanar: format), sws_isSupportedInput(pair.planar) > 0 else {
      return nil
    }
    return pair.planar
  }

  /// The format itself, or the planar one that libswscale must write and that is rearranged to it;
  /// nil if there is none.
  static func writable(_ format: AVPixelFormat, from source: AVPixelFormat? = nil) -> AVPixelFormat? {
    // From gray, libswscale writes zeros to interleaved chroma, which is green.
    let isGray = source.flatMap { av_pix_fmt_desc_get($0) }.map { $0.pointee.nb_components <= 2 } ?? false
    if isGray, let pair = SemiPlanarPair(semiPlanar: format) { return pair.planar }
    if sws_isSupportedOutput(format) > 0 { return format }
    guard let pair = SemiPlanarPair(semiPlanar: format), sws_isSupportedOutput(pair.planar) > 0 else {
      return nil
    }
    return pair.planar
  }

  /// The format that libswscale is to write: in some, it does not write the last samples of odd
  /// sizes.
  private static func output(for target: PictureView, from source: AVPixelFormat) -> AVPixelFormat? {
    // In packed 4:2:2, it does not write the last pixel of an odd row.
    if target.width % 2 == 1, PackedOrder(target.format) != nil { return AV_PIX_FMT_YUV422P }
    // In interleaved chroma of more than 8 bits, it does not write the last sample.
    if target.width % 2 == 1 || target.height % 2 == 1,
      let pair = SemiPlanarPair(semiPlanar: target.format), pair.bytes == 2,
      sws_isSupportedOutput(pair.planar) > 0
    {
      return pair.planar
    }
    return writable(target.format, from: source)
  }

  // MARK: Colour

  /// Completes what the attachments leave open: from the other picture, or else BT.709 from 720
  /// rows on and BT.601 below, which only matters between YCbCr and RGB.
  private static func resolve(
    _ source: PictureView, _ sourceMeaning: SampleMeaning, _ target: PictureView,
    _ targetMeaning: SampleMeaning
  ) -> (SampleMeaning, SampleMeaning) {
    var from = sourceMeaning
    var to = targetMeaning
    let fromRGB = PixelFormatInfo.isRGB(source.format)
    let toRGB = PixelFormatInfo.isRGB(target.format)
    let guess: UInt8 = max(source.height, target.height) >= 720 ? 1 : 5
    from.matrix = fromRGB ? known(to.matrix) ?? guess : known(from.matrix) ?? known(to.matrix) ?? guess
    to.matrix = toRGB ? from.matrix : known(to.matrix) ?? from.matrix
    if fromRGB { from.matrix = to.matrix }
    if fromRGB { from.isFullRange = true }
    if toRGB { to.isFullRange = true }
    from.chroma = from.chroma ?? to.chroma
    to.chroma = to.chroma ?? from.chroma
    return (from, to)
  }

  /// The code point that libswscale uses for a matrix; nil if it does not know it. 5 and 6 are the
  /// same matrix.
  private static func known(_ matrix: UInt8) -> UInt8? {
    switch matrix {
    case 1, 4, 7: matrix
    case 5, 6: 5
    case 9, 10: 9
    default: nil
    }
  }
}
