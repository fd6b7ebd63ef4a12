/** A scene in words and as a table, with the numbers that are drawn. */

import { number } from "../format.js";
import { t } from "../i18n.js";

/**
 * @typedef {import("./resolve.js").Scene} Scene
 * @typedef {import("./resolve.js").Axis} Axis
 */

const MOST_ROWS = 2000;

/**
 * One or two sentences for screen readers.
 * @param {string} name  Of the plot.
 * @param {Scene} scene
 * @returns {string}
 */
export function sceneSummary(name, scene) {
  if (scene.empty || !scene.panels.length) return scene.empty;
  const n = scene.panels.reduce((sum, panel) => panel.marks.reduce((all, mark) => all + sizeOf(mark), sum), 0);
  return sceneSays(name, scene) || t("plots.scene_summary", { title: scene.title, n });
}

/**
 * What a plot says in a sentence; "" for a plot that has none.
 * @param {string} name  Of the plot.
 * @param {Scene} scene
 * @returns {string}
 */
export function sceneSays(name, scene) {
  const marks = scene.panels.flatMap((panel) => panel.marks);
  const first = scene.panels[0];
  if (name === "param_importances") {
    const bars = marks.find((mark) => mark.type === "Bars");
    if (!bars || bars.type !== "Bars" || !bars.end.length) return "";
    const names = Array.from(bars.at, (at) => first.y.categories[Math.round(at)]);
    const text = t("plots.explains_most", { param: names[0], share: share(bars.end[0]) });
    if (names.length < 2 || !(bars.end[1] >= 0.005)) return text;
    return `${text} ${t("plots.then", { param: names[1], share: share(bars.end[1]) })}`;
  }
  if (name === "pareto_front") {
    const front = marks.find((mark) => mark.type === "Points" && mark.symbol === "diamond");
    if (front?.type === "Points") return t("plots.front_summary", { n: front.x.length });
  }
  if (name === "hypervolume_history") {
    const line = marks[0];
    if (line?.type === "Line") return t("plots.hypervolume_summary", { value: number(line.y[line.y.length - 1]), n: line.x[line.x.length - 1] + 1 });
  }
  if (name === "rungs") {
    const counts = scene.panels.filter(({ marks: [mark] }) => mark?.type === "Bars");
    return counts.map(({ title, x, marks: bars }) => {
      const reached = x.categories.map((level, i) => {
        const ends = bars.flatMap((mark) => (mark.type === "Bars" ? [...Array.from(mark.at).keys()].filter((j) => mark.at[j] === i).map((j) => mark.end[j]) : []));
        return t("plots.rung_reached", { level, n: Math.max(0, ...ends) });
      });
      return t("plots.rungs_summary", { title, reached: reached.join(", ") });
    }).join(" ");
  }
  if (name === "lineage") {
    const lives = marks.reduce((sum, mark) => sum + (mark.type === "Points" ? mark.x.length : 0), 0);
    return t("plots.lineage_summary", { n: lives });
  }
  return "";
}

/** @param {number} value */
function share(value) {
  return value >= 0.005 ? value.toFixed(2) : "<0.01";
}

/** @param {import("./marks.js").Mark} mark */
function sizeOf(mark) {
  if (mark.type === "Texts") return 0;
  if (mark.type === "Cells") return mark.shades.length;
  return mark.type === "Bars" ? mark.at.length : mark.x.length;
}

/**
 * @param {Scene} scene
 * @returns {{columns: import("../ui/table.js").TableColumn[], rows: any[]}}
 */
export function sceneTable(scene) {
  /** @type {any[]} */
  const rows = [];
  const hasTitles = scene.panels.length > 1;
  for (const panel of scene.panels) {
    const title = panel.title || [panel.x.title, panel.y.title].filter(Boolean).join(" / ");
    for (const mark of panel.marks) {
      const add = (/** @type {any} */ row) => rows.length < MOST_ROWS && rows.push({ panel: title, mark: "label" in mark ? mark.label : "", text: "", ...row });
      const text = (/** @type {number} */ i) => ("hover" in mark && Array.isArray(mark.hover) ? String(mark.hover[i] ?? "").split("\n")[0] : "");
      if (mark.type === "Points" || mark.type === "Line") {
        for (let i = 0; i < mark.x.length; i++) {
          if (mark.x[i] === mark.x[i]) add({ x: shown(panel.x, mark.x[i]), y: shown(panel.y, mark.y[i]), text: mark.type === "Line" ? mark.hover.split("\n")[0] : text(i) });
        }
      } else if (mark.type === "Bars") {
        for (let i = 0; i < mark.at.length; i++) {
          const along = shown(mark.is_horizontal ? panel.x : panel.y, mark.end[i] - (mark.start[i] || 0));
          const at = shown(mark.is_horizontal ? panel.y : panel.x, mark.at[i]);
          add({ x: mark.is_horizontal ? along : at, y: mark.is_horizontal ? at : along, text: text(i) });
        }
      } else if (mark.type === "Band") {
        for (let i = 0; i < mark.x.length; i++) add({ x: shown(panel.x, mark.x[i]), y: `${shown(panel.y, mark.low[i])} – ${shown(panel.y, mark.high[i])}` });
      } else if (mark.type === "Cells") {
        const wide = mark.x_edges.length - 1;
        for (let i = 0; i < mark.shades.length; i++) {
          if (mark.shades[i] !== mark.shades[i]) continue;
          const [row, column] = [Math.floor(i / wide), i % wide];
          add({
            x: shown(panel.x, middle(mark.x_edges, column)), y: shown(panel.y, middle(mark.y_edges, row)),
            text: text(i) || `${Math.round(mark.shades[i] * 100)} %`,
          });
        }
      }
    }
  }
  const columns = [
    ...(hasTitles ? [{ label: t("plots.panel"), key: "panel" }] : []),
    { label: t("plots.mark"), key: "mark" },
    { label: scene.panels[0]?.x.title || "x", key: "x", isNumber: true }, { label: scene.panels[0]?.y.title || "y", key: "y", isNumber: true },
    { label: t("plots.text"), key: "text" },
  ];
  return { columns: columns.filter((column) => rows.some((row) => row[/** @type {string} */ (column.key)] !== "")), rows };
}

/** @param {ArrayLike<number>} edges @param {number} i */
function middle(edges, i) {
  return edges[i] / 2 + edges[i + 1] / 2;
}

/**
 * @param {Axis} axis
 * @param {number} value
 */
function shown(axis, value) {
  if (axis.scale === "category") return axis.categories[Math.round(value)] ?? "";
  return Number.isFinite(value) ? number(value) : "";
}
