// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia

/// The folder of a path: `.` for a name alone.
func folder(of path: String) -> String {
  let folder = folderPath(path)
  return folder.isEmpty ? "." : folder
}
