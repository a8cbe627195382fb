// SPDX-License-Identifier: Apache-2.0

extension WebPage {
  /// The part of the page's script that plays the audio with WebCodecs' pictures. Browsers begin
  /// no audio before a click, so there is a button, which appears with the first packet.
  static let audioScript = #"""

    const sound = {context: null, decoder: null, end: 0};
    // The seconds of sound that are kept ready, and the most of them: more is left out.
    const cushion = 0.06, longest = 0.25;

    function takeSound(buffer) {
      if (buffer.byteLength < 13) return;
      figures.soundPackets = (figures.soundPackets || 0) + 1;
      if ('AudioDecoder' in window && 'AudioContext' in window) $('sound').hidden = false;
      if (!sound.decoder) return;
      const timestamp = Number(new DataView(buffer).getBigInt64(4)) * 1000 / 48;
      try {
        sound.decoder.decode(
          new EncodedAudioChunk({type: 'key', timestamp, data: new Uint8Array(buffer, 12)}));
      } catch (error) {
        failSound(error);
      }
    }

    function failSound(error) {
      figures.soundFault = String(error);
      stopSound();
    }

    function playSound(data) {
      const {context} = sound, now = context.currentTime;
      const chunk = context.createBuffer(data.numberOfChannels, data.numberOfFrames, data.sampleRate);
      let energy = 0;
      for (let channel = 0; channel < data.numberOfChannels; channel++) {
        const samples = chunk.getChannelData(channel);
        data.copyTo(samples, {planeIndex: channel, format: 'f32-planar'});
        for (const sample of samples) energy += sample * sample;
      }
      data.close();
      figures.soundEnergy = (figures.soundEnergy || 0) + energy;
      if (sound.end > now + longest) return;
      if (sound.end < now) sound.end = now + cushion;
      const source = context.createBufferSource();
      source.buffer = chunk;
      source.connect(context.destination);
      source.start(sound.end);
      sound.end += chunk.duration;
    }

    function stopSound() {
      if (sound.decoder && sound.decoder.state !== 'closed') sound.decoder.close();
      if (sound.context) sound.context.close();
      sound.decoder = sound.context = null;
      $('sound').textContent = 'Play the audio';
    }

    $('sound').onclick = () => {
      if (sound.decoder) return stopSound();
      try {
        sound.context = new AudioContext({sampleRate: 48000, latencyHint: 'interactive'});
        sound.end = 0;
        const own = sound.context;
        sound.decoder = new AudioDecoder({
          output: data => { if (sound.context === own) playSound(data); else data.close(); }, error: failSound});
        sound.decoder.configure({codec: 'opus', sampleRate: 48000, numberOfChannels: 2});
        $('sound').textContent = 'Mute the audio';
      } catch (error) {
        failSound(error);
      }
    };

    """#
}
