"use strict";

// All values come from cache workers and object stores. They are inserted as text only.

const SOURCES = [
  ["ram_hit_bytes", "RAM of the same host"],
  ["ssd_hit_bytes", "SSD of the same host"],
  ["non_local_hit_bytes", "Cache workers of other hosts (non-local)"],
  ["remote_read_bytes", "Object store, into the cache (remote read)"],
  ["bypass_bytes", "Object store, bypassing the cache"],
];
const UNKNOWN = "-";
const MAX_BUCKETS = 120;
const MAX_HOSTS_IN_TEXT = 5;
const MIN_STALE_MILLIS = 30000;
const REQUEST_TIMEOUT_MILLIS = 15000;

const byId = id => document.getElementById(id);

// ---- quantities, written as the other commands of cache-admin write them

function bytes(value) {
  if (value === undefined) {
    return UNKNOWN;
  }
  const units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
  let scaled = value;
  let unit = 0;
  while (Math.abs(scaled) >= 1023.95 && unit < units.length - 1) {
    scaled /= 1024;
    unit++;
  }
  return unit === 0 ? `${value}\u00a0B` : `${scaled.toFixed(1)}\u00a0${units[unit]}`;
}

function count(value) {
  return value.toLocaleString("en");
}

function percent(part, all) {
  return all > 0 ? `${(part / all * 100).toFixed(1)}%` : UNKNOWN;
}

