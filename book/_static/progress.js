// How far one is: a line at the top of the page, and in the list of pages how far each chapter has been read. That is
// kept in this browser, as guesses and the device are. What one only jumped to is not read: it must go on from what was.
// Contents mark the section that one is in, however one came there, and keep its line in view where they are longer
// than the window.
(() => {
  const KEY = "scalelab-read", DONE = 0.97;
  const root = new URL(document.documentElement.dataset.content_root, location).pathname;
  const chapter = (address) => /^chapters\/\w+(?=\.html$)/.exec(new URL(address).pathname.slice(root.length))?.[0];
  const shelf = () => { try { return JSON.parse(localStorage.getItem(KEY)) ?? {}; } catch { return {}; } };
  const known = (page) => { const share = Number(shelf()[page]); return share > 0 && share <= 1 ? share : 0; };
  const links = [...document.querySelectorAll(".bd-sidebar-primary a[href]")].map((link) => [link, chapter(link.href)]).filter(([, page]) => page);
  const mark = (page, share) => links.filter(([, one]) => one === page).forEach(([link]) => {
    link.style.setProperty("--read", share);
    link.title = share ? `${Math.round(100 * share)}% read` : "";
  });
  links.forEach(([, page]) => mark(page, known(page)));

  const mine = document.querySelector(".book-mine");
  const usual = mine?.textContent;
  const name = () => { try { mine.textContent = JSON.parse(localStorage.getItem("scalelab-hardware"))?.device ?? usual; } catch { /* nothing is kept */ } };
  if (mine) {
    name();
    ["storage", "pageshow"].forEach((news) => addEventListener(news, name)); // as figures do
  }

  const here = chapter(location.href), sheet = document.scrollingElement;
  let read = here ? known(here) : 0;
  const offer = () => {
    const line = document.querySelector(".book-time");
    const sections = [...document.querySelectorAll("article section[id]:has(> h2)")];
    const section = sections.findLast((one) => one.getBoundingClientRect().top + scrollY <= read * sheet.scrollHeight);
    if (!section || read >= DONE) return;
    const title = section.querySelector("h2").textContent.replace(/( ·\s\w+)?#?$/, "");
    line.append(". ", Object.assign(document.createElement("a"), { href: `#${section.id}`, textContent: `Go on with ${title}` }));
  };
  // Its own style and no property of the page, which would be styled anew at each move.
  const line = document.body.appendChild(Object.assign(document.createElement("div"), { className: "book-far" }));
  const look = () => {
    const high = sheet.scrollHeight;
    line.style.transform = `scaleX(${Math.min(1, scrollY / Math.max(1, high - innerHeight))})`;
    const end = (scrollY + innerHeight) / high;
    if (!here || scrollY < 1 || end <= read || scrollY > read * high + innerHeight) return;
    read = end >= DONE ? 1 : Number(end.toFixed(3));
    mark(here, read);
    try { localStorage.setItem(KEY, JSON.stringify({ ...shelf(), [here]: read })); } catch { /* then this page knows it, and no other */ }
  };
  const contents = document.getElementById("pst-page-toc-nav"), frame = contents?.closest(".bd-sidebar-secondary");
  const sections = [...(contents?.querySelectorAll('a[href^="#"]') ?? [])].map((link) => [link, document.getElementById(decodeURIComponent(link.hash.slice(1)))]);
  // The theme marks a heading that comes into view, and none that was jumped over. Short sections at the end never come
  // to the top, so in the last screen the place that one reads at moves down.
  const place = () => {
    const range = sheet.scrollHeight - innerHeight, last = Math.min(innerHeight, range);
    const eye = innerHeight * (0.3 + 0.7 * Math.max(0, 1 - (range - scrollY) / last));
    const [here] = sections.findLast(([, section]) => section?.getBoundingClientRect().top <= eye) ?? [null];
    if (here === contents.querySelector("[aria-current]")) return;
    sections.forEach(([link]) => { link.classList.toggle("active", link === here); link === here ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current"); });
    contents.querySelectorAll(".toc-entry").forEach((entry) => entry.classList.toggle("active", entry.contains(here)));
  };
  const follow = () => {
    const marked = contents.querySelector("[aria-current]")?.getBoundingClientRect(), room = frame.getBoundingClientRect();
    if (marked && (marked.top < room.top || marked.bottom > room.bottom)) frame.scrollTop += marked.top - room.top - room.height / 2;
  };
  let asked = location.hash ? performance.now() : -Infinity; // who asked for a section is told of that one, until the page moves again
  if (frame) {
    new MutationObserver(follow).observe(contents, { subtree: true, attributeFilter: ["aria-current"] });
    ["hashchange", "click"].forEach((news) => addEventListener(news, ({ type, target }) => { if (type === "hashchange" || target.closest?.('a[href^="#"]')) asked = performance.now(); }));
    addEventListener("scroll", () => { if (performance.now() - asked > 1000) requestAnimationFrame(() => setTimeout(place)); }, { passive: true }); // after the theme's mark
  }
  if (read) offer();
  look();
  addEventListener("scroll", look, { passive: true });
})();
