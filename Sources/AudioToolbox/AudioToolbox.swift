// SPDX-License-Identifier: Apache-2.0
// The names of Audio Toolbox that AVFAudio's errors and settings use. Its C functions (audio
// converters, files, queues and units) are not here: AVAudioConverter and AVAudioFile do their
// work.
@_exported import CoreAudio
