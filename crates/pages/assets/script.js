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
  } catch { /* the text is there all the same */ }
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

// What is typed in an editor is tried, and what comes of it shown below it. Lines have numbers.
for (const form of all("form[data-try]")) {
  const field = $("textarea", form);
  let waiting, asked;
  const number = () => {
    const first = Number(form.dataset.first);
    $(".lines", form).textContent = field.value.trimEnd().split("\n").map((_, line) => `${first + line}\n`).join("");
  };
  const attempt = async () => {
    asked?.abort();
    asked = new AbortController();
    try {
      const body = new URLSearchParams(new FormData(form));
      const said = await fetch(form.action, { method: "POST", body, headers: { accept: "text/html" }, signal: asked.signal });
      const page = new DOMParser().parseFromString(await said.text(), "text/html");
      const found = $("#tried", page);
      if (found) $("#tried").replaceChildren(...found.childNodes);
    } catch { /* the next letter tries again */ }
  };
  field.addEventListener("input", () => {
    number();
    clearTimeout(waiting);
    waiting = setTimeout(attempt, 300);
  });
}

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
  let known = Number($("#pill")?.dataset.revision ?? 0);
  let latest = known && { revision: known };
  const tell = (text, link = "Show it", to = location.href) => {
    $("span", note).textContent = text;
    Object.assign($("a", note), { textContent: link, href: to });
    note.hidden = false;
  };
  const news = {
    revision(entry) {
      const { revision, message, actor } = entry;
      if (revision > (latest?.revision ?? 0)) latest = entry;
      if (revision <= known) return;
      known = revision;
      tell(`Revision ${revision} is here${message ? ` (${message}, ${actor})` : ""}.`);
    },
    files({ state, diagnostics }) {
      const broken = state === "broken";
      const pill = broken ? ["warn", "! last good snapshot", "/diagnostics"] : ["good", "files are mended", "/history"];
      Object.assign($("#pill"), { className: `pill ${pill[0]}`, textContent: pill[1], href: pill[2] });
      if (!broken) tell("Files are mended, and read.");
      else if (!$(".broken")) tell(`Files are broken: ${diagnostics[0]?.message ?? ""}`, "What is wrong", "/diagnostics");
    },
  };

  // Browsers keep few connections to a server. So all tabs share one stream: the tab that has the lock holds it, and passes news on.
  // A page that is not seen holds nothing. Without locks (a plain address that is not of this machine) each visible page has a stream.
  const address = root.dataset.events;
  let leave;
  function attend() {
    if (document.hidden) return leave?.();
    if (leave) return;
    const left = new AbortController();
    const channel = new BroadcastChannel(address);
    let holds = false;
    channel.onmessage = ({ data: { name, data, after } }) => {
      if (name) news[name](data);
      else if (holds && latest && latest.revision > after) channel.postMessage({ name: "revision", data: latest });
    };
    const hold = () => left.signal.aborted ? undefined : new Promise((release) => {
      const stream = new EventSource(known ? `${address}?after=${known}` : address);
      const close = () => { holds = false; stream.close(); release(); };
      holds = true;
      left.signal.addEventListener("abort", close);
      stream.addEventListener("error", () => { if (stream.readyState === EventSource.CLOSED) close(); });
      for (const name of Object.keys(news)) {
        stream.addEventListener(name, (event) => {
          const data = JSON.parse(event.data);
          news[name](data);
          if (holds) channel.postMessage({ name, data });
        });
      }
    });
    if (navigator.locks) navigator.locks.request(address, { signal: left.signal }, hold).catch(() => { /* it left before its turn */ });
    else hold();
    channel.postMessage({ after: known });
    leave = () => { leave = undefined; left.abort(); channel.close(); };
  }
  document.addEventListener("visibilitychange", attend);
  addEventListener("pagehide", () => leave?.());
  addEventListener("pageshow", attend);
  attend();
}
