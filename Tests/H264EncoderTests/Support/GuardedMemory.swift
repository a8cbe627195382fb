// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@testable import H264Encoder
@testable import VideoEncoding

/// Bytes between two inaccessible pages: a read or write one byte too far ends the
/// process.
final class GuardedMemory {
  enum Side: CaseIterable {
    /// The first byte lies right behind a forbidden page.
    case beginning
    /// The last byte lies right before one.
    case end
  }

  let bytes: UnsafeMutablePointer<UInt8>
  let count: Int
  private let mapping: UnsafeMutableRawPointer
  private let mappedBytes: Int

  init?(_ contents: [UInt8], at side: Side) {
    let page = Int(sysconf(Int32(_SC_PAGESIZE)))
    let inner = (contents.count + page - 1) / page * page
    mappedBytes = inner + 2 * page
    count = contents.count
    guard
      let mapping = mmap(nil, mappedBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      mapping != MAP_FAILED
    else { return nil }
    self.mapping = mapping
    let start = mapping + page + (side == .beginning ? 0 : inner - contents.count)
    bytes = start.bindMemory(to: UInt8.self, capacity: max(1, contents.count))
    bytes.update(from: contents, count: contents.count)
    mprotect(mapping, page, PROT_NONE)
    mprotect(mapping + page + inner, page, PROT_NONE)
  }

  deinit { munmap(mapping, mappedBytes) }
}

extension PlanarFrame {
  /// The frame as a program may have it whose planes end with their last sample: no padding after
  /// the last row, forbidden pages around each plane.
  func withGuardedSource<R: ~Copyable>(
    planar: Bool, padding: Int, at side: GuardedMemory.Side, _ body: (SourcePicture) throws -> R
  ) throws -> R {
    let cw = chromaWidth
    func rows(_ plane: [UInt8], width: Int, stride: Int) -> [UInt8] {
      let height = plane.count / width
      var result = [UInt8](repeating: 0x55, count: stride * (height - 1) + width)
      for y in 0..<height {
        result.replaceSubrange(y * stride..<y * stride + width, with: plane[y * width..<(y + 1) * width])
      }
      return result
    }
    func guarded(_ contents: [UInt8]) throws -> GuardedMemory {
      guard let memory = GuardedMemory(contents, at: side) else {
        throw DecodingError(description: "no memory with guard pages")
      }
      return memory
    }
    let luma = try guarded(rows(y, width: width, stride: width + padding))
    if planar {
      let cb = try guarded(rows(u, width: cw, stride: cw + padding))
      let cr = try guarded(rows(v, width: cw, stride: cw + 2 * padding))
      return try withExtendedLifetime((luma, cb, cr)) {
        try body(
          SourcePicture(
            width: width, height: height, luma: luma.bytes, lumaBytesPerRow: width + padding,
            chroma: .planar(
              cb: cb.bytes, cbBytesPerRow: cw + padding, cr: cr.bytes, crBytesPerRow: cw + 2 * padding),
            hasFullChroma: hasFullChroma))
      }
    }
    var pairs: [UInt8] = []
    pairs.reserveCapacity(2 * u.count)
    for i in u.indices {
      pairs.append(u[i])
      pairs.append(v[i])
    }
    let pairStride = 2 * cw + padding
    let chroma = try guarded(rows(pairs, width: 2 * cw, stride: pairStride))
    return try withExtendedLifetime((luma, chroma)) {
      try body(
        SourcePicture(
          width: width, height: height, luma: luma.bytes, lumaBytesPerRow: width + padding,
          chroma: .interleaved(chroma.bytes, bytesPerRow: pairStride), hasFullChroma: hasFullChroma))
    }
  }
}
