// SPDX-License-Identifier: Apache-2.0
import VideoEncoding

/// The reason why a configuration, a picture or an option is refused. The encoder is unchanged
/// then.
public typealias HEVCEncoderError = VideoEncoderError
