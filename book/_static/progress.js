// How far one is: a line at the top of the page, and in the list of pages how far each chapter has been read. That is
// kept in this browser, as guesses and the device are. What one only jumped to is not read: it must go on from what was.
// Contents that are longer than the window keep the line in view that the theme marks.
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
  const follow = () => {
    const marked = contents.querySelector("[aria-current]")?.getBoundingClientRect(), room = frame.getBoundingClientRect();
    if (marked && (marked.top < room.top || marked.bottom > room.bottom)) frame.scrollTop += marked.top - room.top - room.height / 2;
  };
  if (frame) new MutationObserver(follow).observe(contents, { subtree: true, attributeFilter: ["aria-current"] });
  if (read) offer();
  look();
  addEventListener("scroll", look, { passive: true });
})();
