// Plays the drawing this script stands in: each step puts every thing where it is then.
(() => {
  const figure = document.currentScript.closest(".sl-figure");
  const data = JSON.parse(figure.querySelector(".sl-data").textContent);
  const find = (selector) => figure.querySelector(selector);
  const root = find(".sl-stepper"), svg = find(".sl-stage svg"), caption = find(".sl-caption"), link = find(".sl-link");
  const things = [...svg.children], which = find(".sl-which"), slider = find(".sl-steps input"), play = find(".sl-play");
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const PAUSE = 1900, MOVE = 700; // milliseconds from step to step when it plays, and of what moves meanwhile
  let drawing = data.drawings[0], step = 0, fresh = true, playing, landing;

  // What there is at a step: all that changed up to it. Where things came from counts at that step alone.
  const stateAt = (end) => {
    const found = new Map();
    drawing.frames.slice(0, end + 1).forEach(([, , changes], at) => changes.forEach(([thing, ...state]) => {
      if (state.length) found.set(thing, at === end ? state : state.slice(0, 4)); else found.delete(thing);
    }));
    return found;
  };
  const share = (x, unit = "%") => `${(100 * x / data.wide).toFixed(2)}${unit}`;
  const put = (thing, x, y) => { thing.style.transform = `translate(${share(x)},${y}px)`; };
  const write = (thing, tone, said) => {
    thing.style.color = `var(--sl-tone-${tone})`;
    const path = thing.querySelector("path"), text = thing.querySelector("text"), rect = thing.querySelector("rect");
    if (thing.classList.contains("sl-block")) {
      const [word, width, height] = said;
      Object.assign(rect.style, { x: share(-width / 2), y: `${-height / 2}px`, width: share(width), height: `${height}px` });
      text.textContent = data.texts[word];
      thing.style.setProperty("--wide", share(width, "cqw"));
      thing.style.setProperty("--letters", text.textContent.length);
    } else if (thing.matches(".sl-line, .sl-arrow")) thing.style.strokeWidth = `${said}px`;
    else if (path) path.setAttribute("d", data.texts[said]);
    else if (text) text.textContent = data.texts[said];
  };

  const show = (to, moves = false) => {
    step = Math.min(Math.max(to, 0), drawing.frames.length - 1);
    moves = moves && !still.matches;
    fresh = false;
    clearTimeout(landing);
    const state = stateAt(step), later = [];
    root.classList.remove("sl-moves");
    things.forEach((thing, number) => {
      const [x, y, tone, said, fromX, fromY] = state.get(number) ?? [];
      thing.classList.toggle("sl-gone", x === undefined);
      if (x === undefined) return;
      if (moves && fromX !== undefined) put(thing, fromX, fromY);
      else if (!moves) put(thing, x, y);
      // A part changes when the message has come, not when it leaves.
      if (moves && thing.classList.contains("sl-bar")) later.push(() => write(thing, tone, said));
      else write(thing, tone, said);
    });
    if (moves) {
      svg.getBoundingClientRect(); // so that what follows is seen as a move
      root.classList.add("sl-moves");
      state.forEach(([x, y], number) => put(things[number], x, y));
      landing = setTimeout(() => later.forEach((one) => one()), MOVE);
    }
    const [words, facts] = drawing.frames[step];
    caption.firstChild.textContent = words;
    svg.setAttribute("aria-label", `${drawing.about} ${words}`);
    find(".sl-title").textContent = drawing.title;
    figure.querySelectorAll(".sl-readouts dd").forEach((dd, i) => { dd.firstChild.textContent = facts[i]; });
    slider.max = drawing.frames.length - 1;
    slider.value = step;
    slider.setAttribute("aria-valuetext", `${step} of ${slider.max}`);
    find(".sl-back").disabled = step === 0;
    find(".sl-step").disabled = step === drawing.frames.length - 1;
    link.href = `#${figure.id}?${new URLSearchParams({ ...(which && { show: drawing.name }), step })}`;
  };

  const stop = () => {
    clearInterval(playing);
    playing = undefined;
    play.textContent = "Play";
    caption.setAttribute("aria-live", "polite");
  };
  const next = () => {
    show(step + 1, true);
    if (step === drawing.frames.length - 1) stop();
  };
  const toggle = () => {
    if (playing) { stop(); return; }
    play.textContent = "Pause";
    caption.setAttribute("aria-live", "off"); // nobody can listen so fast
    playing = setInterval(() => (figure.isConnected ? next() : stop()), PAUSE);
    if (fresh || step === drawing.frames.length - 1) show(0); else next();
  };
  const by = (way) => { stop(); show(step + way, way > 0); };
  const choose = (number) => {
    drawing = data.drawings[number];
    if (which) which.value = number;
    show(drawing.opening);
    fresh = true; // it plays from its beginning
  };

  play.addEventListener("click", toggle);
  find(".sl-back").addEventListener("click", () => by(-1));
  find(".sl-step").addEventListener("click", () => by(1));
  slider.addEventListener("input", () => { stop(); show(Number(slider.value)); });
  which?.addEventListener("change", () => { stop(); choose(which.value); });

  // The slider knows the arrows, and a button the space bar; each learns the other.
  figure.addEventListener("keydown", (event) => {
    const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.target.closest(".sl-buttons") && way) by(way);
    else if (event.target === slider && event.key === " ") toggle();
    else return;
    event.preventDefault();
  });

  // A finger that wipes the picture aside goes on, or back.
  let touched;
  find(".sl-stage").addEventListener("pointerdown", (event) => { touched = event.pointerType === "mouse" ? undefined : event.clientX; });
  find(".sl-stage").addEventListener("pointerup", (event) => {
    if (touched !== undefined && Math.abs(event.clientX - touched) > 30) by(event.clientX < touched ? 1 : -1);
    touched = undefined;
  });

  // An address that ends in #fig-algorithm?show=ring&step=4 shows the drawing of that name at that step.
  const visit = () => {
    const [name, view] = location.hash.slice(1).split("?"), asked = new URLSearchParams(view);
    if (name !== figure.id) return;
    const found = data.drawings.findIndex((one) => one.name === asked.get("show")), to = asked.get("step");
    if (found >= 0 || /^\d+$/.test(to)) stop();
    if (found >= 0) choose(found);
    if (/^\d+$/.test(to)) show(Number(to));
    figure.scrollIntoView();
  };
  addEventListener("hashchange", visit);
  addEventListener("load", visit);
  choose(0); // browsers remember a choice over a reload
  root.classList.add("sl-plays");
})();
