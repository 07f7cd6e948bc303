// Binds one long page into a book on paper: a cover, contents, running heads, and the numbers at the end.
({ title, subtitle, author, year }) => {
  const make = (tag, name, text = "") => Object.assign(document.createElement(tag), { className: name, textContent: text });
  const article = document.querySelector("article");
  const words = (heading) => heading.textContent.replace(/[#¶]\s*$/, "").trim();
  const marked = (element, name) => { const mark = make("span", ""); mark.id = name; element.prepend(mark); return name; };
  const chapters = [...article.querySelectorAll("section > h1")];
  const whole = chapters.length > 1;

  // What stood below every figure, behind the last chapter.
  const appendix = make("section", "print-numbers"), folds = [...article.querySelectorAll(".sl-figure .sl-twin")];
  appendix.append(make("h1", "", "The numbers of the figures"));
  let chapter, count = 0;
  [...article.querySelectorAll("section > h1, .sl-figure")].forEach((one) => {
    if (one.matches("h1")) { [chapter, count] = [words(one), 0]; return; }
    count += 1;
    const fold = one.querySelector(".sl-twin");
    if (!fold) return;
    const block = make("div", "sl-block print-twin");
    const head = make("p", "sl-title", `${chapter.split(" ")[0]}, figure ${count}: ${one.querySelector(".sl-title").textContent}`);
    const at = marked(head, `print-twin-${folds.indexOf(fold)}`);
    block.append(head, ...[...fold.children].filter((child) => !child.matches("summary")));
    appendix.append(block);
    const note = make("p", "print-note", "The numbers: ");
    note.append(Object.assign(make("a", "", "page "), { href: `#${at}` }));
    note.lastChild.append(make("span", "print-page", "000"));
    fold.replaceWith(note);
  });
  if (folds.length) { article.append(appendix); chapters.push(appendix.querySelector("h1")); }

  const heads = [];
  const contents = make("nav", "print-contents");
  contents.append(make("p", "print-head", "Contents"));
  chapters.forEach((heading, turn) => {
    const text = words(heading), page = `part-${turn}`;
    heading.closest("section").style.page = page;
    heads.push(`@page ${page} { @top-left { content: ${JSON.stringify(text)}; } }`);
    [heading, ...(whole ? heading.parentElement.querySelectorAll(":scope > section > h2") : [])].forEach((one, below) => {
      const line = make("p", below ? "print-below" : "print-line");
      const to = Object.assign(make("a", "", words(one)), { href: `#${marked(one, `print-${turn}-${below}`)}` });
      line.append(to, make("span", "print-dots"), Object.assign(make("a", "print-page", "000"), { href: to.href }));
      contents.append(line);
    });
  });
  const style = make("style", "");
  style.textContent = heads.join("\n");
  document.head.append(style);
  if (whole) {
    const cover = make("section", "print-cover");
    cover.append(make("p", "print-title", title), make("p", "print-subtitle", subtitle), make("p", "print-author", `${author}, ${year}`));
    article.prepend(cover, contents);
  }
}
