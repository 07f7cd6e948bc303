// Binds built pages into a book on paper: a cover, contents and running heads.
async ({ title, subtitle, author, year, looks, picture, parts }) => {
  const make = (tag, name, text = "") => Object.assign(document.createElement(tag), { className: name, textContent: text });
  const words = (heading) => heading.textContent.replace(/[#¶]\s*$/, "").trim();
  const marked = (element, name) => { const mark = make("span", ""); mark.id = name; element.prepend(mark); return name; };
  const leaf = (to) => { const link = Object.assign(make("a", ""), { href: `#${to}` }); link.append(make("span", "print-page", "000")); return link; };

  // The room that a table needs, in mm, whose letters are so wide: no cell takes two lines, though a heading may.
  const longest = (lines) => Math.max(...lines.map((line) => line.length));
  const wide = (table, letter, apart) => [...table.rows[0].cells].reduce((sum, head, turn) => sum + apart + letter * Math.max(longest(words(head).split(/\s/)), ...[...table.tBodies[0].rows].map((row) => words(row.cells[turn]).length)), 0);

  // What is drawn of words alone, a schedule of tasks, is a wall of them in a table.
  const wordy = (table) => ![...table.tBodies[0].querySelectorAll("td")].some((cell) => /^[−-]?\d[\d.,]*(\s|$)/.test(words(cell)));

  // The room that the code of a cell needs, in mm, where the one table that it prints fits beside it.
  const beside = (cell) => {
    const [code, tables] = [cell.querySelector(":scope > .cell_input pre"), cell.querySelectorAll(".sl-block table")];
    if (!code || tables.length !== 1 || cell.querySelectorAll(":scope > .cell_output > .output").length !== 1) return null;
    const room = 1.52 * longest(code.textContent.split("\n")) + 8, left = 178 - 6 - room;
    return wide(tables[0], 1.6, 3) <= left && left > 40 ? room : null;
  };

  // Each page takes its names along under one of its own, or ten summaries were one.
  const turns = new Map(parts.flatMap(({ pages }) => pages).map(({ address }, turn) => [new URL(address).pathname, `p${turn}`]));
  const sheets = new Set();
  const opened = ({ name, address, html }) => {
    const built = new DOMParser().parseFromString(html, "text/html");
    built.querySelectorAll('link[rel="stylesheet"]').forEach((one) => sheets.add(new URL(one.getAttribute("href"), address).href));
    const page = make("section", "print-part");
    page.id = turns.get(new URL(address).pathname);
    page.dataset.name = name;
    page.append(...built.querySelector("article").childNodes);
    page.querySelectorAll("script, .headerlink, .sl-controls, .sl-player").forEach((one) => one.remove());
    page.querySelectorAll("[id]").forEach((one) => { if (!one.closest("svg")) one.id = `${page.id}-${one.id}`; });
    page.querySelectorAll("[aria-labelledby]").forEach((one) => one.removeAttribute("aria-labelledby"));
    page.querySelectorAll("a[href]").forEach((link) => {
      const to = new URL(link.getAttribute("href"), address);
      if (to.protocol !== "file:") return;
      const there = turns.get(to.pathname);
      if (there) link.href = `#${there}${to.hash ? `-${decodeURIComponent(to.hash.slice(1))}` : ""}`;
      else link.removeAttribute("href"); // what is not in the book
    });
    page.querySelectorAll("div.cell:has(> .cell_output .sl-block)").forEach((cell) => {
      const room = beside(cell);
      if (!room) return;
      cell.classList.add("print-beside");
      cell.style.gridTemplateColumns = `${room.toFixed(0)}mm 1fr`;
    });
    // A page in a frame would end where its frame does: it is set into this one, under a root that keeps its looks apart.
    page.querySelectorAll("iframe[srcdoc]").forEach((frame) => {
      const held = new DOMParser().parseFromString(frame.srcdoc, "text/html"), set = make("div", "print-framed");
      held.querySelectorAll("script, .sl-twin").forEach((one) => one.remove());
      held.querySelectorAll("h1, h2").forEach((one) => { one.role = "none"; }); // or they were bookmarks of the book
      held.querySelectorAll("style").forEach((one) => { one.textContent = one.textContent.replaceAll(":root", ":host"); });
      set.attachShadow({ mode: "open" }).append(...held.querySelectorAll("style, main"));
      frame.replaceWith(set);
    });
    page.querySelectorAll("details").forEach((fold) => { fold.open = true; });
    // A bookmark has no letters of a formula, so those of a heading are set as text where text can say them.
    page.querySelectorAll(":is(h1, h2, h3) .math").forEach((one) => {
      const said = one.textContent.replace(/^\\\(|\\\)$/g, "").replace(/\\alpha\b/g, "α").replace(/\\log\b/g, "log");
      if (!/[\\_^{]/.test(said)) one.replaceWith(said);
    });
    return page;
  };
  const article = make("article", "bd-article"), bound = parts.map((part) => ({ caption: part.caption, pages: part.pages.map(opened) }));
  article.append(...bound.flatMap(({ pages }) => pages));

  // The numbers of figures stand at the end, small and in columns, where they take a dozen leaves and tear no text
  // apart. The words of all steps of the drawings would be as thick as a chapter, and stay on the page.
  const appendix = make("section", "print-part"), numbers = make("section", "");
  appendix.id = `p${turns.size}`;
  appendix.dataset.name = "numbers";
  appendix.append(numbers);
  numbers.append(make("h1", "", "The numbers of the figures"), make("p", "", "What each figure is drawn from, by the section and the number under which it stands; of one with sliders, the position where it starts."));
  bound.flatMap(({ pages }) => pages).forEach((page) => {
    const head = words(page.querySelector("h1")), section = head.replace(/^([\d.]+) .*/, "$1"), blocks = [];
    page.querySelectorAll(".sl-figure").forEach((figure, turn) => {
      const fold = figure.querySelector(".sl-twin"), note = make("p", "print-note");
      if (!fold) return;
      const table = fold.querySelector("table");
      fold.replaceWith(note);
      if (figure.querySelector(".sl-stepper")) note.textContent = "Its steps, one by one: on the page and in the notebook.";
      else if (wordy(table)) note.textContent = "Its numbers: on the page and in the notebook.";
      else {
        const name = `${page.id}-numbers-${turn}`;
        const kind = wide(table, 1.35, 2.6) > 85 ? "wide" : "narrow", block = make("div", `print-numbers print-${kind}`);
        block.append(make("p", "", `${section}, Figure ${turn + 1}. ${words(figure.querySelector(".sl-title"))}`), table);
        marked(block, name);
        blocks.push(block);
        note.append("Its numbers: page ", leaf(name));
      }
    });
    if (!blocks.length) return;
    // Narrow ones stand in two columns. Those between two wide ones have columns of their own, which go to the next
    // page together with their first table where that has no room; columns that go on beyond a wide one tear it.
    const runs = [make("div", "print-run")];
    blocks.forEach((block) => {
      if (block.classList.contains("print-wide")) runs.push(block, make("div", "print-run"));
      else runs.at(-1).append(block);
    });
    numbers.append(make("h2", "", head.replace(/^([\d.]+) .*/, "Section $1")), ...runs.filter((run) => run.hasChildNodes()));
  });
  if (numbers.querySelector("table")) {
    article.append(appendix);
    bound.push({ caption: "Appendix", pages: [appendix] });
  }

  // Paper leads nowhere: what links outside lead to stands at the end, but for what the bibliography has.
  const typed = (link) => link.href.replace(/^https?:\/\/(www\.)?|\/$/g, "");
  const outside = [...article.querySelectorAll('a[href^="http"]')].filter((link) => !words(link).includes(typed(link)));
  const listed = new Set([...article.querySelectorAll('[data-name="book/bibliography"] a[href^="http"]')].map((link) => link.href));
  const addresses = make("section", "print-part"), lists = make("section", "");
  addresses.id = `p${turns.size + 1}`;
  addresses.dataset.name = "addresses";
  addresses.append(lists);
  lists.append(make("h1", "", "Where links lead"), make("p", "", "By section, the words that are a link on the screen, and its address; works that a section names by author and year are in the bibliography."));
  bound.flatMap(({ pages }) => pages).forEach((page) => {
    const seen = new Map(outside.filter((link) => page.contains(link) && !listed.has(link.href)).map((link) => [typed(link), words(link)]));
    if (!seen.size) return;
    lists.append(make("h2", "", words(page.querySelector("h1")).replace(/^([\d.]+) .*/, "Section $1")));
    seen.forEach((said, address) => {
      const entry = make("p", "print-address", `${said}: `);
      entry.append(make("span", "", address));
      lists.append(entry);
    });
  });
  if (lists.querySelector("h2")) {
    article.append(addresses);
    if (bound.at(-1).caption === "Appendix") bound.at(-1).pages.push(addresses);
    else bound.push({ caption: "Appendix", pages: [addresses] });
  }

  const heads = [], contents = make("nav", "print-contents"), list = make("div", "print-columns");
  contents.append(make("p", "print-head", "Contents"), list);
  const line = (heading, name, id) => {
    const entry = make("p", name), to = marked(heading, id);
    entry.append(Object.assign(make("a", "", words(heading).replace(/ · \w+$/, "")), { href: `#${to}` }), make("span", "print-dots"), leaf(to));
    return entry;
  };
  bound.forEach(({ caption, pages }) => {
    if (caption) list.append(make("p", "print-caption", caption));
    pages.forEach((page) => {
      const heading = page.querySelector("h1"), name = page.id;
      page.style.page = `part-${name}`;
      heads.push(`@page part-${name} { @top-left { content: ${JSON.stringify(words(heading))}; } }`);
      list.append(line(heading, "print-line", `${name}-head`));
      // Of what is looked up by name the title is enough.
      if (/^\d/.test(words(heading))) page.querySelectorAll(":scope > section > section > h2").forEach((one, turn) => list.append(line(one, "print-below", `${name}-head-${turn}`)));
    });
  });
  const about = make("p", "print-about", "On paper, figures stand still where their sliders start, and their numbers are at the end. Code that only imports or only draws is left out; every chapter is a page in a browser and a notebook too, which have it. A number with a stamp says where it was measured.");
  contents.append(about);
  const cover = make("section", "print-cover"), drawn = make("figure", "print-picture");
  drawn.innerHTML = picture;
  drawn.append(make("figcaption", "", "How many times faster a job runs on 1 to 1,024 workers, by the share of it that divides (section 3.5)"));
  cover.append(make("p", "print-title", title), make("p", "print-subtitle", subtitle), drawn, make("p", "print-author", `${author}, ${year}`));
  article.prepend(cover, contents);

  const style = make("style", "", `${looks}\n${heads.join("\n")}`);
  const ready = [...sheets].filter((one) => ![...document.styleSheets].some(({ href }) => href === one)).map((href) => new Promise((done) => {
    document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href, onload: done, onerror: done }));
  }));
  await window.MathJax?.startup?.promise;
  window.MathJax?.typesetClear?.();
  const content = make("div", "bd-content print-book");
  content.append(article);
  document.body.replaceChildren(content);
  await Promise.all(ready);
  document.head.append(style);
  await window.MathJax?.typesetPromise?.([article]);
  await document.fonts.ready;
}
