// A place to type in each box that asks for a guess. What is typed stays in this browser and is shown again beside
// the answer. It is kept under the page and the cell it belongs to, so a new edition of the page finds it again.
(() => {
  const root = new URL(document.documentElement.dataset.content_root, location).pathname;
  const page = location.pathname.slice(root.length).replace(/\.html$/, "");
  const answers = [...document.querySelectorAll(".tag_answer, .admonition.answer")];
  const make = (tag, own) => Object.assign(document.createElement(tag), own);
  const shelf = (use) => {
    try { return { text: use(localStorage) ?? "", fate: "Kept in this browser, sent nowhere." }; }
    catch { return { text: "", fate: "This browser keeps nothing: the guess ends with the page." }; }
  };

  document.querySelectorAll(".admonition.guess[id]").forEach((box) => {
    const key = `scalelab-guess ${page} ${box.id}`;
    const before = shelf((kept) => kept.getItem(key));
    const field = make("textarea", { id: `${box.id}-mine`, rows: 1, value: before.text, autocomplete: "off" });
    const label = make("label", { htmlFor: field.id, textContent: "Your guess" });
    const fate = make("small", { id: `${field.id}-fate`, textContent: before.fate });
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
    field.addEventListener("input", () => {
      const keep = (kept) => (field.value ? kept.setItem(key, field.value) : kept.removeItem(key));
      fate.textContent = shelf(keep).fate;
      repeat();
    });
    // Typed in another tab, or on the page just left, whose words may arrive after this one was opened.
    addEventListener("storage", (event) => {
      if (event.key !== key) return;
      field.value = event.newValue ?? "";
      repeat();
    });
    repeat();
  });
})();
