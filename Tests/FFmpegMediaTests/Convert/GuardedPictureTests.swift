// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CodecInterface
import CoreVideo
import Foundation
import Testing

@testable import FFmpegMedia

/// Every pixel format against every other and itself, in memory that ends where the picture does.
@Suite struct GuardedPictureTests {
  /// The formats whose rows libav can address; `PackedFormatTests` has the others.
  private var inPlace: [OSType] {
    PixelConverter.writableFormats.filter { PixelFormatInfo.of($0)?.packing == nil }
  }

  private static let sizes = [(1, 1), (2, 2), (7, 5), (16, 6), (33, 18), (64, 32)]

  /// Samples that only move arrive as they were.
  @Test(arguments: GuardedPicture.Side.allCases) func copiesWithinTheirMemory(side: GuardedPicture.Side)
    throws
  {
    let converter = PixelConverter()
    for format in PixelConverter.writableFormats {
      for (width, height) in Self.sizes {
        for padding in [0, 6, 64] {
          let source = try GuardedPicture(format, width, height, padding: padding, at: side, seed: 7)
          let target = try GuardedPicture(format, width, height, padding: 64 - padding, at: side)
          try converter.convert(source.buffer, to: target.buffer)
          #expect(source.bytes == target.bytes, "\(name(format)) \(width)x\(height), padding \(padding)")
        }
      }
    }
  }

