// SPDX-License-Identifier: Apache-2.0

/// Returns the folder of a path; empty for a name without a folder. Foundation's
/// `deletingLastPathComponent` traps for a name of one letter.
package func folderPath(_ path: String) -> String {
  var rest = path[...]
  while rest.count > 1, rest.last == "/" { rest.removeLast() }
  guard let slash = rest.lastIndex(of: "/") else { return "" }
  rest = rest[..<slash]
  while rest.last == "/" { rest.removeLast() }
  return rest.isEmpty ? "/" : String(rest)
}
