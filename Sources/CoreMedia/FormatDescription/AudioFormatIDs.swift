// SPDX-License-Identifier: Apache-2.0
// Identifiers of audio formats. The readers and writers of AVFoundation support some of them.

/// AC-3 in IEC 60958 frames.
public let kAudioFormat60958AC3: AudioFormatID = 0x63616333  // 'cac3'
/// Apple's IMA 4:1 ADPCM.
public let kAudioFormatAppleIMA4: AudioFormatID = 0x696D6134  // 'ima4'
/// MPEG-4 CELP.
public let kAudioFormatMPEG4CELP: AudioFormatID = 0x63656C70  // 'celp'
/// MPEG-4 HVXC.
public let kAudioFormatMPEG4HVXC: AudioFormatID = 0x68767863  // 'hvxc'
/// MPEG-4 TwinVQ.
public let kAudioFormatMPEG4TwinVQ: AudioFormatID = 0x74777671  // 'twvq'
/// MACE 3:1.
public let kAudioFormatMACE3: AudioFormatID = 0x4D414333  // 'MAC3'
/// MACE 6:1.
public let kAudioFormatMACE6: AudioFormatID = 0x4D414336  // 'MAC6'
/// QDesign music.
public let kAudioFormatQDesign: AudioFormatID = 0x51444D43  // 'QDMC'
/// QDesign music 2.
public let kAudioFormatQDesign2: AudioFormatID = 0x51444D32  // 'QDM2'
/// Qualcomm PureVoice.
public let kAudioFormatQUALCOMM: AudioFormatID = 0x51636C70  // 'Qclp'
/// MPEG-1 or 2 layer 1.
public let kAudioFormatMPEGLayer1: AudioFormatID = 0x2E6D7031  // '.mp1'
/// MPEG-1 or 2 layer 2.
public let kAudioFormatMPEGLayer2: AudioFormatID = 0x2E6D7032  // '.mp2'
/// SMPTE time code in audio packets.
public let kAudioFormatTimeCode: AudioFormatID = 0x74696D65  // 'time'
/// MIDI packets.
public let kAudioFormatMIDIStream: AudioFormatID = 0x6D696469  // 'midi'
/// A stream of parameter values that change over time.
public let kAudioFormatParameterValueStream: AudioFormatID = 0x61707673  // 'apvs'
/// MPEG-4 AAC, low delay.
public let kAudioFormatMPEG4AAC_LD: AudioFormatID = 0x6161636C  // 'aacl'
/// MPEG-4 AAC, enhanced low delay.
public let kAudioFormatMPEG4AAC_ELD: AudioFormatID = 0x61616365  // 'aace'
/// MPEG-4 AAC, enhanced low delay, with spectral band replication.
public let kAudioFormatMPEG4AAC_ELD_SBR: AudioFormatID = 0x61616366  // 'aacf'
/// MPEG-4 AAC, enhanced low delay, version 2.
public let kAudioFormatMPEG4AAC_ELD_V2: AudioFormatID = 0x61616367  // 'aacg'
/// MPEG-4 spatial audio.
public let kAudioFormatMPEG4AAC_Spatial: AudioFormatID = 0x61616373  // 'aacs'
/// MPEG-D unified speech and audio coding.
public let kAudioFormatMPEGD_USAC: AudioFormatID = 0x75736163  // 'usac'
/// AMR, narrow band.
public let kAudioFormatAMR: AudioFormatID = 0x73616D72  // 'samr'
/// AMR, wide band.
public let kAudioFormatAMR_WB: AudioFormatID = 0x73617762  // 'sawb'
/// The format of Audible's audio books.
public let kAudioFormatAudible: AudioFormatID = 0x41554442  // 'AUDB'
/// iLBC.
public let kAudioFormatiLBC: AudioFormatID = 0x696C6263  // 'ilbc'
/// AES3.
public let kAudioFormatAES3: AudioFormatID = 0x61657333  // 'aes3'
/// Apple's positional audio codec.
public let kAudioFormatAPAC: AudioFormatID = 0x61706163  // 'apac'
/// The ADPCM format of Intel and DVI; the lower half is its number in WAVE files.
public let kAudioFormatDVIIntelIMA: AudioFormatID = 0x6D73_0011
/// Microsoft's GSM 6.10; the lower half is its number in WAVE files.
public let kAudioFormatMicrosoftGSM: AudioFormatID = 0x6D73_0031
