// SPDX-License-Identifier: Apache-2.0

extension WebPage {
  /// The part of the page's script for browsers without WebCodecs, or on request (`&webrtc` in the
  /// address): WebRTC, by an offer that is posted as WHEP has it.
  static let peerScript = #"""

    async function connectPeer() {
      const video = $('video');
      picture.hidden = true;
      video.hidden = false;
      document.querySelector('.charts').hidden = true;
      document.querySelector('.controls').hidden = true;
      figures.codec = 'webrtc';
      const peer = new RTCPeerConnection();
      let isFinished = false;
      function again(text, time) {
        if (isFinished) return;
        isFinished = true;
        peer.close();
        veil(text);
        setTimeout(connectPeer, time);
      }
      peer.addTransceiver('video', {direction: 'recvonly'});
      peer.addTransceiver('audio', {direction: 'recvonly'});
      // Browsers begin no sound before a click: it is muted until then.
      video.controls = true;
      peer.ontrack = e => {
        // Shows pictures as soon as they come.
        e.receiver.jitterBufferTarget = 0;
        video.srcObject = e.streams[0] || new MediaStream([e.track]);
        video.play().catch(() => {});
        // The session ends with the stream.
        e.track.onended = () => again('the session has ended', 2000);
      };
      peer.onconnectionstatechange = () => {
        figures.state = peer.connectionState;
        if (peer.connectionState === 'connected') veil('waiting for a picture');
        if (peer.connectionState === 'failed' || peer.connectionState === 'closed') {
          again('no connection; trying again', 2000);
        }
      };
      if (video.requestVideoFrameCallback) {
        const count = () => {
          if (isFinished) return;
          figures.shown++;
          veil('');
          video.requestVideoFrameCallback(count);
        };
        video.requestVideoFrameCallback(count);
      } else {
        video.onplaying = () => veil('');
      }
      try {
        const offer = await peer.createOffer();
        // Without this parameter browsers decode Opus as one channel (RFC 7587, 6.1).
        offer.sdp = offer.sdp.replace(/(a=fmtp:\d+ [^\r\n]*useinbandfec=1)/g, '$1;stereo=1');
        await peer.setLocalDescription(offer);
        // Candidates that take long are left out: this machine answers whatever address asks.
        await Promise.race([
          new Promise(done => { peer.onicegatheringstatechange = () => {
            if (peer.iceGatheringState === 'complete') done(); }; }),
          new Promise(done => setTimeout(done, 1000))]);
        const token = new URLSearchParams(location.search).get('token');
        const response = await fetch('whep?token=' + encodeURIComponent(token), {
          method: 'POST', headers: {'Content-Type': 'application/sdp'}, body: peer.localDescription.sdp});
        const text = await response.text();
        if (response.status !== 201) {
          figures.fault = text;
          return again(text, response.status === 409 ? 500 : 5000);
        }
        await peer.setRemoteDescription({type: 'answer', sdp: text});
      } catch (error) {
        figures.fault = String(error);
        again('no connection; trying again', 2000);
      }
      setInterval(async () => {
        if (isFinished) return;
        for (const report of (await peer.getStats()).values()) {
          if (report.type !== 'inbound-rtp') continue;
          if (report.kind === 'audio') {
            figures.soundPackets = report.packetsReceived;
            figures.soundEnergy = report.totalAudioEnergy;
            continue;
          }
          figures.decoded = report.framesDecoded;
          figures.lost = report.packetsLost;
          figures.keyFrames = report.keyFramesDecoded;
          $('line').textContent = `${report.framesDecoded || 0} decoded, ${report.framesDropped || 0} left out, ` +
            `${report.packetsLost || 0} packets lost, by WebRTC`;
        }
      }, 1000);
    }

    const wantsPeer = new URLSearchParams(location.search).has('webrtc');
    if ('VideoDecoder' in window && !wantsPeer) connect();
    else if ('RTCPeerConnection' in window) connectPeer();
    else veil('This browser offers neither WebCodecs nor WebRTC here.');

    """#
}
