// SPDX-License-Identifier: Apache-2.0
//
// The page of `kairos browse`. Whatever comes from objects, names or repositories becomes text of
// the page, never markup: elements are only made by `make`, which knows no HTML.
"use strict";

const byId = (id) => document.getElementById(id);

// --- Elements ------------------------------------------------------------------------------------

const SVG = "http://www.w3.org/2000/svg";

function furnish(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

const make = (tag, attributes = {}, ...children) =>
  furnish(document.createElement(tag), attributes, children);
const draw = (tag, attributes = {}, ...children) =>
  furnish(document.createElementNS(SVG, tag), attributes, children);

// --- JSON with whole numbers of 64 bits -----------------------------------------------------------

// Numbers that a double cannot hold stay what was sent, where the browser tells.
function parse(text) {
  return JSON.parse(text, (key, value, context) => {
    if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
    const source = context?.source;
    return source !== undefined && /^-?\d+$/.test(source) ? BigInt(source) : value;
  });
}

// What `parse` made a BigInt of, only a browser that has rawJSON can have.
const print = (value, indent = 0) => JSON.stringify(
  value, (key, part) => typeof part === "bigint" ? JSON.rawJSON(part.toString()) : part, indent);

const isNumber = (value) => typeof value === "number" || typeof value === "bigint";

// --- The server ----------------------------------------------------------------------------------

// What is behind the # of the printed address is never sent but as the token of a call.
function takeToken() {
  const given = location.hash.slice(1);
  if (/^[0-9a-f]{48}$/.test(given)) {
    sessionStorage.setItem("kairos-token", given);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem("kairos-token") ?? "";
}

let token = takeToken();

// `body` is JSON text, or what becomes one. Always answers: what goes wrong is `error`.
async function ask(what, body) {
  try {
    const response = await fetch(`/api/${what}`, {
      method: "POST",
      headers: {"Content-Type": "application/json", "X-Kairos-Token": token},
      body: typeof body === "string" ? body : print(body),
    });
    return parse(await response.text());
  } catch (failure) {
    return {error: "kairos browse does not answer: it has ended, or its machine cannot be reached.",
            gone: true};
  }
}

// --- What went wrong -----------------------------------------------------------------------------

// A card for an answer that is an error, one of CORBA's exceptions or one of the operation's own;
// null for one that is none.
function trouble(answer) {
  if (answer.error !== undefined)
    return make("div", {class: "result failure", role: "alert"},
                make("strong", {}, "Cannot be done"), make("p", {}, String(answer.error)));
  if (answer.failure)
    return make("div", {class: "result failure", role: "alert"},
                make("strong", {}, answer.failure.name),
                answer.failure.meaning ? make("p", {}, answer.failure.meaning) : null,
                make("p", {class: "mono"}, answer.failure.text));
  if (answer.exception)
    return make("div", {class: "result raised", role: "alert"},
                make("strong", {}, answer.exception.name), " was raised",
                make("div", {class: "value"}, membersOf(answer.exception.members ?? {})),
                make("p", {class: "mono"}, answer.exception.id));
  return null;
}

// --- Values --------------------------------------------------------------------------------------

const ROWS = 200; // that are shown before somebody asks for more

function save(name, text, kind = "text/csv") {
  const link = make("a", {href: URL.createObjectURL(new Blob([text], {type: kind})),
                          download: name.replace(/[^\w.-]+/g, "_")});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// A cell of CSV (RFC 4180). Text that a spreadsheet would compute is made plain text.
function cell(value) {
  if (value === null || value === undefined) return "";
  if (isNumber(value) || typeof value === "boolean") return String(value);
  let text = typeof value === "string" ? value : print(value);
  if (/^[=+\-@\t\r]/.test(text) && !/^[+-]?\d+(\.\d+)?$/.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const csvOf = (heads, rows) =>
  [heads, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";

// The columns of an array of alike objects, else null.
function columnsOf(values) {
  if (values.length < 1 || !values.every((one) => one && typeof one === "object" && !Array.isArray(one)))
    return null;
  const columns = Object.keys(values[0]);
  const alike = columns.length > 0 && values.every(
    (one) => Object.keys(one).length === columns.length && columns.every((name) => name in one));
  return alike ? columns : null;
}

// Puts `rows` of a long list into `place`, and a button for the rest.
function inPortions(place, values, row, from = 0) {
  const end = Math.min(values.length, from + ROWS);
  for (let i = from; i < end; ++i) place.append(row(values[i], i));
  if (end === values.length) return;
  const more = make("button", {class: "quiet", type: "button", onclick: () => {
    more.remove();
    inPortions(place, values, row, end);
  }}, `${values.length - end} more`);
  place.append(more);
}

function scalar(value) {
  if (value === null) return make("span", {class: "word"}, "nil");
  if (typeof value === "boolean") return make("span", {class: "word"}, String(value));
  if (isNumber(value)) return make("span", {class: "number"}, String(value));
  const text = make("span", {class: "text"}, value === "" ? "“”" : value);
  if (!/^IOR:[0-9a-fA-F]+$/.test(value)) return text;
  text.textContent = `${value.slice(0, 28)}…`;
  text.title = value;
  return make("span", {}, text, " ", make("button", {
    class: "quiet", type: "button", onclick: () => openObject(value, "a reference")}, "Open"));
}

function showTable(values, columns, name) {
  const body = make("tbody");
  inPortions(body, values, (one) => make("tr", {}, columns.map(
    (column) => make("td", {class: isNumber(one[column]) ? "right" : null}, showInner(one[column], column)))));
  return make("div", {},
    make("div", {class: "table-bar"}, `${values.length} row${values.length === 1 ? "" : "s"}`,
      make("button", {class: "quiet", type: "button", onclick: () => save(
        `${name}.csv`, csvOf(columns, values.map((one) => columns.map((column) => one[column]))))},
        "Save CSV")),
    make("div", {class: "scroll"}, make("table", {},
      make("thead", {}, make("tr", {}, columns.map((column) => make(
        "th", {scope: "col", class: isNumber(values[0][column]) ? "right" : null}, column)))),
      body)));
}

const membersOf = (object, depth = 1) => Object.entries(object).map(([key, value]) =>
  make("div", {}, make("span", {class: "key"}, key), ": ", showInner(value, key, depth)));

function showInner(value, name, depth = 0) {
  if (value === null || typeof value !== "object") return scalar(value);
  const isArray = Array.isArray(value);
  const keys = isArray ? value : Object.keys(value);
  if (keys.length === 0) return make("span", {class: "word"}, isArray ? "empty" : "{ }");
  if (isArray && columnsOf(value)) return showTable(value, columnsOf(value), name);
  const inner = make("div", {class: "inner"});
  const fill = () => {
    if (inner.childNodes.length) return;
    if (isArray)
      inPortions(inner, value, (one, i) => make("div", {}, make("span", {class: "key"}, `${i}`), ": ",
                                               showInner(one, `${name}_${i}`, depth + 1)));
    else
      inner.append(...membersOf(value, depth + 1));
  };
  const isOpen = depth < 3 && keys.length <= 40;
  if (isOpen) fill();
  const label = isArray ? `${keys.length} element${keys.length === 1 ? "" : "s"}`
                        : keys.slice(0, 4).join(", ") + (keys.length > 4 ? ", …" : "");
  return make("details", {open: isOpen, ontoggle: fill}, make("summary", {}, label), inner);
}

const showValue = (value, name) => make("div", {class: "value"}, showInner(value, name));

// --- Forms ---------------------------------------------------------------------------------------

// A field for a value: its element, and what gives JSON text or throws what is wrong with it.
function field(form, id, current) {
  const plain = (text) => text === undefined || text === null ? "" : String(text);
  switch (form.input) {
  case "boolean": {
    const box = make("input", {type: "checkbox", id});
    box.checked = current === true;
    return {element: box, json: () => String(box.checked)};
  }
  case "enum": {
    const list = make("select", {id}, form.values.map((one) => make("option", {value: one}, one)));
    if (typeof current === "string") list.value = current;
    return {element: list, json: () => JSON.stringify(list.value)};
  }
  case "integer":
  case "number": {
    const line = make("input", {id, inputmode: form.input === "integer" ? "numeric" : "decimal",
                                autocomplete: "off", placeholder: "0", value: plain(current)});
    const pattern = form.input === "integer" ? /^[+-]?\d+$/ : /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
    return {element: line, json: () => {
      const text = line.value.trim() || "0";
      if (form.input === "integer" && /^0x[0-9a-f]{1,16}$/i.test(text)) return BigInt(text).toString();
      if (form.input === "number" && /^-?(NaN|Infinity)$/.test(text)) return JSON.stringify(text);
      if (!pattern.test(text)) throw new Error(`“${text}” is no ${form.input}`);
      return form.input === "integer" ? BigInt(text.replace(/^\+/, "")).toString()
                                      : JSON.stringify(Number(text));
    }};
  }
  case "fixed":
  case "text": {
    const line = make("input", {id, autocomplete: "off", spellcheck: "false", value: plain(current)});
    return {element: line, json: () => JSON.stringify(
      form.input === "fixed" && !line.value.trim() ? "0" : line.value)};
  }
  case "reference": {
    const line = make("input", {id, autocomplete: "off", spellcheck: "false", class: "mono",
                                placeholder: "nil, or IOR:…  corbaloc:…", value: plain(current)});
    return {element: line, json: () => {
      const text = line.value.trim();
      return text === "" || text === "nil" ? "null" : JSON.stringify(text);
    }};
  }
  default: {
    const begin = current === undefined ? form.template : current;
    const area = make("textarea", {id, spellcheck: "false"}, print(begin ?? null, 2));
    const fit = () => { area.rows = Math.min(16, area.value.split("\n").length + 1); };
    fit();
    const more = form.element === undefined ? null
      : make("button", {type: "button", class: "quiet", onclick: () => {
        try {
          area.value = print([...parse(area.value), form.element], 2);
          fit();
        } catch (wrong) {
          area.focus(); // it says what is wrong when it is sent
        }
      }}, "Add an element");
    return {element: make("div", {}, area, more), json: () => {
      try {
        JSON.parse(area.value);
      } catch (wrong) {
        throw new Error(`no JSON: ${wrong.message}`);
      }
      return area.value; // as it was typed: numbers keep their digits
    }};
  }
  }
}

// JSON of all arguments; throws what is wrong, with the name of the argument.
const argumentsOf = (fields) => `[${fields.map(({name, json}) => {
  try {
    return json();
  } catch (wrong) {
    throw new Error(`${name}: ${wrong.message}`);
  }
}).join(",")}]`;

const call = (reference, operation, values) =>
  ask("call", `{"object":${JSON.stringify(reference)},"operation":${JSON.stringify(operation)},` +
              `"arguments":${values}}`);

// --- An object -----------------------------------------------------------------------------------

let opened = null;   // the answer to "open", with `label`
let openings = 0;    // so that a late answer does not replace a newer one
let ids = 0;

// An IDL line with its parts in colours.
const WORDS = new Set(("attribute boolean char context double exception fixed float in inout interface long " +
  "Object octet oneway out raises readonly sequence short string unsigned void wchar wstring any").split(" "));
function idlLine(text, name) {
  return make("code", {}, text.split(/(\w+)/).map((part) =>
    part === name ? make("span", {class: "n"}, part)
    : WORDS.has(part) ? make("span", {class: "k"}, part) : part));
}

async function openObject(object, label) {
  const mine = ++openings;
  const place = byId("object");
  place.replaceChildren(make("p", {class: "soft"}, `Asking ${label} for its interface…`));
  const answer = await ask("open", {object});
  if (mine !== openings) return;
  const wrong = trouble(answer);
  if (wrong) {
    opened = null;
    place.replaceChildren(make("h2", {}, label), wrong, make("div", {},
      make("button", {onclick: () => openObject(object, label)}, "Try again")));
    return;
  }
  opened = {...answer, label, object};
  document.title = `${label} – Kairos`;
  place.replaceChildren(head(opened),
                        ...[attributesCard(opened), operationsCard(opened)].filter(Boolean));
  if (opened.attributes.length) readAll(opened);
}

function head(object) {
  const idl = make("pre", {class: "idl card", hidden: true, tabindex: "0"}, object.interface.idl);
  const showIdl = make("button", {"aria-pressed": "false", onclick: () => {
    idl.hidden = !idl.hidden;
    showIdl.setAttribute("aria-pressed", String(!idl.hidden));
  }}, "IDL");
  const copy = make("button", {onclick: async () => {
    try {
      await navigator.clipboard.writeText(object.reference);
      copy.textContent = "Copied";
    } catch (refused) {
      copy.textContent = "The browser refuses";
    }
    setTimeout(() => { copy.textContent = "Copy reference"; }, 1500);
  }}, "Copy reference");
  return make("div", {}, make("div", {class: "head"},
    make("div", {class: "title"}, make("h2", {id: "title"}, object.label),
      make("div", {class: "facts"},
        make("span", {title: object.interface.id}, make("b", {}, object.interface.name),
          object.interface.bases.length ? ` : ${object.interface.bases.join(", ")}` : ""),
        make("span", {class: "mono"}, object.address))),
    showIdl, copy,
    make("button", {onclick: () => openObject(object.object, object.label)}, "Open again")), idl);
}

function attributesCard(object) {
  if (!object.attributes.length) return null;
  const rows = object.attributes.map((attribute) => attributeRow(object, attribute));
  const csv = () => save(`${object.label}.csv`, csvOf(["attribute", "type", "value"],
    object.attributes.map((one) => [one.name, one.type, one.value])));
  return make("section", {class: "card attributes", "aria-label": "Attributes"},
    make("div", {class: "bar"}, make("h3", {}, "Attributes"), make("span", {class: "space"}),
      make("button", {id: "read-all", onclick: () => readAll(object)}, "Read all"),
      make("button", {onclick: csv}, "Save CSV")),
    make("div", {class: "scroll"}, make("table", {},
      make("thead", {class: "hidden"}, make("tr", {},
        ["Name", "Type", "Value", "Actions"].map((text) => make("th", {scope: "col"}, text)))),
      make("tbody", {}, rows))));
}

const PLOTTED = new Set(["integer", "number", "fixed", "boolean"]);

function attributeRow(object, attribute) {
  const value = make("td", {class: "value"}, make("span", {class: "soft"}, "…"));
  const acts = make("td", {class: "acts"});
  const row = make("tr", {"data-attribute": attribute.name},
    make("td", {class: "name"}, attribute.name), make("td", {class: "type"}, attribute.type), value, acts);
  attribute.show = (answer) => {
    const wrong = trouble(answer);
    if (!wrong) {
      if (attribute.value !== undefined && print(attribute.value) !== print(answer.result)) {
        value.classList.remove("changed");
        void value.offsetWidth; // begins the animation again
        value.classList.add("changed");
      }
      attribute.value = answer.result;
    }
    value.replaceChildren(wrong ?? showInner(answer.result, attribute.name));
  };
  if (PLOTTED.has(attribute.form.input)) {
    attribute.watchButton = make("button", {class: "quiet", "aria-pressed": String(isWatched(object, attribute)),
      onclick: () => toggleWatch(object, attribute)}, "Watch");
    acts.append(attribute.watchButton);
  }
  if (!attribute.readonly) acts.append(make("button", {class: "quiet", onclick: () =>
    setAttribute(object, attribute, value)}, "Set"));
  acts.append(make("button", {class: "quiet", title: "Read again", onclick: async () =>
    attribute.show(await call(object.reference, `_get_${attribute.name}`, "[]"))}, "Read"));
  return row;
}

function setAttribute(object, attribute, place) {
  const id = `field-${++ids}`;
  const input = field(attribute.form, id, attribute.value);
  const note = make("div");
  const form = make("form", {class: "joined", onsubmit: async (event) => {
    event.preventDefault();
    let values;
    try {
      values = argumentsOf([{name: attribute.name, json: input.json}]);
    } catch (wrong) {
      note.replaceChildren(trouble({error: wrong.message}));
      return;
    }
    const answer = await call(object.reference, `_set_${attribute.name}`, values);
    const wrong = trouble(answer);
    if (wrong) note.replaceChildren(wrong);
    else attribute.show(await call(object.reference, `_get_${attribute.name}`, "[]"));
  }}, make("label", {class: "hidden", for: id}, attribute.name), input.element,
      make("button", {class: "main"}, "Set"),
      make("button", {type: "button", onclick: async () =>
        attribute.show(await call(object.reference, `_get_${attribute.name}`, "[]"))}, "Cancel"));
  place.replaceChildren(form, note);
  byId(id).focus();
}

async function readAll(object) {
  const answer = await ask("read", {object: object.reference,
                                    attributes: object.attributes.slice(0, 256).map((one) => one.name)});
  for (const attribute of object.attributes)
    if (answer.values?.[attribute.name]) attribute.show(answer.values[attribute.name]);
    else if (!answer.values) attribute.show(answer);
}

function operationsCard(object) {
  if (!object.operations.length) return null;
  return make("section", {class: "card", "aria-label": "Operations"},
    make("div", {class: "bar"}, make("h3", {}, "Operations")),
    make("div", {}, object.operations.map((operation) => operationForm(object, operation))));
}

function operationForm(object, operation) {
  const given = operation.parameters.filter((one) => one.form);
  const answerPlace = make("div", {class: "answer"});
  const fields = given.map((one) => {
    const id = `field-${++ids}`;
    return {name: one.name, id, parameter: one, ...field(one.form, id)};
  });
  const button = make("button", {class: "main"}, operation.oneway ? "Send" : "Call");
  const took = make("span", {role: "status"});
  const form = make("form", {onsubmit: async (event) => {
    event.preventDefault();
    let values;
    try {
      values = argumentsOf(fields);
    } catch (wrong) {
      answerPlace.replaceChildren(trouble({error: wrong.message}));
      return;
    }
    button.disabled = true;
    took.textContent = "waiting for the object…";
    const answer = await call(object.reference, operation.wire, values);
    button.disabled = false;
    took.textContent = answer.ms === undefined ? "" : `${answer.ms.toPrecision(3)} ms`;
    answerPlace.replaceChildren(...showAnswer(operation, answer));
  }}, fields.length ? make("div", {class: "fields"}, fields.map((one) => [
        make("label", {for: one.id}, one.name, make("small", {}, `${one.parameter.direction} ${one.parameter.type}`)),
        make("div", {}, one.element)])) : null,
      make("div", {class: "send"}, button, took));
  return make("details", {class: "operation", "data-operation": operation.wire},
    make("summary", {}, idlLine(operation.idl, operation.name)), form, answerPlace);
}

function showAnswer(operation, answer) {
  const wrong = trouble(answer);
  if (wrong) return [wrong];
  const results = [];
  if ("result" in answer) results.push(["result", answer.result]);
  for (const [name, value] of Object.entries(answer.out ?? {})) results.push([name, value]);
  if (!results.length)
    return [make("div", {class: "result"}, answer.sent ? "Sent; a oneway has no answer." : "Done.")];
  return results.map(([name, value]) => make("div", {class: "result"},
    make("h3", {}, name, make("button", {class: "quiet", type: "button", onclick: () =>
      save(`${operation.name}_${name}.json`, print(value, 2) + "\n", "application/json")}, "Save JSON")),
    showValue(value, `${operation.name}_${name}`)));
}

// --- Names ---------------------------------------------------------------------------------------

const tree = byId("tree");

function branch({name, object, path, context}) {
  const item = make("div", {role: "treeitem", tabindex: "-1", "aria-selected": "false", "data-name": name});
  const mark = make("span", {class: "mark"}, context ? "▸" : make("span", {class: "dot"}));
  item.append(make("div", {class: "node", title: name}, mark, make("span", {class: "name"}, name || "(no name)")));
  item.label = path ?? name;
  if (context) {
    item.setAttribute("aria-expanded", "false");
    item.group = make("div", {role: "group", hidden: true});
    item.append(item.group);
    item.toggle = async (wanted) => {
      const open = wanted ?? item.getAttribute("aria-expanded") === "false";
      item.setAttribute("aria-expanded", String(open));
      mark.textContent = open ? "▾" : "▸";
      item.group.hidden = !open;
      if (open) await fill(item.group, path);
    };
    item.activate = () => item.toggle();
  } else {
    item.activate = () => {
      for (const other of tree.querySelectorAll('[aria-selected="true"]')) other.setAttribute("aria-selected", "false");
      item.setAttribute("aria-selected", "true");
      openObject(object ?? `name:${path}`, item.label);
    };
  }
  item.firstChild.addEventListener("click", () => {
    item.focus();
    item.activate();
  });
  return item;
}

// Lists a context each time it is opened: names come and go.
async function fill(group, path) {
  if (!group.childNodes.length) group.append(make("div", {class: "branch-note"}, "…"));
  const answer = await ask("names", {path});
  const wrong = answer.error ?? (answer.failure && `${answer.failure.name}: ${answer.failure.meaning}`);
  if (wrong) {
    group.replaceChildren(make("div", {class: "branch-note wrong", role: "alert"}, wrong));
    return;
  }
  answer.bindings.sort((a, b) => b.context - a.context || a.name.localeCompare(b.name, undefined, {numeric: true}));
  group.replaceChildren(...answer.bindings.map(branch));
  if (!answer.bindings.length) group.append(make("div", {class: "branch-note"}, "no names"));
  if (answer.more) group.append(make("div", {class: "branch-note"}, "… and more than are shown here"));
  filterTree();
}

function filterTree() {
  const wanted = byId("filter").value.toLowerCase();
  const visit = (item) => {
    let any = item.dataset.name.toLowerCase().includes(wanted);
    for (const below of item.group?.children ?? [])
      if (below.dataset.name !== undefined && visit(below)) any = true;
    item.hidden = !any;
    return any;
  };
  for (const item of tree.children) if (item.dataset.name !== undefined) visit(item);
}

tree.addEventListener("keydown", (event) => {
  const items = [...tree.querySelectorAll('[role="treeitem"]')].filter((item) => item.offsetParent);
  const at = items.indexOf(document.activeElement);
  if (at < 0) return;
  const item = items[at];
  const expanded = item.getAttribute("aria-expanded");
  switch (event.key) {
  case "ArrowDown": items[at + 1]?.focus(); break;
  case "ArrowUp": items[at - 1]?.focus(); break;
  case "Home": items[0].focus(); break;
  case "End": items.at(-1).focus(); break;
  case "ArrowRight":
    if (expanded === "false") item.toggle(true);
    else if (expanded === "true") items[at + 1]?.focus();
    break;
  case "ArrowLeft":
    if (expanded === "true") item.toggle(false);
    else item.parentElement.closest('[role="treeitem"]')?.focus();
    break;
  case "Enter":
  case " ": item.activate(); break;
  default: return;
  }
  event.preventDefault();
});
tree.addEventListener("focusin", (event) => {
  for (const item of tree.querySelectorAll('[tabindex="0"]')) item.tabIndex = -1;
  event.target.tabIndex = 0;
});

// --- Figures over time ---------------------------------------------------------------------------

const SAMPLES = 3600; // of each figure that are kept
const watched = new Map();
let timer = null;
let isPaused = false;

const keyOf = (object, attribute) => `${object.reference}\n${attribute.name}`;
const isWatched = (object, attribute) => watched.has(keyOf(object, attribute));

// A counter only grows: what one wants to see is how fast.
const looksLikeCounter = (attribute) => /count|octets|pkts|packets|requests|errors|discards|total/i.test(
  `${attribute.name} ${attribute.type}`);

function toggleWatch(object, attribute) {
  const key = keyOf(object, attribute);
  if (watched.has(key)) {
    unwatch(key);
    return;
  }
  const series = {key, reference: object.reference, label: object.label, attribute: attribute.name,
                  button: attribute.watchButton, samples: [], isRate: looksLikeCounter(attribute), wrong: ""};
  watched.set(key, series);
  attribute.watchButton.setAttribute("aria-pressed", "true");
  buildPlot(series);
  byId("plots").append(series.element);
  byId("watch").hidden = false;
  poll();
}

function unwatch(key) {
  const series = watched.get(key);
  series.element.remove();
  watched.delete(key);
  for (const attribute of opened?.attributes ?? [])
    if (keyOf(opened, attribute) === key) attribute.watchButton.setAttribute("aria-pressed", "false");
  byId("watch").hidden = watched.size === 0;
}

function plain(value) {
  if (typeof value === "boolean") return value ? 1 : 0;
  return Number(value);
}

// The next round begins when all have answered: slow objects are not asked faster than they answer.
let isPolling = false;
async function poll() {
  clearTimeout(timer);
  if (isPolling) return;
  isPolling = true;
  const byObject = Map.groupBy ? Map.groupBy(watched.values(), (one) => one.reference) : groups();
  await Promise.all([...byObject].map(async ([reference, all]) => {
    const answer = await ask("read", {object: reference, attributes: [...new Set(all.map((one) => one.attribute))]});
    const at = Date.now();
    for (const series of all) {
      const value = answer.values?.[series.attribute] ?? answer;
      series.wrong = value.failure ? value.failure.name : value.exception ? value.exception.name : value.error ?? "";
      series.samples.push({at, value: series.wrong ? null : value.result});
      if (series.samples.length > SAMPLES) series.samples.shift();
      if (watched.has(series.key)) drawPlot(series);
    }
  }));
  isPolling = false;
  if (watched.size && !isPaused) timer = setTimeout(poll, Number(byId("interval").value));
}

function groups() {
  const all = new Map();
  for (const series of watched.values())
    all.set(series.reference, [...(all.get(series.reference) ?? []), series]);
  return all;
}

// Points in the unit that is shown; null where there was no answer.
function pointsOf(series) {
  if (!series.isRate) return series.samples.map(({at, value}) => ({at, y: value === null ? null : plain(value)}));
  const points = [];
  for (let i = 1; i < series.samples.length; ++i) {
    const [before, now] = [series.samples[i - 1], series.samples[i]];
    const seconds = (now.at - before.at) / 1000;
    let y = null;
    if (before.value !== null && now.value !== null && seconds > 0) {
      const grown = typeof now.value === "bigint" || typeof before.value === "bigint"
        ? Number(BigInt(now.value) - BigInt(before.value)) : plain(now.value) - plain(before.value);
      y = grown / seconds;
    }
    points.push({at: now.at, y});
  }
  return points;
}

// As many digits as one can take in; whole numbers have all of theirs.
const whole = new Intl.NumberFormat("en", {maximumFractionDigits: 0});
const precise = new Intl.NumberFormat("en", {maximumSignificantDigits: 5});
const formatter = {format: (value) => typeof value === "bigint" || Number.isInteger(value) || Math.abs(value) >= 10000
  ? whole.format(value) : precise.format(value)};
const short = new Intl.NumberFormat("en", {notation: "compact", maximumSignificantDigits: 3});
const clock = (at) => new Date(at).toLocaleTimeString([], {hour12: false});

function buildPlot(series) {
  series.now = make("div", {class: "now"}, "…");
  series.picture = draw("svg", {role: "img", viewBox: "0 0 320 120", preserveAspectRatio: "none"});
  const rate = make("button", {class: "quiet", "aria-pressed": String(series.isRate), title: "Change per second",
    onclick: () => {
      series.isRate = !series.isRate;
      rate.setAttribute("aria-pressed", String(series.isRate));
      drawPlot(series);
    }}, "per s");
  series.element = make("figure", {class: "plot", "data-plot": series.attribute},
    make("div", {class: "what"}, make("span", {class: "name"}, series.attribute),
      make("span", {class: "of", title: series.label}, series.label), make("span", {class: "space"}), rate,
      make("button", {class: "quiet", "aria-label": `Stop watching ${series.attribute}`,
                      onclick: () => unwatch(series.key)}, "✕")),
    series.now, series.picture);
  series.element.classList.add("plot");
  series.picture.addEventListener("pointermove", (event) => {
    const box = series.picture.getBoundingClientRect();
    series.pointer = (event.clientX - box.left) / box.width;
    drawPlot(series);
  });
  series.picture.addEventListener("pointerleave", () => {
    series.pointer = null;
    drawPlot(series);
  });
}

function drawPlot(series) {
  const points = pointsOf(series);
  const known = points.filter((point) => point.y !== null && Number.isFinite(point.y));
  const unit = series.isRate ? make("small", {}, "per second") : null;
  const last = series.samples.at(-1);
  series.now.classList.toggle("wrong", series.wrong !== "");
  if (series.wrong) series.now.replaceChildren(series.wrong);
  else if (series.isRate) series.now.replaceChildren(known.length ? formatter.format(known.at(-1).y) : "…", unit);
  else series.now.replaceChildren(last.value === true || last.value === false ? String(last.value)
    : typeof last.value === "string" ? last.value : formatter.format(last.value));

  const width = Math.max(200, series.picture.clientWidth || 320), height = 120;
  const left = 4, right = width - 46, top = 8, bottom = height - 18;
  series.picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  if (!known.length) {
    series.picture.replaceChildren();
    return;
  }
  let low = Math.min(...known.map((point) => point.y)), high = Math.max(...known.map((point) => point.y));
  series.picture.setAttribute("aria-label", `${series.attribute}: from ${formatter.format(low)} to ` +
    `${formatter.format(high)}, now ${formatter.format(known.at(-1).y)}`);
  if (series.isRate && low > 0) low = 0;
  const isFlat = low === high;
  if (isFlat) [low, high] = [low - 1, high + 1];
  const begin = points[0].at, end = Math.max(points.at(-1).at, begin + 1);
  const x = (at) => left + (right - left) * (at - begin) / (end - begin);
  const y = (value) => bottom - (bottom - top) * (value - low) / (high - low);
  const tick = short.format(low) === short.format(high) ? formatter.format : short.format;
  const parts = [low, (low + high) / 2, high].flatMap((value) => [
    draw("line", {class: "grid", x1: left, x2: right, y1: y(value), y2: y(value)}),
    isFlat && value !== (low + high) / 2 ? null
      : draw("text", {x: right + 5, y: y(value) + 3.5}, tick(value))]).filter(Boolean);
  let path = "", area = "", from = null, to = null;
  const close = () => {
    if (from !== null) area += `L${to} ${bottom}L${from} ${bottom}Z`;
    from = null;
  };
  for (const point of points) {
    if (point.y === null || !Number.isFinite(point.y)) {
      close();
      continue;
    }
    const at = `${x(point.at).toFixed(1)} ${y(point.y).toFixed(1)}`;
    path += `${from === null ? "M" : "L"}${at}`;
    area += `${from === null ? "M" : "L"}${at}`;
    if (from === null) from = x(point.at).toFixed(1);
    to = x(point.at).toFixed(1);
  }
  close();
  parts.push(draw("path", {class: "area", d: area}), draw("path", {class: "line", d: path}),
    draw("circle", {class: "end", cx: x(known.at(-1).at), cy: y(known.at(-1).y), r: 3}),
    draw("text", {x: left, y: height - 4}, clock(begin)),
    draw("text", {x: right, y: height - 4, "text-anchor": "end"}, clock(end)));
  if (series.pointer !== null && series.pointer !== undefined) {
    const wanted = series.pointer * width;
    const near = known.reduce((best, point) =>
      Math.abs(x(point.at) - wanted) < Math.abs(x(best.at) - wanted) ? point : best);
    const isRight = x(near.at) > width / 2;
    parts.push(draw("line", {class: "cursor", x1: x(near.at), x2: x(near.at), y1: top, y2: bottom}),
      draw("text", {class: "reading", x: x(near.at) + (isRight ? -6 : 6), y: top + 10,
                    "text-anchor": isRight ? "end" : "start"}, `${clock(near.at)}  ${formatter.format(near.y)}`));
  }
  series.picture.replaceChildren(...parts);
}

function watchCsv() {
  const all = [...watched.values()];
  const times = [...new Set(all.flatMap((series) => series.samples.map((sample) => sample.at)))].sort((a, b) => a - b);
  const by = all.map((series) => new Map(series.samples.map((sample) => [sample.at, sample.value])));
  return csvOf(["time", ...all.map((series) => `${series.label} ${series.attribute}`)],
    times.map((at) => [new Date(at).toISOString(), ...by.map((values) => values.get(at))]));
}

byId("interval").addEventListener("change", poll);
byId("pause").addEventListener("click", () => {
  isPaused = !isPaused;
  byId("pause").setAttribute("aria-pressed", String(isPaused));
  if (isPaused) clearTimeout(timer);
  else poll();
});
byId("watch-csv").addEventListener("click", () => save("watched.csv", watchCsv()));
byId("unwatch").addEventListener("click", () => [...watched.keys()].forEach(unwatch));

// --- The beginning -------------------------------------------------------------------------------

byId("go").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = byId("reference").value.trim();
  if (text) openObject(text, text.length > 60 ? `${text.slice(0, 57)}…` : text);
});
byId("filter").addEventListener("input", filterTree);
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey ||
      /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName)) return;
  event.preventDefault();
  byId("filter").focus();
});
addEventListener("hashchange", () => {
  const before = token;
  token = takeToken();
  if (token !== before) begin();
});

async function begin() {
  const answer = await ask("roots", {});
  const wrong = trouble(answer);
  tree.replaceChildren();
  if (wrong) {
    byId("object").replaceChildren(wrong);
    return;
  }
  tree.append(...answer.references.map(({name, object}) => branch(
    {name: name || (object.length > 40 ? `${object.slice(0, 37)}…` : object), object})));
  if (answer.names) {
    const root = branch({name: "Naming Service", path: "", context: true});
    tree.append(root);
    await root.toggle(true);
  } else if (!answer.references.length) {
    byId("side-note").textContent =
      "There is no Naming Service: -ORBInitRef NameService=… names one. References can be opened above.";
  }
  const first = tree.querySelector('[role="treeitem"]');
  if (first) first.tabIndex = 0;
}

begin();
