// SPDX-License-Identifier: Apache-2.0

/// The page that `--web` serves. It is part of the executable and loads nothing from elsewhere.
enum WebPage {
  /// The page's HTML.
  /// - Parameter nonce: the value by which the content security policy allows the script and the
  ///   style.
  static func text(nonce: String) -> String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>vtencode, live</title>
    <style nonce="\(nonce)">\(style)</style>
    </head>
    <body>
    <header><h1>Live from vtencode</h1></header>
    <main>
      <section class="stage" aria-label="Picture">
        <div class="frame"><canvas id="picture" width="640" height="360" aria-label="The picture"></canvas>
          <video id="video" muted autoplay playsinline hidden aria-label="The picture"></video>
          <p id="veil" role="status">connecting…</p></div>
        <div class="controls">
          <button id="full" type="button">Full screen</button>
          <button id="sound" type="button" hidden>Play the audio</button>
          <button id="key" type="button">Ask for a key frame</button>
          <label>Lose packets
            <select id="lose"><option value="0">none</option><option value="0.01">1 %</option>
              <option value="0.02">2 %</option><option value="0.05">5 %</option><option value="0.1">10 %</option>
              <option value="0.2">20 %</option><option value="0.5">50 %</option></select></label>
          <label>Cap the rate
            <select id="cap"><option value="">no cap</option><option value="2000000">2,000 kb/s</option>
              <option value="1000000">1,000 kb/s</option><option value="500000">500 kb/s</option>
              <option value="300000">300 kb/s</option><option value="150000">150 kb/s</option>
              <option value="80000">80 kb/s</option></select></label>
        </div>
        <p id="line"></p>
      </section>
      <section class="charts" aria-label="Charts">
        <figure><figcaption>Rate, kb/s <b class="a">all</b> <b class="b">repair</b> <b class="c">cap</b>
          <output id="rate-now"></output></figcaption><canvas id="rate"></canvas></figure>
        <figure><figcaption>Delay, ms <b class="a">capture to canvas</b> <b class="b">to decoded</b>
          <output id="delay-now"></output></figcaption><canvas id="delay"></canvas></figure>
        <figure><figcaption>Loss, % <b class="a">packets</b> <output id="loss-now"></output></figcaption>
          <canvas id="loss"></canvas></figure>
        <figure><figcaption>QP <b class="a">of each frame</b> <output id="qp-now"></output></figcaption>
          <canvas id="qp"></canvas>
          <p class="note">The quantization parameter, from 0 to 51: how coarsely the encoder rounds. Above about 35
            blocks and smears become visible; 6 more halve the precision.</p></figure>
      </section>
    </main>
    <script nonce="\(nonce)">\(script)\(audioScript)\(peerScript)</script>
    </body>
    </html>

    """
  }

  private static let style = """

    :root { color-scheme: light dark; --a: #0a62b8; --b: #a4510a; --c: #22702a; --dim: #5a6472;
      --page: #f4f6f9; --ink: #1a1f26; --card: #fff; --edge: #d3d9e2; --button: #e6eaf0; }
    @media (prefers-color-scheme: dark) {
      :root { --a: #6cb6ff; --b: #f0a35e; --c: #8ddb8c; --dim: #9aa4b2;
        --page: #14171c; --ink: #e6e9ee; --card: #1b2027; --edge: #2d343f; --button: #262c36; }
    }
    * { box-sizing: border-box; }
    body { margin: 0; background: var(--page); color: var(--ink); font: 14px/1.4 system-ui, sans-serif; }
    header { padding: 12px 16px 0; }
    h1 { margin: 0; font-size: 18px; font-weight: 600; }
    main { display: flex; flex-wrap: wrap; gap: 16px; padding: 16px; align-items: flex-start; }
    .stage { flex: 3 1 480px; min-width: 0; }
    .charts { flex: 1 1 320px; display: grid; gap: 12px; min-width: 0; }
    .frame { position: relative; background: #000; line-height: 0; }
    #picture, #video { width: 100%; height: auto; display: block; }
    #picture[hidden], #video[hidden], .controls[hidden], .charts[hidden],
    #sound[hidden] { display: none; }
    #veil { position: absolute; inset: 0; margin: 0; display: flex; align-items: center; justify-content: center;
      padding: 24px; background: #000c; font-size: 18px; line-height: 1.4; text-align: center;
      color: #e6e9ee; }
    #veil[hidden] { display: none; }
    .controls { display: flex; flex-wrap: wrap; gap: 16px; padding: 12px 0; align-items: center; }
    button, select { font: inherit; color: inherit; background: var(--button); border: 1px solid var(--edge); border-radius: 6px;
      padding: 6px 10px; }
    button:hover, select:hover { border-color: var(--a); }
    :focus-visible { outline: 2px solid var(--a); outline-offset: 2px; }
    #line { margin: 0; color: var(--dim); font-variant-numeric: tabular-nums; }
    figure { margin: 0; background: var(--card); border: 1px solid var(--edge); border-radius: 6px; padding: 8px; }
    figcaption { display: flex; gap: 8px; font-size: 12px; color: var(--dim); }
    figcaption b { font-weight: 400; }
    .a { color: var(--a); } .b { color: var(--b); } .c { color: var(--c); }
    output { margin-left: auto; color: var(--ink); font-variant-numeric: tabular-nums; }
    .note { margin: 4px 0 0; font-size: 12px; color: var(--dim); }
    .frame:fullscreen { display: flex; align-items: center; justify-content: center; }
    .frame:fullscreen #picture, .frame:fullscreen #video { width: auto; max-width: 100%; max-height: 100%; }
    figure canvas { width: 100%; height: 110px; display: block; }

    """
}
