// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia

/// The folder of a path; `.` for a plain file name.
func folder(of path: String) -> String {
  let folder = folderPath(path)
  return folder.isEmpty ? "." : folder
}
