// Brings the page of public series to life: a filter whose choice stays in the address, lines that say whose they
// are, and cards that show which line is theirs. Without it everything is shown.
(() => {
  const gallery = document.querySelector(".sl-gallery");
  if (!gallery) return;
  const form = gallery.querySelector(".sl-filter");
  const said = form.querySelector("output");
  const named = gallery.querySelector(".sl-named");
  const picture = gallery.querySelector(".sl-overlay svg");
  const find = form.elements.find;
  const boxes = [...form.elements.kind];
  const NEAR = 14; // pixels from a line within which it is meant

  const cards = [...gallery.querySelectorAll(".sl-cards > li")].map((card) => {
    const system = card.querySelector(".sl-system").textContent;
    return { card, system, words: `${card.id} ${card.dataset.program} ${system}`.toLowerCase() };
  });
  const lines = new Map();
  picture.querySelectorAll("polyline").forEach((line) => {
    const title = line.querySelector("title"); // without a script the browser shows it
    const points = line.getAttribute("points").split(" ").map((point) => point.split(",").map(Number));
    lines.set(title.textContent, { line, points });
    title.remove();
  });

  // Which line is meant
  let lit = null;
  // The name of a card's line stands right of its end, or where that leaves no room in a corner away from it.
  const beside = (x, y) => (x < 0.5 ? [x, Math.max(0, y)] : [1, y < 0.5 ? 1 : 0]);
  const dim = (name) => lines.get(name).line.classList.contains("sl-dim");
  const light = (name, at) => {
    if (lit) lines.get(lit).line.classList.remove("sl-lit");
    lit = lines.has(name) && !dim(name) ? name : null;
    named.hidden = !lit;
    if (!lit) return;
    const { line, points } = lines.get(lit);
    line.classList.add("sl-lit");
    line.parentNode.append(line); // over the others
    const { card, system } = cards.find((one) => one.card.id === lit);
    named.className = `sl-named sl-is-${card.dataset.kind}`;
    named.firstElementChild.textContent = lit;
    named.lastElementChild.textContent = system;
    const { width, height } = picture.viewBox.baseVal;
    const [x, y] = at ?? beside(points.at(-1)[0] / width, points.at(-1)[1] / height);
    // Towards the middle of the picture, and never beyond its sides.
    const beyond = (share, room, own) => Math.min(Math.max(share < 0.5 ? share * room + 13 : share * room - own - 13, 0), room - own);
    named.style.left = `${beyond(x, picture.clientWidth, named.offsetWidth)}px`;
    named.style.top = `${beyond(y, picture.clientHeight, named.offsetHeight)}px`;
  };

  const away = ([px, py], [ax, ay], [bx, by]) => {
    const [dx, dy] = [bx - ax, by - ay];
    const share = Math.min(1, Math.max(0, ((px - ax) * dx + (py - ay) * dy) / (dx * dx + dy * dy || 1)));
    return Math.hypot(px - ax - share * dx, py - ay - share * dy);
  };
  const nearest = (event) => {
    const box = picture.getBoundingClientRect();
    const { width, height } = picture.viewBox.baseVal;
    const pointer = [event.clientX - box.left, event.clientY - box.top];
    const shown = ([x, y]) => [x / width * box.width, y / height * box.height];
    let [best, least] = [null, NEAR];
    lines.forEach(({ points }, name) => {
      if (dim(name)) return;
      const drawn = points.map(shown);
      drawn.slice(1).forEach((point, before) => {
        const far = away(pointer, drawn[before], point);
        if (far < least) [best, least] = [name, far];
      });
    });
    return [best, [pointer[0] / box.width, pointer[1] / box.height]];
  };
  const hovers = (event) => event.pointerType !== "touch";
  picture.addEventListener("pointermove", (event) => { if (hovers(event)) light(...nearest(event)); });
  picture.addEventListener("pointerleave", (event) => { if (hovers(event)) light(null); });
  picture.addEventListener("click", (event) => {
    const [name, at] = nearest(event);
    const first = !hovers(event) && name !== lit; // a finger cannot hover: it asks, then goes
    if (first || !name) light(name, at); else location.hash = name;
  });

  addEventListener("pointerdown", (event) => { if (!hovers(event) && event.target !== picture) light(null); });

  const list = gallery.querySelector(".sl-cards");
  const of = (event) => event.target.closest?.(".sl-cards > li")?.id;
  list.addEventListener("pointerover", (event) => light(of(event)));
  list.addEventListener("pointerleave", () => light(of({ target: document.activeElement })));
  list.addEventListener("focusin", (event) => light(of(event)));
  list.addEventListener("focusout", () => light(null));

  // Which series are shown
  const checked = () => boxes.filter((box) => box.checked).map((box) => box.value);
  const apply = () => {
    const kinds = checked();
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    cards.forEach((one) => {
      const shown = kinds.includes(one.card.dataset.kind) && words.every((word) => one.words.includes(word));
      one.card.hidden = !shown;
      lines.get(one.card.id)?.line.classList.toggle("sl-dim", !shown);
      count += shown;
    });
    said.textContent = `${count} of ${cards.length} shown`;
    light(null);
  };
  const showAll = () => {
    boxes.forEach((box) => { box.checked = true; });
    find.value = "";
  };

  // The choice stands in the address: `#show=strong,load&find=sysbench`
  const chosen = () => {
    const asked = new URLSearchParams(location.hash.slice(1));
    return asked.has("show") || asked.has("find") ? asked : null;
  };
  const keep = () => {
    const kinds = checked();
    const asked = new URLSearchParams();
    if (kinds.length < boxes.length) asked.set("show", kinds.join());
    if (find.value.trim()) asked.set("find", find.value.trim());
    const fragment = String(asked).replaceAll("%2C", ",");
    if (fragment || chosen()) history.replaceState(history.state, "", fragment ? `#${fragment}` : location.href.split("#")[0]);
  };
  let soon = 0; // some browsers refuse an address that changes with every letter
  const change = () => {
    apply();
    clearTimeout(soon);
    soon = setTimeout(keep, 200);
  };
  const restore = () => {
    const asked = chosen();
    showAll();
    if (asked?.has("show")) {
      const kinds = asked.get("show").split(",");
      boxes.forEach((box) => { box.checked = kinds.includes(box.value); });
    }
    find.value = asked?.get("find") ?? "";
    apply();
  };

  form.addEventListener("input", change);
  form.addEventListener("reset", (event) => { event.preventDefault(); showAll(); change(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", () => {
    clearTimeout(soon);
    const card = cards.find((one) => one.card.id === location.hash.slice(1))?.card;
    if (chosen() || !location.hash || card?.hidden) restore();
    card?.scrollIntoView();
  });
  form.hidden = false;
  restore();
})();
