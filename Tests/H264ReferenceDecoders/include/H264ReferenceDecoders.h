// SPDX-License-Identifier: Apache-2.0
// Two independent H.264 decoders behind one small interface, to compare the encoder with:
// libavcodec, and OpenH264 where its library is installed (it is loaded at run time, so that
// building and testing need not have it).

#ifndef H264_REFERENCE_DECODERS_H
#define H264_REFERENCE_DECODERS_H

#include <stddef.h>
#include <stdint.h>

enum {
  OVT_DECODER_LIBAVCODEC = 0,
  OVT_DECODER_OPENH264 = 1,
};

typedef struct OVTReferenceDecoder OVTReferenceDecoder;

typedef struct OVTDecodedPicture {
  int width, height;  // cropped
  const uint8_t *planes[3];
  int strides[3];
  int hasFullChroma;  // 4:4:4; otherwise 4:2:0
} OVTDecodedPicture;

// NULL if the decoder is not there.
OVTReferenceDecoder *ovt_reference_decoder_create(int kind);
void ovt_reference_decoder_destroy(OVTReferenceDecoder *decoder);
// Decodes one access unit in Annex B form. 1: `picture` holds the frame, valid until the next call;
// 0: no frame yet; negative: the decoder found an error in the stream.
int ovt_reference_decoder_decode(OVTReferenceDecoder *decoder, const uint8_t *data, size_t size,
                                 OVTDecodedPicture *picture);
// The next frame that the decoder still holds back, as above; 0 when there is none.
int ovt_reference_decoder_drain(OVTReferenceDecoder *decoder, OVTDecodedPicture *picture);
// The last error message of the decoder, or an empty string.
const char *ovt_reference_decoder_message(const OVTReferenceDecoder *decoder);

#endif
