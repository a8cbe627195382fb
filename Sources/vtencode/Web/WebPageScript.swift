// SPDX-License-Identifier: Apache-2.0

extension WebPage {
  /// The page's script. It reads messages as `WebFrame`, `WebAudio` and `WebStatus` define them,
  /// and sends those that `WebMessage` reads. `window.figures` is for tests that observe the page.
  static let script = #"""

    'use strict';
    const $ = id => document.getElementById(id);
    const picture = $('picture');
    const paint = picture.getContext('2d', {alpha: false});
    // The number of frames in the decoder's queue above which the decoder is too slow.
    const maxQueued = 12;
    const figures = window.figures = {
      state: 'connecting', shown: 0, dropped: 0, keyFrames: 0, errors: 0, codec: '', last: null, status: null,
      delays: [], clockTrip: null};
    let socket = null, decoder = null, needsKey = true, ended = false, lastAsked = -1e9;
    // The codec string that this browser does not support; no key frame is requested for it.
    let unsupported = '';
    const waiting = new Map();

    function veil(text) { $('veil').hidden = !text; $('veil').textContent = text; }
    function say(message) { if (socket && socket.readyState === 1) socket.send(JSON.stringify(message)); }

    // The session's time, from the clock exchange with the shortest round trip of the last 30 s.
    let exchanges = [];
    function sessionTime() {
      const best = exchanges.reduce((a, b) => b.trip < a.trip ? b : a, {trip: Infinity, offset: NaN});
      figures.clockTrip = best.trip;
      return (performance.now() + best.offset) / 1000;
    }
    function takeClock(message) {
      const now = performance.now(), trip = now - message.page;
      if (!(trip >= 0 && trip < 5000)) return;
      exchanges = exchanges.filter(e => now - e.at < 30000).slice(-30);
      exchanges.push({at: now, trip, offset: message.time * 1000 - (message.page + now) / 2});
    }

    function lose() {
      needsKey = true;
      waiting.clear();
      if (decoder && decoder.state !== 'closed') decoder.close();
      decoder = null;
      ask();
    }

    // Requests a key frame at intervals until one comes, because the server limits the requests.
    function ask() {
      const now = performance.now();
      if (!needsKey || unsupported || now - lastAsked < 500) return;
      lastAsked = now;
      say({type: 'key', lost: true});
    }

    function fail(error) {
      figures.errors++;
      figures.fault = String(error);
      if (error && error.name === 'NotSupportedError') {
        unsupported = figures.codec;
        veil(unsupported.startsWith('hev1')
          ? `this browser does not decode HEVC (${unsupported}); send H.264, with --codec h264`
          : `this browser does not decode ${unsupported}`);
      }
      lose();
    }

    function show(frame) {
      const facts = waiting.get(frame.timestamp);
      for (const time of waiting.keys()) if (time <= frame.timestamp) waiting.delete(time);
      if (picture.width !== frame.displayWidth || picture.height !== frame.displayHeight) {
        picture.width = frame.displayWidth;
        picture.height = frame.displayHeight;
      }
      paint.drawImage(frame, 0, 0, picture.width, picture.height);
      frame.close();
      figures.shown++;
      // A frame may come out of the decoder after the session's end.
      if (!ended) veil('');
      const delay = facts ? sessionTime() - facts.captured : NaN;
      figures.last = {
        number: facts && facts.number, delay, wall: performance.timeOrigin + performance.now()};
      if (!isFinite(delay)) return;
      figures.delays.push(delay);
      if (figures.delays.length > 300) figures.delays.shift();
      charts.delay.add(0, delay * 1000);
    }

    // The codec's name in WebCodecs, from the sequence parameter set of a key frame.
    function codecOf(data, isHEVC) {
      for (let i = 0; i + 7 < data.length; i++) {
        if (data[i] || data[i + 1] || data[i + 2] !== 1) continue;
        if (isHEVC && (data[i + 3] >> 1 & 63) === 33) return hevcOf(data.subarray(i + 5, i + 40));
        if (isHEVC || (data[i + 3] & 31) !== 7) continue;
        // profile_idc, the constraint flags and level_idc.
        return 'avc1.' + Array.from(data.subarray(i + 4, i + 7), b => b.toString(16).padStart(2, '0')).join('');
      }
      return '';
    }

    // From profile_tier_level (7.3.3), after the first byte of the parameter set, as ISO/IEC
    // 14496-15, annex E, has it.
    function hevcOf(coded) {
      // Without the bytes that prevent start codes.
      const set = Array.from(coded).filter((b, i) => !(b === 3 && i > 1 && !coded[i - 1] && !coded[i - 2]));
      if (set.length < 13) return '';
      let reversed = 0;
      for (let bit = 0; bit < 32; bit++) if (set[2 + (bit >> 3)] >> (7 - (bit & 7)) & 1) reversed += 2 ** bit;
      const constraints = set.slice(6, 12);
      while (constraints.length && !constraints[constraints.length - 1]) constraints.pop();
      return ['hev1', ['', 'A', 'B', 'C'][set[1] >> 6] + (set[1] & 31), reversed.toString(16).toUpperCase(),
        (set[1] & 32 ? 'H' : 'L') + set[12], ...constraints.map(b => b.toString(16).toUpperCase())].join('.');
    }

