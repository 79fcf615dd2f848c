"use strict";
// What the scripts of the page share: its data, and how elements, bytes and sorted tables are made.
const page = JSON.parse(document.getElementById("data").textContent);

const make = (name, text, type) => {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (type) made.className = type;
  return made;
};

const bytesText = (n) => {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const step = n < 1000 ? 0 : Math.min(4, Math.floor(Math.log10(n) / 3));
  return `${Number((n / 1000 ** step).toPrecision(3))} ${units[step]}`;
};

// The part of the address behind #, as names and values; an anchor such as #ranks has none.
const inAddress = () => new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
const toAddress = (change) => {
  const said = inAddress();
  for (const [name, value] of Object.entries(change)) {
    if (value === null) said.delete(name);
    else said.set(name, value);
  }
  history.replaceState(null, "", `#${said}`);
};

// What has no number sorts last, whichever way.
const sortValue = (row, column) => {
  const cell = row.cells[column];
  const text = cell.dataset.v ?? cell.textContent.trim();
  const number = Number(text);
  return text === "" || text === "–" || text === "nan" ? null : Number.isNaN(number) ? text : number;
};
const compareValues = (a, b) =>
  typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));

function makeSortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  const sort = (head, column) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const keyed = [...body.rows].map((row) => [sortValue(row, column), row]);
    keyed.sort(([a], [b]) =>
      a === null || b === null ? (a === null) - (b === null) : (down ? -1 : 1) * compareValues(a, b));
    body.append(...keyed.map(([, row]) => row));
  };
  heads.forEach((head, column) => {
    head.tabIndex = 0;
    head.addEventListener("click", () => sort(head, column));
    head.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(head, column); }
    });
  });
}
