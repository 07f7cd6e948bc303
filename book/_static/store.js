// Chromium gives a page opened from disk, one time in some dozens on a busy machine, an empty localStorage for as long
// as the page lives, and the right one when it is opened again. It is known by a mark that the tab has and it has not.
if (location.protocol === "file:") {
  try {
    const MARK = "scalelab-opened";
    const lost = sessionStorage.getItem(MARK) === "once" && !localStorage.getItem(MARK);
    sessionStorage.setItem(MARK, lost ? "again" : "once");
    if (lost) location.reload(); else localStorage.setItem(MARK, "once");
  } catch { /* a browser that keeps nothing has nothing to lose */ }
}
