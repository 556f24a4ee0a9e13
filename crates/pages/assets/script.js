// Keys, copying and news. Everything that is read is there without this.
const $ = (selector, from = document) => from.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];
const root = document.documentElement;

// Copying.
async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    if (button) {
      const label = button.textContent;
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = label; }, 1200);
    }
  } catch { /* a browser that lets nobody copy shows the text all the same */ }
}
for (const button of all("button.copy")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const source = button.dataset.copy;
    copy(source ? document.getElementById(source).textContent : location.href, button);
  });
}

// A choice is made when it is made.
for (const select of all("form.filter select")) {
  select.addEventListener("change", () => select.form.requestSubmit());
}

// What is not filled in says nothing, so it is not in the address.
for (const form of all("form")) {
  if (form.method !== "get") continue;
  form.addEventListener("submit", () => {
    for (const field of form.elements) if (field.name && field.value === "") field.disabled = true;
  });
}
addEventListener("pageshow", () => {
  for (const field of all("form :disabled")) field.disabled = false;
});

// Keys.
let current = -1;
function mark(step) {
  const rows = all("tbody tr, .rows > li").filter((row) => row.offsetParent !== null);
  if (rows.length === 0) return;
  all(".marked").forEach((row) => row.classList.remove("marked"));
  current = Math.min(Math.max(current + step, 0), rows.length - 1);
  const row = rows[current];
  row.classList.add("marked");
  row.scrollIntoView({ block: "nearest" });
  const link = $("a[href]", row);
  if (link) link.focus({ preventScroll: true });
}
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  switch (event.key) {
    case "/": {
      const field = $("#q");
      if (!field) return;
      field.focus();
      field.select();
      break;
    }
    case "j": mark(1); break;
    case "k": mark(-1); break;
    case "e": {
      const details = all("details.evidence");
      const open = !details.some((one) => one.open);
      details.forEach((one) => { one.open = open; });
      break;
    }
    case "c": copy(location.href, $("button.link")); break;
    case "?": $("#keys")?.showModal(); break;
    default: return;
  }
  event.preventDefault();
});

// News is told, and nothing moves. A page of the past has none.
const note = $("#live");
if (root.dataset.events && note && !new URLSearchParams(location.search).has("at")) {
  const events = new EventSource(root.dataset.events);
  const tell = (text) => {
    $("span", note).textContent = text;
    note.hidden = false;
  };
  events.addEventListener("revision", (event) => {
    const { revision, message, actor } = JSON.parse(event.data);
    tell(`Revision ${revision} is here${message ? ` (${message}, ${actor})` : ""}.`);
  });
}
