/** Learning curves of up to 50 trials, exactly: zoom by dragging, one cursor for several plots. */

import uPlot from "uplot";
import { html, useLayoutEffect, useMemo, useRef, useState } from "../html.js";
import { number } from "../format.js";
import { t } from "../i18n.js";
import { isDark } from "../state.js";
import { joinedCurves } from "./curve_data.js";
import { colour, N_SERIES } from "./palette.js";
import { extent, spansDecades } from "./scales.js";

/** @typedef {import("./curve_data.js").Curve} Curve */

/** Distances of ticks between whole numbers. */
const WHOLE = Array.from({ length: 36 }, (_, i) => [1, 2, 5][i % 3] * 10 ** Math.floor(i / 3));

/**
 * @param {{series: Curve[], metric: string, height?: number, isLog?: boolean, sync?: string, xLabel?: string, isStepped?: boolean,
 *   onPick?: (curve: Curve) => void}} props  `isLog` is by default chosen by the values; plots with the same
 *   `sync` share their cursor.
 */
export function Curves({ series, metric, height = 260, isLog, sync, xLabel, isStepped = false, onPick }) {
  const ref = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [shown, setShown] = useState(/** @type {{index: number, curve: number} | null} */ (null));
  const data = useMemo(() => joinedCurves(series), [series]);
  const limits = useMemo(() => extent(data.columns, false), [data]);
  const log = (isLog ?? spansDecades(limits)) && !!limits && limits[1] > 0;
  const dark = isDark.value;
  const pick = useRef(onPick);
  pick.current = onPick;
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element || !limits) return undefined;
    const ink = colour("faint", dark);
    const axis = { stroke: ink, grid: { stroke: colour("grid", dark), width: 1 }, ticks: { show: false }, font: "12px system-ui, sans-serif" };
    const single = data.curves.length === 1;
    /** @type {any} */
    const options = {
      width: Math.max(200, element.clientWidth), height,
      legend: { show: false },
      scales: { x: { time: false }, y: { distr: log ? 3 : 1 } },
      axes: [{ ...axis, label: xLabel ?? t("plots.iteration"), labelSize: 20, labelFont: "12px system-ui, sans-serif", size: 32, space: 50,
        ...(data.x.every(Number.isInteger) ? { incrs: WHOLE } : {}) }, { ...axis, size: 64, space: 30,
        values: (/** @type {unknown} */ _, /** @type {(number|null)[]} */ ticks) => ticks.map((tick) => (tick === null ? "" : number(tick))) }],
      cursor: { focus: { prox: 24 }, drag: { x: true, y: false, uni: 20 }, points: { size: 8 }, ...(sync ? { sync: { key: sync, setSeries: false } } : {}) },
      focus: { alpha: single ? 1 : 0.3 },
      series: [{}, ...data.lines.map((line) => ({
        stroke: colour(single ? "trial" : `series${line.curve % N_SERIES}`, dark),
        width: line.isJoin ? 1 : 2, dash: line.isJoin ? [3, 4] : line.curve >= N_SERIES ? [8, 3] : undefined,
        points: { show: line.isJoin ? false : line.n === 1 },
        ...(isStepped ? { paths: uPlot.paths.stepped?.({ align: 1 }) } : {}),
      }))],
      hooks: {
        setCursor: [(/** @type {any} */ plot) => setShown((before) => {
          const index = plot.cursor.idx;
          const focused = plot.series.findIndex((/** @type {any} */ one, /** @type {number} */ i) => i && one._focus);
          const curve = focused > 0 ? data.lines[focused - 1].curve : single ? 0 : -1;
          if (index == null || plot.cursor.left < 0) return null;
          return before && before.index === index && before.curve === curve ? before : { index, curve };
        })],
      },
    };
    const plot = new uPlot(options, /** @type {any} */ ([data.x, ...data.columns]), element);
    const click = () => {
      const focused = plot.series.findIndex((one, i) => i && /** @type {any} */ (one)._focus);
      const line = data.lines[focused - 1] ?? (single ? data.lines[0] : undefined);
      if (line && !(plot.select.width > 0)) pick.current?.(series[line.curve]);
    };
    plot.over.addEventListener("click", click);
    const observer = new ResizeObserver(() => plot.setSize({ width: Math.max(200, element.clientWidth), height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [data, log, dark, height, sync, xLabel, isStepped]);
  if (!limits) return html`<p class="faint">${t("plots.no_values", { metric })}</p>`;
  return html`<div class="curves">
    <div ref=${ref} role="img" aria-label=${curvesSummary(series, metric)} />
    <p class="curves-readout" aria-live="off">${shown ? readout(data, shown, metric, xLabel) : t("plots.zoom_hint")}</p>
  </div>`;
}

/**
 * @param {Curve[]} series
 * @param {string} metric
 */
export function curvesSummary(series, metric) {
  const first = series[0];
  const values = first?.segments.flatMap((one) => one.value).filter((value) => value !== null) ?? [];
  const text = t("plots.curves_summary", { n: series.length, metric });
  if (series.length !== 1 || !values.length) return text;
  return `${text} ${t("plots.curve_ends", { first: number(values[0]), last: number(values[values.length - 1]) })}`;
}

/**
 * The values under the cursor.
 * @param {ReturnType<typeof joinedCurves>} data
 * @param {{index: number, curve: number}} shown
 * @param {string} metric
 * @param {string} [xLabel]
 */
function readout(data, { index, curve }, metric, xLabel) {
  const at = number(data.x[index], xLabel === undefined);
  const parts = [xLabel === undefined ? t("plots.at_iteration", { t: at }) : `${xLabel} ${at}`];
  const chosen = curve >= 0 ? [curve] : data.curves.keys();
  for (const i of chosen) {
    const column = data.lines.findIndex((line, j) => line.curve === i && !line.isJoin && data.columns[j][index] != null);
    if (column < 0) continue;
    const line = data.lines[column];
    parts.push(`${data.curves.length > 1 ? (data.curves[i].label ?? data.curves[i].id) : metric}: ${number(data.columns[column][index])}${line.label ? ` (${line.label})` : ""}`);
    if (parts.length > 6) break;
  }
  return parts.join(" · ");
}
