// Data that stand in the page, and elements made from text alone.

function dataOf(id) {
  const block = document.getElementById(id);
  return block ? JSON.parse(block.textContent) : null;
}

// Rows are stored as columns and lists of values.
function rowsOf(table) {
  return table.rows.map((row) =>
    Object.fromEntries(table.columns.map((column, index) => [column, row[index]])));
}

// Text becomes text: nothing here ever parses markup.
function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) {
      made.setAttribute(name, String(value));
    }
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function written(value, kind) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "number") return String(value);
  if (kind === "percent") return (100 * value).toFixed(2);
  if (Number.isInteger(value)) return String(value);
  return String(Number(value.toPrecision(4)));
}

function csvOf(table) {
  const quoted = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [table.columns, ...table.rows].map((row) => row.map(quoted).join(",")).join("\n") + "\n";
}

function save(name, type, text) {
  const link = element("a", { download: name, href: URL.createObjectURL(new Blob([text], { type })) });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
