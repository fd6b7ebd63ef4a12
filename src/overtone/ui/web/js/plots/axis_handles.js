/** What can be done with an axis of parallel coordinates: brush it, move it; by mouse, finger and keyboard. */

import { html, useRef } from "../html.js";
import { t } from "../i18n.js";

/**
 * @typedef {[low: number, high: number]} Brush  Heights; below 0 is the place of missing values.
 * @typedef {object} HandleProps
 * @property {import("./parallel_axes.js").ParallelAxis} axis
 * @property {number} x
 * @property {number} room      The width of the name.
 * @property {number} top       Of height 1.
 * @property {number} height    Of the axis, in pixels.
 * @property {number} bottom    The lowest height that can be brushed.
 * @property {Brush | undefined} brush
 * @property {string} text      Of the brush.
 * @property {(brush: Brush | null) => void} onBrush
 * @property {(by: number) => void} onMove  Moves the axis by so many places.
 * @property {number} spacing   Between axes.
 */

const EDGE = 8;
const STEP = 0.05;

/** @param {HandleProps} props */
export function AxisHandle({ axis, x, room, top, height, bottom, brush, text, onBrush, onMove, spacing }) {
  const now = useRef(brush);
  now.current = brush;
  const clamp = (/** @type {number} */ at) => Math.max(bottom, Math.min(1, at));
  const down = (/** @type {PointerEvent} */ event) => {
    if (event.button !== 0) return;
    event.stopPropagation();
    const element = /** @type {HTMLElement} */ (event.currentTarget);
    const at = (/** @type {PointerEvent} */ one) => clamp(1 - (one.clientY - element.getBoundingClientRect().top) / height);
    const start = at(event);
    const before = now.current;
    const edge = EDGE / height;
    let kind = "new";
    if (before && Math.abs(start - before[0]) < edge) kind = "low";
    else if (before && Math.abs(start - before[1]) < edge) kind = "high";
    else if (before && start > before[0] && start < before[1]) kind = "move";
    let isMoved = false;
    const move = (/** @type {PointerEvent} */ next) => {
      const to = at(next);
      if (!isMoved && Math.abs(to - start) * height < 3) return;
      isMoved = true;
      if (kind === "new" || !before) onBrush([Math.min(start, to), Math.max(start, to)]);
      else if (kind === "low") onBrush([Math.min(to, before[1]), Math.max(to, before[1])]);
      else if (kind === "high") onBrush([Math.min(to, before[0]), Math.max(to, before[0])]);
      else {
        const by = Math.max(bottom - before[0], Math.min(1 - before[1], to - start));
        onBrush([before[0] + by, before[1] + by]);
      }
    };
    follow(element, event, move, () => {
      if (!isMoved) onBrush(null);
    });
  };
  const key = (/** @type {KeyboardEvent} */ event) => {
    const by = event.key === "ArrowUp" ? STEP : event.key === "ArrowDown" ? -STEP : 0;
    if (event.key === "Escape" || event.key === "Delete") onBrush(null);
    else if (by) {
      // The first press takes the better half of the way; then the brush moves, with Shift its upper end.
      const [low, high] = now.current ?? (by > 0 ? [0.5, 1] : [bottom, 0.5]);
      if (!now.current) onBrush([low, high]);
      else if (event.shiftKey) onBrush([low, clamp(Math.max(low + STEP, high + by))]);
      else if (low + by >= bottom - 1e-9 && high + by <= 1 + 1e-9) onBrush([low + by, high + by]);
    } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") onMove(event.key === "ArrowLeft" ? -1 : 1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const drag = (/** @type {PointerEvent} */ event) => {
    if (event.button !== 0) return;
    event.stopPropagation();
    const element = /** @type {HTMLElement} */ (event.currentTarget);
    let by = 0;
    follow(element, event, (next) => {
      by = Math.round((next.clientX - event.clientX) / spacing);
      element.style.transform = `translateX(${next.clientX - event.clientX}px)`;
    }, () => {
      element.style.transform = "";
      if (by) onMove(by);
    });
  };
  const [low, high] = brush ?? [0, 0];
  return html`<div class="axis-name" style=${{ left: `${x - room / 2}px`, width: `${room}px` }} title=${t("plots.axis_move", { name: axis.name })}
      onPointerDown=${drag}><bdi>${axis.name}</bdi></div>
    <div class="axis-handle" tabindex="0" role="slider" aria-orientation="vertical" aria-label=${t("plots.axis_brush", { name: axis.name })}
      aria-valuemin="0" aria-valuemax="100" aria-valuenow=${brush ? Math.round(50 * (Math.max(0, low) + high)) : 50}
      aria-valuetext=${text} style=${{ left: `${x - 14}px`, top: `${top}px`, height: `${height * (1 - bottom)}px` }}
      onPointerDown=${down} onKeyDown=${key} onClick=${(/** @type {Event} */ event) => event.stopPropagation()}>
      ${brush && html`<div class="axis-brush" style=${{ top: `${(1 - high) * height}px`, height: `${Math.max(2, (high - low) * height)}px` }} />`}
    </div>`;
}

/**
 * @param {HTMLElement} element
 * @param {PointerEvent} event
 * @param {(event: PointerEvent) => void} move
 * @param {() => void} end
 */
function follow(element, event, move, end) {
  const stop = () => {
    element.removeEventListener("pointermove", move);
    element.removeEventListener("pointerup", stop);
    element.removeEventListener("pointercancel", stop);
    end();
  };
  element.setPointerCapture(event.pointerId);
  element.addEventListener("pointermove", move);
  element.addEventListener("pointerup", stop);
  element.addEventListener("pointercancel", stop);
}
