// SPDX-License-Identifier: Apache-2.0
/// What vui_parameters() say first, in the same way in H.264 and HEVC: how the samples are to be shown (E.1.1).
package struct VideoAppearance: Equatable, Sendable {
  /// video_signal_type
  package struct Signal: Equatable, Sendable {
    /// video_format (Table E-2); 5: unspecified.
    package var format = 5
    package var isFullRange = false
    package var color: ColorDescription?

    package init(format: Int = 5, isFullRange: Bool = false, color: ColorDescription? = nil) {
      self.format = format
      self.isFullRange = isFullRange
      self.color = color
    }
  }

  /// chroma_sample_loc_type of both fields, 0...5.
  package struct ChromaLocations: Equatable, Sendable {
    package var top: Int
    package var bottom: Int

    package init(top: Int, bottom: Int) {
      self.top = top
      self.bottom = bottom
    }
  }

  package var aspectRatio: SampleAspectRatio?
  /// overscan_appropriate_flag
  package var isOverscanAppropriate: Bool?
  package var signal: Signal?
  package var chromaLocations: ChromaLocations?

  package init() {}

  package var isFullRange: Bool { signal?.isFullRange ?? false }
  package var color: ColorDescription { signal?.color ?? ColorDescription() }

  mutating func code<Coder: SyntaxCoder>(_ c: inout Coder) {
    c.optional(&aspectRatio, SampleAspectRatio()) { $1.code(&$0) }
    c.optional(&isOverscanAppropriate, false) { $0.flag(&$1) }
    c.optional(&signal, Signal()) {
      $0.u(&$1.format, 3)
      $0.flag(&$1.isFullRange)
      $0.optional(&$1.color, ColorDescription()) { $1.code(&$0) }
    }
    c.optional(&chromaLocations, ChromaLocations(top: 0, bottom: 0)) {
      $0.ue(&$1.top, 0...5)
      $0.ue(&$1.bottom, 0...5)
    }
  }
}

/// aspect_ratio_idc (Table E-1) with sar_width and sar_height.
package struct SampleAspectRatio: Equatable, Sendable {
  /// 0: unspecified; 1...16: of the table; 255: as `width` and `height` say.
  package private(set) var idc = 0
  package private(set) var width = 0
  package private(set) var height = 0

  /// By idc from 1.
  private static let table: [(width: Int, height: Int)] = [
    (1, 1), (12, 11), (10, 11), (16, 11), (40, 33), (24, 11), (20, 11), (32, 11), (80, 33), (18, 11),
    (15, 11), (64, 33), (160, 99), (4, 3), (3, 2), (2, 1),
  ]
  private static let extended = 255

  /// Unspecified.
  package init() {}

  /// Of the table if it is there. Only the ratio of width and height (0...65535) matters.
  package init(width: Int, height: Int) {
    self.width = width
    self.height = height
    let index = Self.table.firstIndex { $0 == (width, height) }
    idc = index.map { $0 + 1 } ?? Self.extended
  }

  /// Nil if it is not specified.
  package var ratio: (width: Int, height: Int)? { width > 0 && height > 0 ? (width, height) : nil }

  mutating func code<Coder: SyntaxCoder>(_ c: inout Coder) {
    c.u(&idc, 8)
    if idc == Self.extended {
      c.u(&width, 16)
      c.u(&height, 16)
    } else if Coder.isReading, Self.table.indices.contains(idc - 1) {
      (width, height) = Self.table[idc - 1]
    }
  }
}

/// num_units_in_tick and time_scale.
package struct VideoTicks: Equatable, Sendable {
  /// Of the time scale, in a tick; from 1.
  package var unitsInTick: Int
  /// Units in a second; from 1.
  package var timeScale: Int

  package init(unitsInTick: Int = 0, timeScale: Int = 0) {
    self.unitsInTick = unitsInTick
    self.timeScale = timeScale
  }

  /// Neither is 0, which the standard does not allow.
  package var isValid: Bool { unitsInTick > 0 && timeScale > 0 }

  mutating func code<Coder: SyntaxCoder>(_ c: inout Coder) {
    c.u(&unitsInTick, 32)
    c.u(&timeScale, 32)
  }
}
