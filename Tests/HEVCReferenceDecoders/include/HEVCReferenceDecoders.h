// SPDX-License-Identifier: Apache-2.0
// An independent H.265 decoder behind a small interface, to compare the encoder with: libavcodec.

#ifndef HEVC_REFERENCE_DECODERS_H
#define HEVC_REFERENCE_DECODERS_H

#include <stddef.h>
#include <stdint.h>

typedef struct OVTHEVCReferenceDecoder OVTHEVCReferenceDecoder;

typedef struct OVTHEVCDecodedPicture {
  int width, height;  // cropped
  int depth;          // bits of a sample: 8, or 10 in two bytes each
  const uint8_t *planes[3];
  int strides[3];  // in bytes
} OVTHEVCDecodedPicture;

// NULL if the decoder is not there.
OVTHEVCReferenceDecoder *ovt_hevc_reference_decoder_create(void);
// The same with threads that each decode rows from their entry points on, where a stream has these.
// Error messages of such a thread are not visible; its picture is wrong.
OVTHEVCReferenceDecoder *ovt_hevc_reference_decoder_create_with_threads(int threads);
void ovt_hevc_reference_decoder_destroy(OVTHEVCReferenceDecoder *decoder);
// Decodes one access unit in Annex B form. 1: `picture` holds the frame, valid until the next call;
// 0: no frame yet; negative: the decoder found an error in the stream.
int ovt_hevc_reference_decoder_decode(OVTHEVCReferenceDecoder *decoder, const uint8_t *data, size_t size,
                                      OVTHEVCDecodedPicture *picture);
// The next frame that the decoder still holds back, as above; 0 when there is none.
int ovt_hevc_reference_decoder_drain(OVTHEVCReferenceDecoder *decoder, OVTHEVCDecodedPicture *picture);
// The last error message of the decoder, or an empty string.
const char *ovt_hevc_reference_decoder_message(const OVTHEVCReferenceDecoder *decoder);

#endif
