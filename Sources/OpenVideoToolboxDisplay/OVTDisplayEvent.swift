// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What a person does at a window.
public enum OVTDisplayEvent: Sendable, Equatable {
  public enum Key: Sendable, Equatable {
    case left, right, up, down, escape, space, enter
    /// A letter, digit or sign, in lower case.
    case character(Character)
  }
  case key(Key)
  /// The pointer was pressed at a place, from 0 to 1 from the left and from the top.
  case click(x: Double, y: Double)
  /// The window is to be closed; it stays until `close()`.
  case closeRequest
}
