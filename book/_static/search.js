// Searches the book's sections: the one that explains a thing first, each with the sentence that says so.
const bookSearch = (() => {
  // How well a page explains: a chapter best, and its sections better than its furniture. What is looked up comes last.
  const EXPLAINS = { chapters: 1, corrections: 0.35, datasets: 0.4, proposal: 0.3, status: 0.3 };
  const LOOKED_UP = /^book\/(api|bibliography|glossary|notation|terminology)$/;
  const FURNITURE = /^(Further reading|Exercises|Check yourself|Summary|Where it breaks|Library shortcut|Research frontier|A practical example)/;
  const LIKEWISE = 0.25;
  const MOST = { pages: 20, sections: 3 }; // shown, and of one page
  // "all-reduce", "allreduce" and "all reduce" are one word, "GPUs" and "GPU" another.
  const stem = (word) => word.replace(/(?<=\w{3})ies$/, "y").replace(/(?<=[^aious]{1})s$/, (s, at, all) => (all.length > 3 ? "" : s));
  const tokenize = (text) => {
    const found = [];
    for (const [piece] of text.normalize("NFKD").replace(/['’]s\b/g, "").matchAll(/[\p{L}\p{N}]+(?:[-_.][\p{L}\p{N}]+)*/gu)) {
      const parts = piece.split(/[-_.]/);
      found.push(...parts, ...(parts.length > 1 ? [parts.join("")] : []));
    }
    return found;
  };
  const asked = (text) => {
    const found = [];
    for (const [piece] of text.normalize("NFKD").replace(/['’]s\b/g, "").matchAll(/[\p{L}\p{N}]+(?:[-_.][\p{L}\p{N}]+)*/gu)) {
      found.push(piece.replace(/[-_.]/g, ""));
    }
    return found;
  };
  const processTerm = (word) => stem(word.toLowerCase());

  const index = (sections, MiniSearch) => {
    const names = new Map(sections.filter(([, anchor]) => !anchor).map(([page, , heading]) => [page, heading]));
    const documents = sections.map(([page, anchor, heading, text, defined], id) => ({
      id, page, anchor, heading, text, defined, title: names.get(page) ?? "",
    }));
    const mini = new MiniSearch({ fields: ["heading", "defined", "title", "text"], tokenize, processTerm });
    mini.addAll(documents);
    return { mini, documents, names };
  };

  const explains = ({ page, heading }) =>
    (EXPLAINS[page.split("/")[0]] ?? EXPLAINS[page.split("/")[1]] ?? 0.6) * (FURNITURE.test(heading) ? 0.4 : 1);

  const search = ({ mini, documents, names }, words) => {
    const options = {
      tokenize: asked, boost: { heading: 4, defined: 4, title: 2 }, prefix: (word) => word.length > 3, combineWith: "AND",
      fuzzy: (word) => (word.length > 5 ? 0.2 : 0), weights: { fuzzy: 0.15, prefix: 0.4 },
      boostDocument: (id) => explains(documents[id]), bm25: { k: 1.2, b: 0.4, d: 0.5 },
    };
    let found = mini.search(words, options);
    if (!found.length) found = mini.search(words, { ...options, combineWith: "OR" });
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
  return { index, search, excerpt, processTerm, tokenize };
})();
if (typeof module !== "undefined") module.exports = bookSearch;
