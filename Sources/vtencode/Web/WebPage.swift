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
    <main>
      <section class="stage">
        <div class="frame"><canvas id="picture" width="640" height="360" aria-label="The picture"></canvas>
          <p id="veil" role="status">connecting…</p></div>
        <div class="controls">
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
      <section class="charts">
        <figure><figcaption>Rate, kb/s <b class="a">all</b> <b class="b">repair</b> <b class="c">cap</b>
          <output id="rate-now"></output></figcaption><canvas id="rate"></canvas></figure>
        <figure><figcaption>Delay, ms <b class="a">capture to canvas</b> <b class="b">to decoded</b>
          <output id="delay-now"></output></figcaption><canvas id="delay"></canvas></figure>
        <figure><figcaption>Loss, % <b class="a">packets</b> <output id="loss-now"></output></figcaption>
          <canvas id="loss"></canvas></figure>
        <figure><figcaption>QP <b class="a">of each frame</b> <output id="qp-now"></output></figcaption>
          <canvas id="qp"></canvas></figure>
      </section>
    </main>
    <script nonce="\(nonce)">\(script)</script>
    </body>
    </html>

    """
  }

  private static let style = """

    :root { color-scheme: dark; --a: #6cb6ff; --b: #f0a35e; --c: #8ddb8c; --dim: #9aa4b2; }
    * { box-sizing: border-box; }
    body { margin: 0; background: #14171c; color: #e6e9ee; font: 14px/1.4 system-ui, sans-serif; }
    main { display: flex; flex-wrap: wrap; gap: 16px; padding: 16px; align-items: flex-start; }
    .stage { flex: 3 1 480px; min-width: 0; }
    .charts { flex: 1 1 320px; display: grid; gap: 12px; min-width: 0; }
    .frame { position: relative; background: #000; line-height: 0; }
    #picture { width: 100%; height: auto; display: block; }
    #veil { position: absolute; inset: 0; margin: 0; display: flex; align-items: center; justify-content: center;
      padding: 24px; background: #000c; font-size: 18px; line-height: 1.4; text-align: center; }
    #veil[hidden] { display: none; }
    .controls { display: flex; flex-wrap: wrap; gap: 16px; padding: 12px 0; align-items: center; }
    button, select { font: inherit; color: inherit; background: #262c36; border: 1px solid #454f5e; border-radius: 6px;
      padding: 6px 10px; }
    button:hover, select:hover { border-color: var(--a); }
    :focus-visible { outline: 2px solid var(--a); outline-offset: 2px; }
    #line { margin: 0; color: var(--dim); font-variant-numeric: tabular-nums; }
    figure { margin: 0; background: #1b2027; border: 1px solid #2d343f; border-radius: 6px; padding: 8px; }
    figcaption { display: flex; gap: 8px; font-size: 12px; color: var(--dim); }
    figcaption b { font-weight: 400; }
    .a { color: var(--a); } .b { color: var(--b); } .c { color: var(--c); }
    output { margin-left: auto; color: #e6e9ee; font-variant-numeric: tabular-nums; }
    figure canvas { width: 100%; height: 110px; display: block; }

    """
}
