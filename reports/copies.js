// Every table can be copied: as CSV with plain figures (bytes, seconds), as LaTeX with what is shown.
{
  const plain = /^[-\d.,]+ ?(B|kB|MB|GB|TB|ms|s|min|h|%)?$/;
  const shownText = (cell) => cell.innerText.replace(/\s+/g, " ").trim();
  const rowsOf = (table) => [...table.rows].filter((row) => !row.hidden).map((row) => [...row.cells]);

  function csvField(cell) {
    const text = shownText(cell);
    const figure = cell.classList.contains("num") && cell.dataset.v !== undefined && plain.test(text);
    const value = figure ? cell.dataset.v : text;
    // a spreadsheet would compute it
    const safe = /^[=+\-@]/.test(value) && Number.isNaN(Number(value)) ? `'${value}` : value;
    return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  }
  const csv = (table) => rowsOf(table).map((cells) => cells.map(csvField).join(",")).join("\n") + "\n";

  const special = { "\\": "\\textbackslash{}", "{": "\\{", "}": "\\}", "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}", "–": "--", "≥": "$\\geq$", "≤": "$\\leq$", "≈": "$\\approx$", "±": "$\\pm$",
    "↑": "$\\uparrow$", "↓": "$\\downarrow$", "✓": "$\\checkmark$", "×": "$\\times$" };
  const escaped = (text) => text.replace(/[\\{}~^–≥≤≈±↑↓✓×]|[$&%#_]/g, (letter) => special[letter] ?? `\\${letter}`);
  function latex(table) {
    const [head, ...body] = rowsOf(table);
    const line = (cells) => `${cells.map((cell) => escaped(shownText(cell))).join(" & ")} \\\\`;
    const columns = head.map((cell) => (cell.classList.contains("num") ? "r" : "l")).join("");
    return ["% needs \\usepackage{booktabs}", `\\begin{tabular}{${columns}}`, "\\toprule", line(head), "\\midrule",
      ...body.map(line), "\\bottomrule", "\\end{tabular}", ""].join("\n");
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch { // a page from a file may not be trusted with the clipboard
      const area = make("textarea", text);
      (document.querySelector("dialog[open]") ?? document.body).append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  }

  function addCopies(table) {
    const box = table.closest(".scroll") ?? table;
    const bar = make("p", undefined, "copies");
    for (const [name, write] of [["CSV", csv], ["LaTeX", latex]]) {
      const button = make("button", `Copy as ${name}`);
      button.type = "button";
      button.addEventListener("click", async () => {
        await copy(write(table));
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = `Copy as ${name}`; }, 1500);
      });
      bar.append(button);
    }
    box.after(bar);
  }
  for (const table of document.querySelectorAll("main table")) addCopies(table);
  new MutationObserver(() => {
    for (const table of document.querySelectorAll("#drill .content table"))
      if (!table.closest(".scroll").nextElementSibling?.classList.contains("copies")) addCopies(table);
  }).observe(document.querySelector("#drill .content"), { childList: true });
}