  /// Converting gives the same in tight memory as in Core Video's own.
  @Test(arguments: GuardedPicture.Side.allCases) func convertsWithinItsMemory(side: GuardedPicture.Side)
    throws
  {
    let converter = PixelConverter()
    for from in PixelConverter.writableFormats {
      for to in PixelConverter.writableFormats where from != to {
        for (width, height) in [(7, 5), (32, 6), (50, 18)] {
          let source = try GuardedPicture(from, width, height, padding: 0, at: side, seed: 3)
          let target = try GuardedPicture(to, width, height, padding: 2, at: side)
          try converter.convert(source.buffer, to: target.buffer)
          let roomy = try roomyCopy(source, from, width, height)
          let expected = try #require(makeBuffer(to, width, height))
          try converter.convert(roomy, to: expected)
          let (one, other) = (target.bytes, packed(expected, to, width, height))
          let differing = zip(one, other).count { $0 != $1 }
          #expect(
            one.count == other.count && differing <= (width == 32 ? 0 : one.count / 50),
            "\(name(from)) to \(name(to)) \(width)x\(height): \(differing) of \(one.count) differ")
        }
      }
    }
  }

  /// One colour arrives in every pixel, the last of an odd row of packed 4:2:2 among them.
  @Test(arguments: GuardedPicture.Side.allCases) func fillsOddRows(side: GuardedPicture.Side) throws {
    let converter = PixelConverter()
    let packed: [OSType] = [
      kCVPixelFormatType_422YpCbCr8, kCVPixelFormatType_422YpCbCr8_yuvs,
      kCVPixelFormatType_422YpCbCr8FullRange,
    ]
    let others: [OSType] = [
      kCVPixelFormatType_32BGRA, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange,
      kCVPixelFormatType_422YpCbCr8BiPlanarFullRange, kCVPixelFormatType_420YpCbCr8Planar,
    ]
    for from in others + packed {
      for to in packed where from != to {
        for width in [7, 33, 95] {
          for sourceWidth in [width, 64] {
            let source = try GuardedPicture(from, sourceWidth, 6, padding: 0, at: side)
            let target = try GuardedPicture(to, width, 6, padding: 0, at: side, seed: 19)
            try converter.convert(source.buffer, to: target.buffer)
            let bytes = target.bytes
            let unlike = bytes.indices.count { abs(Int(bytes[$0]) - Int(bytes[$0 % 4])) > 2 }
            #expect(unlike == 0, "\(name(from)) \(sourceWidth) to \(name(to)) \(width)")
          }
        }
      }
    }
  }

  /// Of a part the pixel next to it keeps its luma.
  @Test func oddPartsEndWhereTheyEnd() throws {
    let source = try GuardedPicture(kCVPixelFormatType_420YpCbCr8Planar, 8, 2, padding: 0, at: .end)
    let target = try GuardedPicture(kCVPixelFormatType_422YpCbCr8, 8, 2, padding: 0, at: .end, seed: 23)
    let before = target.bytes
    try PixelConverter().convert(
      source.buffer, sourceRect: PixelRect(x: 0, y: 0, width: 5, height: 2), to: target.buffer,
      targetRect: PixelRect(x: 0, y: 0, width: 5, height: 2))
    let after = target.bytes
    for row in 0..<2 {
      let start = 16 * row
      #expect(after[start..<start + 11].allSatisfy { abs(Int($0) - 0xA5) <= 2 })
      #expect(after[start + 11..<start + 16] == before[start + 11..<start + 16])
    }
  }

  /// Other sizes, and parts of pictures.
  @Test(arguments: GuardedPicture.Side.allCases) func scalesWithinItsMemory(side: GuardedPicture.Side) throws
  {
    let converter = PixelConverter()
    let formats = PixelConverter.writableFormats
    for (index, from) in formats.enumerated() {
      let to = formats[(index * 7 + 3) % formats.count]
      for (a, b) in [((33, 18), (7, 5)), ((7, 5), (64, 33)), ((16, 16), (48, 32))] {
        let source = try GuardedPicture(from, a.0, a.1, padding: 0, at: side, seed: 5)
        let target = try GuardedPicture(to, b.0, b.1, padding: 0, at: side)
        try converter.convert(source.buffer, to: target.buffer)
        // The corner of one into the corner of the other.
        let part = PixelRect(
          x: a.0 / 4 * 2, y: a.1 / 4 * 2, width: a.0 - a.0 / 4 * 2, height: a.1 - a.1 / 4 * 2)
        let place = PixelRect(
          x: b.0 / 4 * 2, y: b.1 / 4 * 2, width: b.0 - b.0 / 4 * 2, height: b.1 - b.1 / 4 * 2)
        try converter.convert(source.buffer, sourceRect: part, to: target.buffer, targetRect: place)
        try converter.convert(source.buffer, sourceRect: part, to: target.buffer)
      }
    }
  }

  /// A part of a picture of the same format and size only moves, to where it belongs.
  @Test(arguments: GuardedPicture.Side.allCases) func cropsWithinItsMemory(side: GuardedPicture.Side) throws {
    let converter = PixelConverter()
    for format in inPlace {
      let source = try GuardedPicture(format, 23, 14, padding: 0, at: side, seed: 11)
      let target = try GuardedPicture(format, 13, 8, padding: 0, at: side)
      let rect = PixelRect(x: 10, y: 6, width: 13, height: 8)
      try converter.convert(source.buffer, sourceRect: rect, to: target.buffer)
      let whole = PlaneShape.of(format, 23, 14)
      let offset = PlaneShape.of(format, 10, 6)
      let part = PlaneShape.of(format, 13, 8)
      var expected: [UInt8] = []
      var base = 0
      let bytes = source.bytes
      for plane in whole.indices {
        for row in 0..<part[plane].rows {
          let start = base + (offset[plane].rows + row) * whole[plane].bytes + offset[plane].bytes
          expected += bytes[start..<start + part[plane].bytes]
        }
        base += whole[plane].bytes * whole[plane].rows
      }
      #expect(target.bytes == expected, "\(name(format))")
    }
  }

  /// A part that would begin between two samples of chroma begins at the earlier one, copied or
  /// scaled.
  @Test(arguments: GuardedPicture.Side.allCases) func partsFromOddCornersStayWithinTheirMemory(
    side: GuardedPicture.Side
  ) throws {
    let converter = PixelConverter()
    let conversion = PictureConversion(filter: .bicubic, threads: 1)
    for format in inPlace {
      let source = try GuardedPicture(format, 24, 14, padding: 0, at: side, seed: 29)
      let (view, info) = try PixelConverter.view(source.buffer)
      let meaning = SampleMeaning(isFullRange: info.isFullRange)
      for (x, y) in [(1, 1), (3, 0), (0, 5), (5, 3)] {
        let rect = PixelRect(x: x, y: y, width: 24 - x, height: 14 - y)
        for (width, height) in [(rect.width, rect.height), (12, 8)] {
          let target = try GuardedPicture(format, width, height, padding: 0, at: side)
          let expected = try GuardedPicture(format, width, height, padding: 0, at: side)
          let (place, _) = try PixelConverter.view(target.buffer)
          try conversion.convert(view.cropped(to: rect), meaning, to: place, meaning)
          try converter.convert(source.buffer, sourceRect: rect, to: expected.buffer)
          if width == rect.width {
            #expect(target.bytes == expected.bytes, "\(name(format)) from \(x), \(y)")
          }
        }
      }
    }
  }

  /// libavcodec's Theora decoder crops by any number of rows and columns.
  @Test(arguments: [(0, 1), (1, 0), (3, 5), (2, 7)]) func croppedFramesAreCopiedWithinTheirMemory(
    left: Int, top: Int
  ) throws {
    let (width, height) = (24, 14)
    let source = try GuardedPicture(
      kCVPixelFormatType_420YpCbCr8Planar, width, height, padding: 0, at: .end, seed: 31)
    let (view, _) = try PixelConverter.view(source.buffer)
    var allocated = av_frame_alloc()
    defer { av_frame_free(&allocated) }
    let frame = try #require(allocated)
    frame.pointee.format = AV_PIX_FMT_YUV420P.rawValue
    (frame.pointee.width, frame.pointee.height) = (Int32(width), Int32(height))
    (frame.pointee.crop_left, frame.pointee.crop_top) = (Int(left), Int(top))
    (frame.pointee.data.0, frame.pointee.data.1, frame.pointee.data.2) = (
      view.planes[0], view.planes[1], view.planes[2]
    )
    (frame.pointee.linesize.0, frame.pointee.linesize.1, frame.pointee.linesize.2) = (
      view.strides[0], view.strides[1], view.strides[2]
    )
    let memory = DecoderMemory(VideoDecoderConfiguration(codec: .h264), isDirect: false)
    let picture = try memory.copy(frame, PictureConversion(filter: .bicubic, threads: 1)).buffer
    #expect(CVPixelBufferGetWidth(picture) == width - left)
    #expect(CVPixelBufferGetHeight(picture) == height - top)
    let part = try GuardedPicture(
      kCVPixelFormatType_420YpCbCr8Planar, width - left, height - top, padding: 0, at: .end)
    try PixelConverter().convert(
      source.buffer, sourceRect: PixelRect(x: left, y: top, width: width - left, height: height - top),
      to: part.buffer)
    #expect(try planarSamples(picture, "yuv420p") == part.bytes)
  }

  /// Both fields of pictures of every height, and their blend.
  @Test(arguments: GuardedPicture.Side.allCases) func fieldsStayWithinTheirMemory(side: GuardedPicture.Side)
    throws
  {
    let converter = PixelConverter()
    for format in inPlace {
      for height in 2...11 {
        let source = try GuardedPicture(format, 9, height, padding: 0, at: side, seed: 13)
        for field in [FieldFilter.Field.top, .bottom] {
          let half = try #require(FieldFilter.field(field, of: source.buffer))
          let rows = CVPixelBufferGetHeight(half)
          #expect(rows == (field == .top ? (height + 1) / 2 : height / 2))
          let copy = try GuardedPicture(format, 9, rows, padding: 0, at: side)
          try converter.convert(half, to: copy.buffer)
          // Luma, or all there is in one plane: every other row.
          let shape = PlaneShape.of(format, 9, height)[0]
          let bytes = source.bytes
          let expected = (0..<rows).flatMap { row in
            let start = (2 * row + (field == .top ? 0 : 1)) * shape.bytes
            return bytes[start..<start + shape.bytes]
          }
          #expect(Array(copy.bytes.prefix(expected.count)) == expected, "\(name(format)), height \(height)")
        }
        let target = try GuardedPicture(format, 9, height, padding: 0, at: side)
        _ = FieldFilter.blend(source.buffer, to: target.buffer)
      }
    }
  }

  /// Turned and mirrored.
  @Test(arguments: GuardedPicture.Side.allCases) func turnsWithinItsMemory(side: GuardedPicture.Side) throws {
    for format in PixelConverter.writableFormats where PixelRotation.workingFormat(format) == format {
      for angle in [PixelRotation.Angle.none, .clockwise90, .half, .counterclockwise90] {
        let rotation = PixelRotation(angle: angle, flipsHorizontally: true)
        let source = try GuardedPicture(format, 9, 7, padding: 0, at: side, seed: 17)
        let (width, height) = rotation.swapsSides ? (7, 9) : (9, 7)
        let target = try GuardedPicture(format, width, height, padding: 0, at: side)
        #expect(rotation.rotate(source.buffer, to: target.buffer))
        #expect(source.bytes.sorted() == target.bytes.sorted(), "\(name(format))")
      }
    }
  }

  // MARK: -

  private func name(_ format: OSType) -> String {
    String(decoding: withUnsafeBytes(of: format.bigEndian, Array.init), as: UTF8.self)
  }

  private func makeBuffer(_ format: OSType, _ width: Int, _ height: Int) -> CVPixelBuffer? {
    var made: CVPixelBuffer?
    CVPixelBufferCreate(nil, width, height, format, nil, &made)
    return made
  }

  private func roomyCopy(_ picture: GuardedPicture, _ format: OSType, _ width: Int, _ height: Int) throws
    -> CVPixelBuffer
  {
    let buffer = try #require(makeBuffer(format, width, height))
    var bytes = picture.bytes[...]
    forEachRow(buffer, format, width, height) { row in
      row.copyBytes(from: bytes.prefix(row.count))
      bytes = bytes.dropFirst(row.count)
    }
    return buffer
  }

  private func packed(_ buffer: CVPixelBuffer, _ format: OSType, _ width: Int, _ height: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    forEachRow(buffer, format, width, height) { bytes += $0 }
    return bytes
  }

  private func forEachRow(
    _ buffer: CVPixelBuffer, _ format: OSType, _ width: Int, _ height: Int,
    _ body: (UnsafeMutableRawBufferPointer) -> Void
  ) {
    let isPlanar = CVPixelBufferIsPlanar(buffer)
    for (plane, shape) in PlaneShape.of(format, width, height).enumerated() {
      let base =
        isPlanar ? CVPixelBufferGetBaseAddressOfPlane(buffer, plane) : CVPixelBufferGetBaseAddress(buffer)
      let stride =
        isPlanar ? CVPixelBufferGetBytesPerRowOfPlane(buffer, plane) : CVPixelBufferGetBytesPerRow(buffer)
      for row in 0..<shape.rows {
        body(UnsafeMutableRawBufferPointer(start: base.map { $0 + row * stride }, count: shape.bytes))
      }
    }
  }
}
