// SPDX-License-Identifier: Apache-2.0
import Foundation

/// User input in a window.
public enum OVTDisplayEvent: Sendable, Equatable {
  public enum Key: Sendable, Equatable {
    case left, right, up, down, escape, space, enter
    /// The character of a key without modifiers, which is a lower-case letter, a digit or a symbol.
    case character(Character)
  }
  case key(Key)
  /// A mouse button was pressed at a position, which is from 0 to 1 from the left and from the top
  /// edge.
  case click(x: Double, y: Double)
  /// The user wants to close the window. It stays open until `close()` is called.
  case closeRequest
}