    // A browser may accept a codec, and find out only later that it does not decode it.
    function check(codec) {
      VideoDecoder.isConfigSupported({codec, optimizeForLatency: true}).then(answer => {
        if (!answer.supported && figures.codec === codec && unsupported !== codec) {
          fail(new DOMException(codec, 'NotSupportedError'));
        }
      }, () => {});
    }

    function takeFrame(buffer) {
      const view = new DataView(buffer);
      if (buffer.byteLength < 28 || view.getUint8(0) !== 1) return;
      const isKey = (view.getUint8(1) & 1) !== 0, number = view.getUint32(4);
      const captured = view.getFloat64(8), qp = view.getFloat32(24), data = new Uint8Array(buffer, 28);
      if (isFinite(qp)) charts.qp.add(0, qp);
      if (isKey) figures.keyFrames++;
      if (decoder && decoder.decodeQueueSize > maxQueued) { figures.dropped++; lose(); }
      if (needsKey && !isKey) { figures.dropped++; return; }
      if (isKey) {
        const codec = codecOf(data, (view.getUint8(1) & 2) !== 0) || figures.codec;
        // The codec is not known yet, or this browser does not support it.
        if (!codec || codec === unsupported) { figures.dropped++; return; }
        unsupported = '';
        if (!decoder || codec !== figures.codec) {
          if (decoder && decoder.state !== 'closed') decoder.close();
          figures.codec = codec;
          try {
            decoder = new VideoDecoder({output: show, error: fail});
            decoder.configure({codec, optimizeForLatency: true});
            check(codec);
          } catch (e) {
            fail(e);
            return;
          }
        }
        needsKey = false;
      }
      const timestamp = (figures.taken = (figures.taken || 0) + 1) * 1000;
      waiting.set(timestamp, {captured, number});
      try {
        decoder.decode(new EncodedVideoChunk({type: isKey ? 'key' : 'delta', timestamp, data}));
      } catch (e) {
        fail(e);
      }
    }

    function takeStatus(s) {
      // The last message has no other contents.
      if (s.state === 'ended') { ended = true; veil('the session has ended'); return; }
      figures.status = s;
      charts.rate.add(0, s.rate / 1000);
      charts.rate.add(1, s.repairRate / 1000);
      charts.rate.add(2, s.cap ? s.cap / 1000 : NaN);
      charts.loss.add(0, s.loss * 100);
      if (s.delay != null) charts.delay.add(1, s.delay * 1000);
      choose('lose', s.thrownShare, v => Number(v));
      choose('cap', s.cap, v => v === '' ? null : Number(v));
      if (s.state === 'waiting') veil('waiting for a sender');
      const trip = s.roundTrip == null ? '–' : (s.roundTrip * 1000).toFixed(0);
      $('line').textContent = `${figures.shown} shown, ${figures.dropped} left out, ` +
        `${s.keyFrames} key frame${s.keyFrames === 1 ? '' : 's'}, ` +
        `${s.requests} request${s.requests === 1 ? '' : 's'}, ` +
        `${s.thrown} packet${s.thrown === 1 ? '' : 's'} thrown away, round trip ${trip} ms, ` +
        `${s.clients} page${s.clients === 1 ? '' : 's'}, ${figures.codec}`;
    }

    // Another page may have changed these settings.
    const touched = {};
    function choose(id, value, read) {
      if (performance.now() - (touched[id] || -1e9) < 3000) return;
      const option = Array.from($(id).options).find(o => read(o.value) === (value === undefined ? null : value));
      if (option) $(id).value = option.value;
    }

