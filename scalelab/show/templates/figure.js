// Moves the figure this script stands in: sliders choose a frame, and its numbers replace those on the page.
(() => {
  const figure = document.currentScript.closest(".sl-figure");
  const data = JSON.parse(figure.querySelector(".sl-data").textContent);
  const sliders = [...figure.querySelectorAll(".sl-control input")];
  const svg = figure.querySelector("svg");
  const link = figure.querySelector(".sl-link");
  const place = ([a, b, log]) => (v) => (v === null || (log && v <= 0) ? NaN : a + b * (log ? Math.log10(v) : v));
  const px = place(data.scales.x), py = place(data.scales.y);
  const array = (index) => (index < 0 ? null : data.arrays[index]);

  // The words of a series, each at its place and with its look, in place of those that stood there.
  const write = (group, part, words, place, look) => {
    svg.querySelectorAll(`[id*="${group.id}-${part}-"]`).forEach((drawn) => drawn.remove());
    words.forEach((word, i) => {
      const [x, y, own] = place(i);
      if (isNaN(x) || isNaN(y)) return;
      const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
      Object.entries({ id: `${group.id}-${part}-${i}`, x, y, ...look, ...own }).forEach(([name, value]) => text.setAttribute(name, value));
      text.textContent = word;
      group.after(text);
    });
  };
  const small = "font-size: calc(12px * var(--sl-type, 1))"; // SMALL of draw.py

  // A path through the points, lifted where a value is missing.
  const path = (xs, ys, closed, hair = 0) => {
    let pen = "M", out = "";
    xs.forEach((x, i) => {
      const X = px(x), Y = py(ys[i]);
      if (isNaN(X) || isNaN(Y)) { pen = "M"; return; }
      out += `${pen}${(X + (pen === "M" ? hair : -hair)).toFixed(1)} ${Y.toFixed(1)}`;
      pen = "L";
    });
    return out + (closed && out ? "Z" : "");
  };

  const draw = {
    line(group, x, y) { group.querySelector("path").setAttribute("d", path(x, y)); },
    band(group, x, y, low, high) {
      group.querySelector("path").setAttribute("d", path([...x, ...x.slice().reverse()], [...low, ...high.slice().reverse()], true));
    },
    points(group, x, y, low, high, bars) {
      const marks = [...group.querySelectorAll("use")];
      const home = marks[0].parentNode;
      while (marks.length < x.length) marks.push(home.appendChild(marks[0].cloneNode()));
      marks.forEach((mark, i) => {
        const X = px(x[i] ?? null), Y = py(y[i] ?? null);
        mark.style.display = isNaN(X) || isNaN(Y) ? "none" : "";
        if (mark.style.display === "") { mark.setAttribute("x", X); mark.setAttribute("y", Y); }
      });
      if (bars) bars.querySelector("path").setAttribute("d", x.map((v, i) => path([v, v], [low[i], high[i]])).join(""));
    },
  };
  draw.dashed = draw.edge = draw.line;
  // Bars end a hair (HAIR of draw.py) before their neighbours, and each carries its word.
  draw.lane = (group, x, y, low, high, bars, words) => {
    group.querySelector("path").setAttribute("d", path(x, y, false, 0.4));
    const look = { "text-anchor": "middle", dy: "0.36em", style: `fill: var(--sl-paper); ${small}` };
    write(group, "inside", words, (i) => [(px(x[3 * i]) + px(x[3 * i + 1])) / 2, py(y[3 * i])], look);
  };
  // The box of a dashed line that runs straight across or up, a little wider than it is, as in draw.py.
  const straight = (x, y) => {
    const [across, up] = [x.map(px), y.map(py)].map((ends) => [Math.min(...ends), Math.max(...ends)]);
    const thin = Math.min(across[1] - across[0], up[1] - up[0]) < 0.8;
    return thin ? [[(across[0] + across[1]) / 2, (up[0] + up[1]) / 2, (across[1] - across[0]) / 2 + 1.5, (up[1] - up[0]) / 2 + 1.5]] : [];
  };
  const meet = (a, b) => Math.abs(a[0] - b[0]) < a[2] + b[2] && Math.abs(a[1] - b[1]) < a[3] + b[3];
  const beside = [0, 12, 24].flatMap((off) => [1, -1].map((i) => [i * 4, i * (8.5 + off)])); // BESIDE of draw.py
  draw.joined = (group, x, y, low, high, bars, words, lines) => {
    draw.line(group, x, y);
    draw.points(group, x, y, low, high, bars);
    const taken = lines.slice();
    write(group, "word", words, (i) => {
      const X = px(x[i]), Y = py(y[i]), wide = 3.84 * words[i].length;
      const box = ([aside, lift]) => [X + aside + Math.sign(aside) * wide, Y - lift, wide, 5.4];
      const best = beside.find((at) => !taken.some((one) => meet(box(at), one))) ?? beside[0];
      if (words[i]) taken.push(box(best));
      return [X + best[0], Y - best[1], { "text-anchor": best[0] < 0 ? "end" : "start" }];
    }, { dy: "0.36em", style: `fill: var(--sl-ink); ${small}` });
  };
  draw.part = draw.band;

  // Where a slider begins: nearest to what the reader said of their hardware, if they did.
  const read = () => { try { return JSON.parse(localStorage.getItem("scalelab-hardware")) ?? {}; } catch { return {}; } };
  let mine = read();
  const nearest = ({ dataset }) => {
    const wanted = (dataset.follows ?? "").split(" ").map((name) => mine[name]);
    if (!wanted.every((value) => value > 0)) return;
    const far = dataset.near.split("|").map((stop) => Math.max(...stop.split(" ").map((value, i) => Math.abs(Math.log(value / wanted[i])))));
    const least = Math.min(...far);
    if (least <= Math.log(dataset.within ?? Infinity)) return String(far.indexOf(least));
  };
  const home = (slider) => nearest(slider) ?? slider.dataset.start;

  const texts = (slider) => slider.dataset.texts.split("|");
  const point = () => { link.href = `#${figure.id}?${new URLSearchParams(sliders.map((slider) => [slider.name, texts(slider)[slider.value]]))}`; };

  const legend = figure.querySelectorAll(".sl-legend > li");
  const show = () => {
    const index = sliders.reduce((at, slider, i) => at * data.shape[i] + Number(slider.value), 0);
    const [series, title, alt, readouts, columns] = data.frames[index];
    const lines = series.flatMap(([x, y], i) => (data.kinds[i] === "dashed" ? straight(array(x), array(y)) : []));
    series.forEach(([x, y, low, high, words], i) => {
      const group = svg.querySelector(`[id$="-series-${i}"]`);
      draw[data.kinds[i]](group, array(x), array(y), array(low), array(high), svg.querySelector(`[id$="-series-${i}-bars"]`), words === undefined ? [] : data.texts[words].split("|"), lines);
      if (data.kinds[i] === "part") legend[i]?.toggleAttribute("hidden", !array(y).some(Boolean));
    });
    figure.querySelector(".sl-title").textContent = data.texts[title];
    svg.setAttribute("aria-label", data.texts[alt]);
    figure.querySelectorAll(".sl-readouts dd").forEach((dd, i) => { dd.textContent = data.texts[readouts[i]]; });
    const cell = (tag, text) => Object.assign(document.createElement(tag), { textContent: data.texts[text] });
    const [first, ...rest] = columns.map((column) => data.columns[column]);
    figure.querySelector(".sl-twin tbody").replaceChildren(...first.map((name, at) => {
      const row = document.createElement("tr");
      row.append(Object.assign(cell("th", name), { scope: "row" }), ...rest.map((column) => cell("td", column[at])));
      return row;
    }));
    point();
    sliders.forEach((slider) => {
      const text = texts(slider)[slider.value];
      slider.setAttribute("aria-valuetext", text);
      slider.closest(".sl-control").querySelector("output").textContent = text;
    });
  };

  sliders.forEach((slider) => slider.addEventListener("input", show));
  figure.querySelector(".sl-reset").addEventListener("click", () => {
    sliders.forEach((slider) => { slider.value = home(slider); });
    show();
  });
  const able = sliders.filter((slider) => slider.dataset.follows);
  const root = document.documentElement.dataset.content_root; // of the book, which has a page to name one's hardware
  const said = Object.assign(document.createElement("small"), { className: "sl-mine" });
  const page = document.createElement(root ? "a" : "span");
  if (root) page.href = `${root}book/my_hardware.html`;
  const begin = () => {
    sliders.forEach((slider) => { slider.value = home(slider); }); // browsers remember positions over a reload
    const moved = able.filter(nearest);
    const names = (moved.length ? moved : able).map((slider) => slider.ariaLabel.split(",")[0]); // without the unit
    page.textContent = `${moved.length ? "your" : "My"} hardware`;
    said.replaceChildren(...(moved.length ? ["Starts nearest to ", page, `: ${names.join(", ")}.`] : [`Set the ${names.join(" and the ")} to yours: `, page, "."]));
    if (moved.length || (root && able.length)) figure.querySelector(".sl-controls").append(said); else said.remove();
  };
  begin();
  if (sliders.some((slider) => slider.value !== slider.dataset.start)) show();
  // Named in another tab, or on the page from which one comes back to this one.
  const again = () => {
    const now = read();
    if (JSON.stringify(now) === JSON.stringify(mine)) return;
    const untouched = sliders.every((slider) => slider.value === home(slider));
    mine = now;
    if (untouched) { begin(); show(); }
  };
  ["storage", "pageshow"].forEach((news) => window.addEventListener(news, again));
  point();

  // An address that ends in #fig-pool?servers=4&utilization=0.9 shows the figure of that name with its sliders there.
  const visit = () => {
    const [name, view] = location.hash.slice(1).split("?"), asked = new URLSearchParams(view);
    if (name !== figure.id) return;
    sliders.forEach((slider) => {
      const stop = texts(slider).indexOf(asked.get(slider.name));
      if (stop >= 0) slider.value = stop;
    });
    show();
    figure.scrollIntoView();
  };
  window.addEventListener("hashchange", visit);
  window.addEventListener("load", visit);
  figure.classList.add("sl-alive");
})();
