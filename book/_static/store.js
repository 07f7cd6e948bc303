// Chromium gives a page opened from disk, one time in a hundred on a busy machine, an empty localStorage for as long as
// the page lives, and the right one when it is opened again, or once more. It is known by a mark that the tab has and it
// has not; the tab counts how often in a row, for a reader may have thrown everything away.
if (location.protocol === "file:") {
  try {
    const MARK = "scalelab-opened";
    const before = sessionStorage.getItem(MARK);
    const lost = before !== null && Number(before) < 3 && !localStorage.getItem(MARK);
    sessionStorage.setItem(MARK, lost ? Number(before) + 1 : 0);
    if (lost) location.reload(); else localStorage.setItem(MARK, "yes");
  } catch { /* a browser that keeps nothing has nothing to lose */ }
}