    class Chart {
      // `top` is the upper end of the scale; without it, the scale follows the values but is not
      // smaller than `least`.
      constructor(id, colors, unit, {top, least = 10} = {}) {
        Object.assign(this, {canvas: $(id), now: $(id + '-now'), colors, unit, top, least, series: colors.map(() => [])});
      }
      add(index, value) {
        const list = this.series[index], now = performance.now();
        list.push([now, value]);
        while (list.length > 4000 || list.length && list[0][0] < now - 62000) list.shift();
      }
      draw() {
        const ratio = devicePixelRatio || 1, width = this.canvas.clientWidth, height = this.canvas.clientHeight;
        if (!width) return;
        if (this.canvas.width !== Math.round(width * ratio)) this.canvas.width = Math.round(width * ratio);
        if (this.canvas.height !== Math.round(height * ratio)) this.canvas.height = Math.round(height * ratio);
        const c = this.canvas.getContext('2d'), now = performance.now();
        c.setTransform(ratio, 0, 0, ratio, 0, 0);
        c.clearRect(0, 0, width, height);
        const all = this.series.flatMap(s => s.map(p => p[1]).filter(isFinite));
        const top = this.top || nice(Math.max(...all, this.least) * 1.1), left = 40, bottom = height - 14;
        c.font = '10px system-ui, sans-serif';
        c.fillStyle = c.strokeStyle = color('--dim');
        c.textAlign = 'right';
        for (let i = 0; i <= 2; i++) {
          const y = 6 + (bottom - 6) * (1 - i / 2);
          c.globalAlpha = 0.25;
          c.beginPath(); c.moveTo(left, y + 0.5); c.lineTo(width, y + 0.5); c.stroke();
          c.globalAlpha = 1;
          c.fillText(String(+(top * i / 2).toPrecision(3)), left - 5, y + 3);
        }
        c.textAlign = 'left'; c.fillText('60 s ago', left, height - 2);
        c.textAlign = 'right'; c.fillText('now', width, height - 2);
        this.series.forEach((points, index) => {
          c.strokeStyle = color(this.colors[index]);
          c.lineWidth = 1.5;
          c.beginPath();
          let pen = false;
          for (const [time, value] of points) {
            const x = left + (width - left) * (1 - (now - time) / 60000), y = 6 + (bottom - 6) * (1 - value / top);
            if (!isFinite(value) || x < left) { pen = false; continue; }
            if (pen) c.lineTo(x, y); else c.moveTo(x, y);
            pen = true;
          }
          c.stroke();
        });
        const last = this.series[0].length ? this.series[0][this.series[0].length - 1][1] : NaN;
        this.now.textContent = isFinite(last) ? `${last.toFixed(last < 10 ? 1 : 0)} ${this.unit}` : '';
      }
    }
    function nice(value) {
      const power = 10 ** Math.floor(Math.log10(value));
      return [1, 2, 4, 5, 10].map(n => n * power).find(n => n >= value);
    }
    // The colours are those of the style, which follow the system's light or dark mode.
    function color(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }
    const blue = '--a', orange = '--b', green = '--c';
    const charts = {
      rate: new Chart('rate', [blue, orange, green], 'kb/s'), delay: new Chart('delay', [blue, orange], 'ms'),
      // Below 1 % losses hardly matter, and a finer scale would make a mountain of a single packet.
      loss: new Chart('loss', [blue], '%', {least: 1}), qp: new Chart('qp', [blue], '', {top: 52})};

    function connect() {
      exchanges = [];
      socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/socket${location.search}`);
      socket.binaryType = 'arraybuffer';
      socket.onopen = () => {
        figures.state = 'open';
        needsKey = true;
        veil('waiting for a key frame');
        for (let i = 0; i < 5; i++) setTimeout(() => say({type: 'clock', time: performance.now()}), i * 60);
      };
      socket.onmessage = event => {
        if (typeof event.data !== 'string') {
          return new Uint8Array(event.data)[0] === 2 ? takeSound(event.data) : takeFrame(event.data);
        }
        const message = JSON.parse(event.data);
        if (message.type === 'clock') takeClock(message);
        if (message.type === 'status') takeStatus(message);
      };
      socket.onclose = () => {
        figures.state = ended ? 'ended' : 'closed';
        if (ended) return;
        veil('no connection; trying again');
        setTimeout(connect, 2000);
      };
    }

    // A browser without full screen, such as that of an iPhone, has no button for it.
    const frame = document.querySelector('.frame');
    $('full').hidden = !document.fullscreenEnabled;
    $('full').onclick = () =>
      document.fullscreenElement ? document.exitFullscreen() : frame.requestFullscreen().catch(() => {});
    $('key').onclick = () => say({type: 'key'});
    $('lose').onchange = e => { touched.lose = performance.now(); say({type: 'lose', share: Number(e.target.value)}); };
    $('cap').onchange = e => {
      touched.cap = performance.now();
      say({type: 'cap', rate: e.target.value === '' ? null : Number(e.target.value)});
    };
    function quantile(share) {
      const sorted = figures.delays.slice().sort((a, b) => a - b);
      return sorted.length ? sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] : undefined;
    }
    setInterval(() => {
      say({type: 'clock', time: performance.now()});
      if (figures.dropped > 0) ask();
      figures.delayP50 = quantile(0.5);
      figures.delayP95 = quantile(0.95);
      say({type: 'figures', shown: figures.shown, dropped: figures.dropped, delayP50: figures.delayP50,
        delayP95: figures.delayP95});
    }, 1000);
    (function redraw() {
      for (const chart of Object.values(charts)) chart.draw();
      setTimeout(() => requestAnimationFrame(redraw), 100);
    })();

    """#
}
