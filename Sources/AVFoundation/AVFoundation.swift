// SPDX-License-Identifier: Apache-2.0
@_exported import AVFAudio
@_exported import MediaToolbox
@_exported import UniformTypeIdentifiers
@_exported import VideoToolbox
