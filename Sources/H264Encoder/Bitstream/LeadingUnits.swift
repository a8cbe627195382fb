// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

extension AccessUnitWriter {
  /// Appends the access unit delimiter and the parameter sets of a picture, as configured
  /// (7.4.1.2.3).
  /// - Parameters:
  ///   - plan: the plan of the picture.
  ///   - configuration: the configuration of the stream.
  ///   - sps: its sequence parameter set.
  ///   - pictureSets: its picture parameter sets, in a collection that needs no allocation.
  mutating func appendLeadingUnits(
    _ plan: PicturePlan, _ configuration: H264EncoderConfiguration, _ sps: H264SequenceParameterSet,
    _ pictureSets: some Collection<H264PictureParameterSet>
  ) {
    if configuration.writesAccessUnitDelimiters {
      append(.accessUnitDelimiter) {
        H264AccessUnitDelimiter(primaryPictureType: plan.isKeyFrame ? 0 : plan.isBidirectional ? 2 : 1)
          .write(to: &$0)
      }
    }
    guard plan.isKeyFrame, configuration.writesParameterSets else { return }
    append(.sequenceParameterSet, refIDC: 3) { sps.write(to: &$0) }
    for set in pictureSets { append(.pictureParameterSet, refIDC: 3) { set.write(to: &$0) } }
  }

  /// Appends the SEI messages on the dynamic range of a key frame, as configured. A buffering
  /// period message comes before them (7.4.1.2.3).
  /// - Parameters:
  ///   - plan: the plan of the picture.
  ///   - configuration: the configuration of the stream.
  mutating func appendDynamicRange(_ plan: PicturePlan, _ configuration: H264EncoderConfiguration) {
    guard plan.isKeyFrame else { return }
    var messages: [SupplementalInformation.Message] = []
    if let payload = configuration.masteringDisplay { messages.append(.init(type: 137, payload: payload)) }
    if let payload = configuration.contentLightLevel { messages.append(.init(type: 144, payload: payload)) }
    if !messages.isEmpty { append(.sei) { SupplementalInformation.write(messages, to: &$0) } }
  }
}
