// SPDX-License-Identifier: Apache-2.0
import CoreAudio

/// A type of file: four characters.
public typealias AudioFileTypeID = UInt32

public let kAudioFileAIFFType: AudioFileTypeID = 0x4149_4646  // 'AIFF'
public let kAudioFileAIFCType: AudioFileTypeID = 0x4149_4643  // 'AIFC'
public let kAudioFileWAVEType: AudioFileTypeID = 0x5741_5645  // 'WAVE'
public let kAudioFileRF64Type: AudioFileTypeID = 0x5246_3634  // 'RF64'
public let kAudioFileBW64Type: AudioFileTypeID = 0x4257_3634  // 'BW64'
public let kAudioFileWave64Type: AudioFileTypeID = 0x5736_3466  // 'W64f'
public let kAudioFileNextType: AudioFileTypeID = 0x4E65_5854  // 'NeXT'
public let kAudioFileMP3Type: AudioFileTypeID = 0x4D50_4733  // 'MPG3'
public let kAudioFileAC3Type: AudioFileTypeID = 0x6163_2D33  // 'ac-3'
public let kAudioFileAAC_ADTSType: AudioFileTypeID = 0x6164_7473  // 'adts'
public let kAudioFileMPEG4Type: AudioFileTypeID = 0x6D70_3466  // 'mp4f'
public let kAudioFileM4AType: AudioFileTypeID = 0x6D34_6166  // 'm4af'
public let kAudioFileM4BType: AudioFileTypeID = 0x6D34_6266  // 'm4bf'
public let kAudioFileCAFType: AudioFileTypeID = 0x6361_6666  // 'caff'
public let kAudioFile3GPType: AudioFileTypeID = 0x3367_7070  // '3gpp'
public let kAudioFile3GP2Type: AudioFileTypeID = 0x3367_7032  // '3gp2'
public let kAudioFileAMRType: AudioFileTypeID = 0x616D_7266  // 'amrf'
public let kAudioFileFLACType: AudioFileTypeID = 0x666C_6163  // 'flac'
