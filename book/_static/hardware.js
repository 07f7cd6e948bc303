// Keeps what the reader says of their hardware, in this browser only; figures of all pages start from it.
(() => {
  const KEY = "scalelab-hardware";
  const form = document.querySelector("#hardware-panel");
  if (!form) return;
  const scales = { peak: 1e12, bandwidth: 1e12, memory: 1e9, network: 1e9, latency: 1e-6, price: 1 }; // what a field is written in
  const fields = Object.keys(scales), sheet = ["peak", "bandwidth", "memory"]; // what a device brings along
  const said = form.querySelector("output");
  const device = form.elements.device;

  const read = () => { try { return JSON.parse(localStorage.getItem(KEY)) ?? {}; } catch { return {}; } };
  const show = (known) => {
    device.value = [...device.options].some((one) => one.value === known.device) ? known.device : "";
    fields.forEach((name) => { form.elements[name].value = known[name] > 0 ? Number((known[name] / scales[name]).toPrecision(6)) : ""; });
    const ridge = (way) => Number((known.peak / known[way]).toPrecision(3)).toLocaleString("en");
    const more = known.peak > 0 && known.network > 0 ? `, ${ridge("network")} by the network` : "";
    said.textContent = known.ridge > 0
      ? `Kept in this browser. The ridge of this device is ${ridge("bandwidth")} FLOP per byte by its memory${more}.`
      : Object.keys(known).length ? "Kept in this browser." : "Nothing is kept yet.";
  };
  const keep = () => {
    const known = device.value ? { device: device.value } : {};
    fields.forEach((name) => {
      const value = Number(form.elements[name].value);
      if (value > 0 && Number.isFinite(value)) known[name] = value * scales[name];
    });
    if (known.peak && known.bandwidth) known.ridge = known.peak / known.bandwidth;
    try { localStorage.setItem(KEY, JSON.stringify(known)); } catch { said.textContent = "This browser keeps nothing."; return; }
    show(known);
  };

  device.addEventListener("change", () => {
    const chosen = device.selectedOptions[0].dataset;
    // A device without a number has none, whatever the one before it had.
    if (device.value) sheet.forEach((name) => { form.elements[name].value = chosen[name] ?? ""; });
    keep();
  });
  fields.forEach((name) => form.elements[name].addEventListener("change", () => {
    if (sheet.includes(name)) device.value = "";
    keep();
  }));
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    try { localStorage.removeItem(KEY); } catch { /* nothing was kept */ }
    show({});
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  show(read());
})();
