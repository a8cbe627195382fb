// SPDX-License-Identifier: Apache-2.0

/// The rotation and mirroring of an HEIF image by the properties `irot` and `imir` (ISO/IEC
/// 23008-12, 6.5.10 and 6.5.12): a rotation followed by an exchange of left and right.
struct HEIFOrientation: Equatable {
  /// Quarter turns anticlockwise, 0...3.
  private(set) var turns = 0
  /// Whether left and right are exchanged after the rotation.
  private(set) var isMirrored = false

  /// Creates the transform that displays the image as it is stored.
  init() {}

  /// The turns and the mirroring for each orientation.
  private static let table: [(orientation: CGImagePropertyOrientation, turns: Int, isMirrored: Bool)] = [
    (.up, 0, false), (.left, 1, false), (.down, 2, false), (.right, 3, false),
    (.upMirrored, 0, true), (.rightMirrored, 1, true), (.downMirrored, 2, true), (.leftMirrored, 3, true),
  ]

  /// Creates the transform from a stored image with an orientation to the displayed one.
  init(_ orientation: CGImagePropertyOrientation) {
    guard let row = Self.table.first(where: { $0.orientation == orientation }) else { return }
    (turns, isMirrored) = (row.turns, row.isMirrored)
  }

  /// The orientation of the stored image.
  var orientation: CGImagePropertyOrientation {
    Self.table.first { $0.turns == turns && $0.isMirrored == isMirrored }?.orientation ?? .up
  }

  /// Appends a rotation.
  /// - Parameter quarters: Quarter turns anticlockwise, the `angle` of `irot`.
  mutating func rotate(_ quarters: Int) {
    // Before a mirroring, the same turn has the opposite direction.
    turns = (turns + (isMirrored ? 4 - quarters & 3 : quarters)) & 3
  }

  /// Appends a mirroring.
  /// - Parameter exchangesSides: Whether left and right are exchanged (mode 1 of `imir`) or top and
  ///   bottom (mode 0).
  mutating func mirror(exchangesSides: Bool) {
    isMirrored.toggle()
    // Exchanging top and bottom is half a turn and an exchange of left and right.
    if !exchangesSides { turns = (turns + 2) & 3 }
  }
}
