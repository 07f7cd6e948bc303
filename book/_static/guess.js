// A place to type in each box that asks for a guess. What is typed stays in this browser and is shown again beside
// the answer. It is kept under the page and the cell it belongs to, so a new edition of the page finds it again.
(() => {
  const root = new URL(document.documentElement.dataset.content_root, location).pathname;
  const page = location.pathname.slice(root.length).replace(/\.html$/, "");
  const answers = [...document.querySelectorAll(".tag_answer, .admonition.answer")];
  const make = (tag, own) => Object.assign(document.createElement(tag), own);
  const known = (key) => { try { return localStorage.getItem(key) ?? ""; } catch { return ""; } };
  const keep = (key, text) => {
    try {
      if (text) localStorage.setItem(key, text); else localStorage.removeItem(key);
      return "Kept in this browser, sent nowhere.";
    } catch { return "This browser keeps nothing: the guess ends with the page."; }
  };

  document.querySelectorAll(".admonition.guess[id]").forEach((box) => {
    const key = `scalelab-guess ${page} ${box.id}`;
    const field = make("textarea", { id: `${box.id}-mine`, rows: 1, value: known(key), autocomplete: "off" });
    const label = make("label", { htmlFor: field.id, textContent: "Your guess" });
    const fate = make("small", { id: `${field.id}-fate`, textContent: keep(key, field.value) });
    field.setAttribute("aria-describedby", fate.id);
    const place = make("div", { className: "guess-field" });
    place.append(label, field, fate);
    box.append(place);

    const quote = make("q");
    const said = make("p", { className: "guess-said" });
    said.append("You guessed: ", quote);
    const answer = answers.find((one) => box.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING);
    const title = answer?.querySelector(":scope > .admonition-title");
    if (title) title.after(said); else answer?.querySelector(".cell_output")?.before(said);

    const repeat = () => { quote.textContent = field.value.trim(); said.hidden = !quote.textContent; };
    field.addEventListener("input", () => { fate.textContent = keep(key, field.value); repeat(); });
    repeat();
  });
})();
