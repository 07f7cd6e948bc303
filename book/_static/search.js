// Searches the book's sections: the one that explains a thing first, each with the sentence that says so.
const bookSearch = (() => {
  // How well a page explains: a chapter best, and its sections better than its furniture. What is looked up comes last.
  const EXPLAINS = { chapters: 1, corrections: 0.35, datasets: 0.4, proposal: 0.3, status: 0.3 };
  const LOOKED_UP = /^book\/(api|bibliography|glossary|notation|terminology)$/;
  const FURNITURE = /^(Further reading|Exercises|Check yourself|Summary|Where it breaks|Library shortcut|Research frontier|A practical example)/;
  const COMMON = new Set("a an and are as at by do does for formula from how i in is it its many me much my need of on or should the to versus vs we what when which with".split(" "));
  const SIZE = /^how many (gpus?|nodes?|machines?|workers?|devices?)\b/i; // of these words only the machines count, and they are everywhere
  const LIKEWISE = 0.25, EXACT = 2; // of a page's other sections; of a heading that begins with what was asked

  const MOST = { pages: 20, sections: 3 }; // shown, and of one page
  // "all-reduce", "allreduce" and "all reduce" are one word, "GPUs" and "GPU" another.
  const stem = (word) => word.replace(/(?<=\w{3})ies$/, "y").replace(/(?<=[^aious]{1})s$/, (s, at, all) => (all.length > 3 ? "" : s));
  const pieces = (text) => [...text.normalize("NFKD").replace(/['’]s\b/g, "").matchAll(/[\p{L}\p{N}]+(?:[-–_.][\p{L}\p{N}]+)*/gu)].map(([piece]) => piece.split(/[-–_.]/));
  const tokenize = (text) => pieces(text).flatMap((parts) => (parts.length > 1 ? [...parts, parts.join("")] : parts));
  // What was asked, as a tree: every word, and of "karp-flatt" either the one word or both.
  const asked = (text) => ({
    combineWith: "AND",
    queries: pieces(text).map((parts) => (parts.length > 1
      ? { combineWith: "OR", queries: [parts.join(""), { combineWith: "AND", queries: parts }] } : parts[0])),
  });
  const processTerm = (word) => (COMMON.has(word.toLowerCase()) ? null : stem(word.toLowerCase()));

  const index = (sections, MiniSearch) => {
    const names = new Map(sections.filter(([, anchor]) => !anchor).map(([page, , heading]) => [page, heading]));
    const documents = sections.map(([page, anchor, heading, text, defined], id) => ({
      id, page, anchor, heading, text, defined, terms: defined.join(" "), title: names.get(page) ?? "",
    }));
    const mini = new MiniSearch({ fields: ["heading", "terms", "title", "text"], tokenize, processTerm });
    mini.addAll(documents);
    return { mini, documents, names };
  };

  const explains = ({ page, heading }) =>
    (EXPLAINS[page.split("/")[0]] ?? EXPLAINS[page.split("/")[1]] ?? 0.6) * (FURNITURE.test(heading) ? 0.4 : 1);

  const search = ({ mini, documents, names }, typed) => {
    const words = typed.replace(SIZE, "cluster size");
    const plain = (text) => tokenize(text).map(processTerm).filter(Boolean).join(" ");
    const wanted = plain(words);
    const exact = ({ heading, defined }) => plain(heading).replace(/^[\d\s]+/, "").startsWith(wanted) || defined.some((term) => plain(term) === wanted);
    const options = {
      boost: { heading: 4, terms: 4, title: 2 }, prefix: (word) => word.length > 3,
      fuzzy: (word) => (word.length > 5 ? 0.2 : 0), weights: { fuzzy: 0.15, prefix: 0.4 },
      boostDocument: (id) => explains(documents[id]) * (exact(documents[id]) ? EXACT : 1), bm25: { k: 1.2, b: 0.4, d: 0.5 },
    };
    const query = asked(words);
    let found = mini.search(query, options);
    if (!found.length) found = mini.search({ ...query, combineWith: "OR" }, options);
    const pages = new Map();
    for (const { id, score, terms } of found) {
      const { page } = documents[id];
      if (!pages.has(page)) pages.set(page, { page, title: names.get(page), score, sections: [] });
      const found = pages.get(page);
      found.score += found.sections.length ? score * LIKEWISE : 0; // a page that comes back to it explains more
      if (found.sections.length < MOST.sections) found.sections.push({ ...documents[id], terms });
    }
    return [...pages.values()].sort((one, other) => LOOKED_UP.test(one.page) - LOOKED_UP.test(other.page) || other.score - one.score).slice(0, MOST.pages);
  };

  // The sentence that holds the most of what was asked for, and the one after it if there is room.
  const excerpt = (text, terms) => {
    const sentences = text.match(/[^.!?]+(?:[.!?](?!\s|$)[^.!?]*)*[.!?]*\s*/g) ?? [text];
    const count = (sentence) => new Set(tokenize(sentence).map(processTerm).filter((word) => terms.includes(word))).size;
    const best = sentences.reduce((at, sentence, i) => (count(sentence) > count(sentences[at]) ? i : at), 0);
    const said = sentences.slice(best, best + 2).join("").trim();
    return said.length > 280 ? `${said.slice(0, said.lastIndexOf(" ", 280))} …` : said;
  };
  // A definition, where exactly a word of the glossary was asked for, or the name of a call.
  const definition = ({ documents }, words) => {
    const plain = (text) => tokenize(text).map(processTerm).join(" "), wanted = plain(words);
    return documents.find(({ page, heading }) => (page === "book/glossary" && plain(heading) === wanted)
      || (page === "book/api" && heading.startsWith(`${words.trim()}(`)));
  };

  const make = (tag, text = "", more = {}) => Object.assign(document.createElement(tag), { textContent: text, ...more });
  const link = ({ page, anchor }, text) => make("a", text, { href: `${page}.html${anchor && `#${anchor}`}` });
  const marked = (text, terms) => {
    const shown = make("p");
    for (const piece of text.split(/([\p{L}\p{N}]+(?:[-–_.][\p{L}\p{N}]+)*)/u)) {
      const hit = tokenize(piece).some((word) => terms.includes(processTerm(word)));
      shown.append(hit ? make("mark", piece) : piece);
    }
    return shown;
  };
  // The page's own words come first, and not at all where only its title has what was asked.
  const spoken = (sections) => {
    const own = sections.find(({ anchor }) => !anchor), others = sections.filter(({ anchor }) => anchor);
    const says = own && marked(excerpt(own.text, own.terms), own.terms).querySelector("mark");
    return own && (says || !others.length) ? [own, ...others] : others;
  };
  const entry = (found) => {
    const item = make("li");
    if (found.anchor) item.append(link(found, found.heading)); // the page itself stands above
    item.append(marked(excerpt(found.text, found.terms), found.terms));
    return item;
  };
  const show = (found, meant, words) => {
    const results = document.getElementById("book-results");
    const count = found.length === 1 ? "1 page" : `${found.length} pages`;
    document.querySelector(".book-found").textContent = !words ? "" : found.length || meant ? `${count} for “${words}”` : `Nothing for “${words}”: try fewer or plainer words.`;
    const blocks = found.map(({ page, title, sections }) => {
      const block = make("section"), head = make("h2"), list = make("ul");
      head.append(link({ page, anchor: "" }, title));
      list.append(...spoken(sections).map(entry));
      block.append(head, list);
      return block;
    });
    if (meant) {
      const block = make("section", "", { className: "book-meant" }), head = make("h2");
      head.append(link(meant, meant.heading));
      block.append(head, make("p", meant.text));
      blocks.unshift(block);
    }
    results.replaceChildren(...blocks);
  };

  const start = () => {
    const field = document.querySelector(".book-search input[type=search]"), ready = index(window.bookSections, window.MiniSearch);
    const find = () => {
      const words = field.value.trim();
      show(words ? search(ready, words) : [], words && definition(ready, words), words);
    };
    field.value = new URLSearchParams(location.search).get("q") ?? "";
    find();
    field.focus();
    field.addEventListener("input", () => {
      find();
      history.replaceState(null, "", `?q=${encodeURIComponent(field.value.trim())}`);
    });
    field.form.addEventListener("submit", (event) => event.preventDefault());
  };
  return { index, search, excerpt, definition, start };
})();
if (typeof module === "undefined") bookSearch.start();
else module.exports = bookSearch;