function duration(millis) {
  if (millis === undefined) {
    return UNKNOWN;
  }
  const seconds = Math.floor(millis / 1000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (days > 0) {
    return `${days}d ${hours % 24}h`;
  }
  if (hours > 0) {
    return `${hours}h ${minutes % 60}m`;
  }
  return minutes > 0 ? `${minutes}m ${seconds % 60}s` : `${seconds}s`;
}

function clock(millis, withSeconds) {
  return new Date(millis).toLocaleTimeString([], {hour: "2-digit", minute: "2-digit", second: withSeconds ? "2-digit" : undefined});
}

function plural(number, word) {
  return number === 1 ? `1 ${word}` : `${count(number)} ${word}s`;
}

function hostList(hosts) {
  const shown = hosts.slice(0, MAX_HOSTS_IN_TEXT).join(", ");
  return hosts.length > MAX_HOSTS_IN_TEXT ? `${shown} and ${plural(hosts.length - MAX_HOSTS_IN_TEXT, "other")}` : shown;
}

// ---- changes of the page: only of what differs, so that nothing flickers, and selections and the focus stay

function setText(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

function setClass(element, name, on) {
  if (element.classList.contains(name) !== on) {
    element.classList.toggle(name, on);
  }
}

function setAttribute(element, name, value) {
  if (element.getAttribute(name) !== value) {
    element.setAttribute(name, value);
  }
}

function resize(parent, length, create) {
  while (parent.children.length > length) {
    parent.lastElementChild.remove();
  }
  while (parent.children.length < length) {
    parent.append(create());
  }
}

/** Returns the child with a class, which it creates where it is missing. */
function part(parent, tag, name) {
  for (const child of parent.children) {
    if (child.classList.contains(name)) {
      return child;
    }
  }
  const child = document.createElement(tag);
  child.className = name;
  parent.append(child);
  return child;
}

/**
 * Shows rows in a part of a table.
 *
 * @param rows lists of cells; a cell has a text, and may have a detail, the filled share of a bar, the class of a swatch, and whether it is bad
 */
function fill(body, rows) {
  const labels = [...body.closest("table").querySelectorAll("thead th")].map(header => header.textContent);
  resize(body, rows.length, () => {
    const row = document.createElement("tr");
    row.setAttribute("role", "row");
    labels.forEach((label, index) => {
      const cell = document.createElement(index === 0 ? "th" : "td");
      cell.setAttribute("role", index === 0 ? "rowheader" : "cell");
      if (index === 0) {
        cell.setAttribute("scope", "row");
      }
      else {
        cell.dataset.label = label;
      }
      row.append(cell);
    });
    return row;
  });
  rows.forEach((cells, rowIndex) => {
    cells.forEach((cell, index) => fillCell(body.children[rowIndex].children[index], cell));
  });
}

function fillCell(element, cell) {
  setClass(element, "bad", Boolean(cell.bad));
  if (cell.bar === undefined && cell.detail === undefined && cell.swatch === undefined) {
    setText(element, cell.text);
    return;
  }
  if (element.children.length === 0) {
    element.textContent = "";
    // one child, as a cell is a grid on narrow screens
    part(element, "div", "content");
  }
  const content = element.firstElementChild;
  if (cell.swatch !== undefined) {
    const swatch = part(content, "span", "swatch");
    setAttribute(swatch, "aria-hidden", "true");
    setClass(swatch, cell.swatch, true);
  }
  setText(part(content, "span", "text"), cell.text);
  if (cell.bar !== undefined) {
    const bar = part(content, "div", "bar");
    setAttribute(bar, "aria-hidden", "true");
    const filled = part(bar, "span", "fill");
    setClass(filled, cell.barClass, true);
    setWidth(filled, cell.bar);
  }
  if (cell.detail !== undefined) {
    setText(part(content, "span", "detail"), cell.detail);
  }
}

function setWidth(element, share) {
  const width = `${(Math.min(1, Math.max(0, share || 0)) * 100).toFixed(2)}%`;
  if (element.style.width !== width) {
    element.style.width = width;
  }
}

// ---- the sections

function showState(data) {
  const state = byId("state");
  if (!data.sampled) {
    return;
  }
  const skew = data.versions.length > 1;
  const problems = data.problems.length;
  let text = `${data.running} of ${plural(data.hosts, "cache worker")} ${data.running === 1 ? "is" : "are"} RUNNING, `;
  text += problems === 0 ? "no problems" : plural(problems, "problem");
  if (skew) {
    text += ", different versions";
  }
  const bad = data.running < data.hosts || problems > 0 || skew;
  setText(state, text);
  setClass(state, "bad", bad);
  const title = `cachedhive: ${data.running} of ${data.hosts} running${problems > 0 ? `, ${plural(problems, "problem")}` : ""}`;
  if (document.title !== title) {
    document.title = title;
  }
}

function showProblems(data) {
  byId("problems").hidden = data.problems.length === 0;
  const list = byId("problem-list");
  resize(list, data.problems.length, () => document.createElement("li"));
  data.problems.forEach((problem, index) => {
    const known = problem.hosts.length === 1 && problem.problem.includes(problem.hosts[0]);
    setText(list.children[index], known ? problem.problem : `${hostList(problem.hosts)}: ${problem.problem}`);
  });
}

function sum(points) {
  return points.reduce((total, point) => ({
    hits: total.hits + point[1],
    remote: total.remote + point[2],
    bypass: total.bypass + point[3],
  }), {hits: 0, remote: 0, bypass: 0});
}

function rate(total) {
  return percent(total.hits, total.hits + total.remote);
}

function showHitRate(data) {
  const points = data.history;
  const end = data.time_millis || data.started_millis;
  const begin = Math.max(data.started_millis, end - 3600000);
  const all = sum(points);
  const recent = sum(points.filter(point => point[0] > end - 300000));
  const minutes = Math.max(1, Math.round((end - begin) / 60000));
  const span = minutes === 60 ? "hour" : minutes === 1 ? "minute" : `${minutes} minutes`;
  const read = all.hits + all.remote + all.bypass;
  let text = read === 0
    ? `No reads in the last ${span}.`
    : `${rate(all)} of ${bytes(all.hits + all.remote)} in the last ${span}`;
  if (read > 0) {
    text += minutes > 5 ? `, ${rate(recent)} in the last 5 minutes.` : ".";
    if (all.bypass > 0) {
      text += ` Another ${bytes(all.bypass)} bypassed the cache.`;
    }
  }
  setText(byId("hit-rate"), text);

  // of a short time, the line begins at the left
  const from = Math.min(begin, end - 60000);
  // a read of the state takes time, too: each bucket is to have a point
  const width = Math.max(2 * data.interval_millis, (end - from) / MAX_BUCKETS);
  const buckets = new Map();
  for (const point of points) {
    const index = Math.floor((end - point[0]) / width);
    const bucket = buckets.get(index) || {hits: 0, all: 0};
    bucket.hits += point[1];
    bucket.all += point[1] + point[2];
    buckets.set(index, bucket);
  }
  const scale = 1000 / (end - from);
  let path = "";
  let last = null;
  for (const index of [...buckets.keys()].sort((left, right) => right - left)) {
    const bucket = buckets.get(index);
    if (bucket.all === 0) {
      last = null;
      continue;
    }
    const left = Math.max(0, 1000 - (index + 1) * width * scale);
    const right = 1000 - index * width * scale;
    const y = 100 - bucket.hits / bucket.all * 100;
    path += `${last !== null && last - index <= 2 ? "V" : `M${left.toFixed(1)} `}${y.toFixed(2)}H${right.toFixed(1)}`;
    last = index;
  }
  setAttribute(byId("line"), "d", path);
  setText(byId("chart-from"), clock(from, false));
  setText(byId("chart-to"), clock(end, false));

  const rows = [];
  const step = 300000;
  for (let until = end; until > begin; until -= step) {
    const total = sum(points.filter(point => point[0] > until - step && point[0] <= until));
    rows.push([
      {text: `${clock(Math.max(begin, until - step), false)} to ${clock(until, false)}`},
      {text: rate(total)},
      {text: bytes(total.hits + total.remote + total.bypass)},
      {text: bytes(total.remote + total.bypass)},
    ]);
  }
  fill(byId("history"), rows);
}

function showSources(data) {
  const all = SOURCES.reduce((total, [name]) => total + data.bytes[name], 0);
  const since = data.since_millis === undefined ? "" : ` since ${new Date(data.since_millis).toLocaleString()}`;
  const cacheable = all - data.bytes.bypass_bytes;
  setText(byId("sources-since"), `${bytes(all)} read${since}, hit rate ${percent(data.hit_bytes, cacheable)}.`);
  const bar = byId("sources-bar");
  resize(bar, SOURCES.length, () => document.createElement("span"));
  SOURCES.forEach(([name], index) => {
    setAttribute(bar.children[index], "class", `fill ${name}`);
    setWidth(bar.children[index], all > 0 ? data.bytes[name] / all : 0);
  });
  fill(byId("sources"), SOURCES.map(([name, text]) => [
    {text, swatch: name},
    {text: bytes(data.bytes[name])},
    {text: percent(data.bytes[name], all)},
  ]));
}

function tier(used, capacity, barClass) {
  if (capacity === undefined) {
    return {text: UNKNOWN, bar: 0, barClass};
  }
  if (capacity === 0) {
    return {text: "None", bar: 0, barClass};
  }
  return {text: `${bytes(used)} of ${bytes(capacity)} (${percent(used, capacity)})`, bar: used / capacity, barClass};
}

function mostFrequentVersion(versions) {
  return versions.reduce((most, version) => most === null || version.hosts.length > most.hosts.length ? version : most, null);
}

function showWorkers(data) {
  const most = mostFrequentVersion(data.versions);
  const skew = data.versions.length > 1;
  const versions = byId("versions");
  if (skew) {
    const parts = data.versions.map(version => `${version.version} on ${hostList(version.hosts)}`);
    setText(versions, `Different versions: ${parts.join("; ")}. Complete the upgrade with cache-admin upgrade, or return to one version with cache-admin rollback.`);
  }
  else {
    setText(versions, most === null ? "" : `Version ${most.version}.`);
  }
  setClass(versions, "bad", skew);

  fill(byId("workers"), data.workers.map(worker => {
    const hasBytes = worker.hit_bytes !== undefined;
    const cacheable = hasBytes ? worker.hit_bytes + worker.remote_bytes : 0;
    const other = skew && worker.version !== undefined && worker.version !== most.version;
    return [
      {text: worker.host, detail: worker.zone === undefined ? "" : `zone ${worker.zone}`},
      {text: worker.state, bad: worker.state !== "RUNNING"},
      tier(worker.ram_used_bytes, worker.ram_capacity_bytes, "ram_hit_bytes"),
      tier(worker.ssd_used_bytes, worker.ssd_capacity_bytes, "ssd_hit_bytes"),
      {text: hasBytes ? bytes(cacheable + worker.bypass_bytes) : UNKNOWN},
      {text: percent(worker.hit_bytes, cacheable)},
      {text: worker.version === undefined ? UNKNOWN : worker.version + (other ? " (differs)" : ""), bad: other},
      {text: duration(worker.uptime_millis)},
    ];
  }));

  const total = name => data.workers.reduce((all, worker) => all + (worker[name] || 0), 0);
  const hits = total("hit_bytes");
  const remote = total("remote_bytes");
  fill(byId("workers-total"), data.workers.length < 2 ? [] : [[
    {text: "Total"},
    {text: `${data.running} of ${data.hosts}`},
    tier(total("ram_used_bytes"), total("ram_capacity_bytes"), "ram_hit_bytes"),
    tier(total("ssd_used_bytes"), total("ssd_capacity_bytes"), "ssd_hit_bytes"),
    {text: bytes(hits + remote + total("bypass_bytes"))},
    {text: percent(hits, hits + remote)},
    {text: ""},
    {text: ""},
  ]]);
}

function showTables(data) {
  const top = data.tables.top;
  const clusters = new Set(top.map(table => table.cluster));
  let note = top.length === 0 ? "No table has been read." : "";
  if (data.tables.count > top.length) {
    note = `The first ${top.length} of ${count(data.tables.count)} tables.`;
  }
  if (data.tables.missing.length > 0) {
    note += ` Without the reads of ${hostList(data.tables.missing)}.`;
  }
  setText(byId("tables-note"), note.trim());
  byId("tables-table").hidden = top.length === 0;
  fill(byId("tables"), top.map(table => {
    const cacheable = table.hit_bytes + table.remote_bytes;
    return [
      {text: `${table.catalog}.${table.table}`, detail: clusters.size > 1 ? `cluster ${table.cluster}` : ""},
      {text: bytes(cacheable + table.bypass_bytes)},
      {text: percent(table.hit_bytes, cacheable)},
      {text: bytes(table.remote_bytes + table.bypass_bytes)},
      {text: count(table.requests)},
    ];
  }));
}

function metric(line) {
  return line.name.endsWith("_bytes") ? bytes(line.value) : count(line.value);
}

function showStore(data) {
  fill(byId("store"), data.object_store.map(line => [{text: line.description}, {text: metric(line)}]));
}

function showDisks(data) {
  const faults = data.disks.filter(line => !line.normal && line.value > 0);
  setText(byId("disks-note"), faults.length === 0 ? "No disk errors." : "");
  fill(byId("disks"), data.disks.map(line => {
    const hosts = line.hosts.length === 0 ? "" : hostList(line.hosts.map(host => `${host.host}: ${count(host.value)}`));
    return [
      {text: line.description, detail: line.normal ? "normal: the SSD tier keeps what is requested more often" : hosts},
      {text: count(line.value), bad: !line.normal && line.value > 0},
    ];
  }));
}

// ---- refresh

let received = null;
let problem = null;
let paused = false;
let timer = null;

function showAge() {
  const stale = byId("stale");
  let text = problem === null ? "" : problem;
  if (received !== null && received.data.sampled) {
    const age = received.data.age_millis + performance.now() - received.at;
    if (problem !== null || age > Math.max(MIN_STALE_MILLIS, 4 * received.data.interval_millis)) {
      // the time and not the age: screen readers would repeat a text that changes
      text += ` The values below are from ${clock(received.timeMillis, true)}${paused ? ", because the refresh is paused" : ""}.`;
    }
  }
  setText(stale, text.trim());
  stale.hidden = text === "";
}

function show(data) {
  showState(data);
  if (!data.sampled) {
    return;
  }
  setText(byId("updated"), `Updated ${clock(received.timeMillis, true)}`);
  showProblems(data);
  showHitRate(data);
  showSources(data);
  showWorkers(data);
  showTables(data);
  showStore(data);
  showDisks(data);
  document.body.dataset.shown = "true";
}

async function refresh() {
  clearTimeout(timer);
  try {
    const response = await fetch("/ui/data", {signal: AbortSignal.timeout(REQUEST_TIMEOUT_MILLIS)});
    if (response.status === 401) {
      problem = "This address is not valid any more. Open the one that cache-admin ui printed last.";
    }
    else if (!response.ok) {
      problem = `cache-admin ui failed to answer (HTTP ${response.status}).`;
    }
    else {
      const data = await response.json();
      // by the clock of the browser
      received = {data, at: performance.now(), timeMillis: Date.now() - data.age_millis};
      problem = null;
      show(received.data);
    }
  }
  catch (error) {
    problem = "cache-admin ui does not answer. Start it again, and open the address that it prints.";
    console.error(error);
  }
  showAge();
  schedule();
}

function schedule() {
  clearTimeout(timer);
  if (!paused && !document.hidden) {
    const interval = received === null || !received.data.sampled ? 1000 : Math.max(1000, received.data.interval_millis);
    timer = setTimeout(refresh, interval);
  }
}

byId("pause").addEventListener("click", () => {
  paused = !paused;
  byId("pause").setAttribute("aria-pressed", String(paused));
  if (paused) {
    clearTimeout(timer);
  }
  else {
    refresh();
  }
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && !paused) {
    refresh();
  }
});
// the token is in the cookie, and not needed in the address and its bookmarks
history.replaceState(null, "", "/ui");
setInterval(showAge, 1000);
refresh();
