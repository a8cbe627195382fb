// SPDX-License-Identifier: Apache-2.0
// For programs' import lines: AVKit's views are not here (docs/compatibility.md).
@_exported import AVFoundation
