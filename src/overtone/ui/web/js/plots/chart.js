/** A canvas that draws at most once per frame, with a mark under the pointer or the keyboard's place. */

import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";
import { onFrame } from "../frame.js";
import { isDark, table } from "../state.js";
import { paint } from "./painter.js";
import { wantExact } from "./trials.js";

/**
 * The place of a drawing on the page.
 * @typedef {object} Frame
 * @property {{current: HTMLElement | null}} ref
 * @property {number} width   In CSS pixels; 0 before it is known.
 * @property {number} height
 * @property {number} dpr     Device pixels per CSS pixel.
 * @property {boolean} dark
 */

const MOST_PIXELS = 4e6;

/**
 * @param {number} height
 * @param {number} [least] Width in pixels below which the drawing is scrolled.
 * @returns {Frame}
 */
export function useFrame(height, least = 0) {
  const ref = useRef(/** @type {HTMLElement | null} */ (null));
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    const read = () => setWidth(Math.floor(element.clientWidth));
    read();
    const observer = new ResizeObserver(() => onFrame(read));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const wide = width ? Math.max(width, least) : 0;
  const dpr = Math.min(globalThis.devicePixelRatio || 1, Math.max(1, Math.sqrt(MOST_PIXELS / (wide * height || 1))));
  return { ref, width: wide, height, dpr, dark: isDark.value };
}

/**
 * A model whose pixels are painted; the one before is returned until they are, so that axes and pixels
 * always belong together. While one is painted, the newest of all others waits.
 * @template {{job: import("./pixels.js").Job | null}} M
 * @param {Frame} frame
 * @param {() => M | null} make  Of the newest data; called once per painting.
 * @param {unknown[]} deps       What it depends on, beside the frame.
 * @returns {(M & {image: HTMLCanvasElement | null}) | null}
 */
export function usePainted(frame, make, deps) {
  const [shown, setShown] = useState(/** @type {(M & {image: HTMLCanvasElement | null}) | null} */ (null));
  const latest = useRef(make);
  const state = useRef({ isBusy: false, isStale: false, isGone: false });
  latest.current = make;
  const [start] = useState(() => () => {
    const { current } = state;
    if (current.isGone) return;
    if (current.isBusy) {
      current.isStale = true;
      return;
    }
    current.isStale = false;
    const model = latest.current();
    if (!model?.job) {
      setShown(model && { ...model, image: null });
      return;
    }
    current.isBusy = true;
    const { width, height } = model.job;
    paint(model.job).then((pixels) => {
      current.isBusy = false;
      if (current.isGone) return;
      setShown({ ...model, job: null, image: imageOf(pixels, width, height) });
      if (current.isStale) onFrame(start);
    });
  });
  useEffect(() => {
    if (frame.width) onFrame(start);
  }, [frame.width, frame.height, frame.dpr, frame.dark, ...deps]);
  useEffect(() => {
    state.current.isGone = false;
    return () => void (state.current.isGone = true);
  }, []);
  return shown;
}

/**
 * @param {Uint8ClampedArray} pixels
 * @param {number} width
 * @param {number} height
 */
function imageOf(pixels, width, height) {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  context?.putImageData(new ImageData(/** @type {any} */ (pixels), width, height), 0, 0);
  return canvas;
}

/**
 * @typedef {object} Spot  A mark that is pointed at.
 * @property {number} x      In CSS pixels of the drawing.
 * @property {number} y
 * @property {() => string[]} lines  Its text.
 * @property {number} [row]    The trial's row, if it is one.
 */

/**
 * @typedef {object} ChartProps
 * @property {Frame} frame
 * @property {string} label  For screen readers.
 * @property {(ctx: CanvasRenderingContext2D) => void} draw
 * @property {unknown[]} deps  Redrawn when one of them changes.
 * @property {(x: number, y: number) => Spot | null} [find]
 * @property {(from: Spot | null, key: string) => Spot | null} [step]  For arrow keys.
 * @property {Spot | null} [spot]
 * @property {(spot: Spot | null) => void} [onSpot]
 * @property {(spot: Spot) => void} [onPick]
 * @property {(ctx: CanvasRenderingContext2D) => void} [over]  Draws above everything, often.
 * @property {unknown[]} [overDeps]
 * @property {(event: PointerEvent, x: number, y: number) => boolean} [onDrag] True takes the pointer.
 * @property {any} [children]
 */

/** @param {ChartProps} props */
export function Chart({ frame, label, draw, deps, find, step, spot, onSpot, onPick, over, overDeps = [], onDrag, children }) {
  const base = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const top = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  useCanvas(base, frame, draw, deps);
  useCanvas(top, frame, (ctx) => {
    over?.(ctx);
    if (!spot) return;
    ctx.strokeStyle = frame.dark ? "#fff" : "#000";
    ctx.lineWidth = 2;
    ctx.beginPath();
    ctx.arc(spot.x, spot.y, 6, 0, 7);
    ctx.stroke();
  }, [spot?.x, spot?.y, ...overDeps]);
  const place = (/** @type {PointerEvent} */ event) => {
    const box = /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect();
    return /** @type {const} */ ([event.clientX - box.left, event.clientY - box.top]);
  };
  const isMoved = useRef(false);
  const leave = useRef(onSpot);
  leave.current = onSpot;
  useEffect(() => () => leave.current?.(null), []);
  const move = (/** @type {PointerEvent} */ event) => {
    const [x, y] = place(event);
    const next = find?.(x, y) ?? null;
    if (next?.x !== spot?.x || next?.y !== spot?.y || next?.row !== spot?.row) onSpot?.(next);
  };
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter" && spot) onPick?.(spot);
    else if (event.key === "Escape" && spot) onSpot?.(null);
    else if (event.key.startsWith("Arrow") && step) {
      const next = step(spot ?? null, event.key);
      if (next) onSpot?.(next);
    } else return;
    event.preventDefault();
  };
  const size = { width: `${frame.width}px`, height: `${frame.height}px` };
  return html`<div class="plot" ref=${frame.ref}>
    <div class="plot-body" style=${frame.width ? size : { height: size.height }} tabindex=${step ? 0 : undefined}
      role=${step ? "application" : "img"} aria-label=${label} onKeyDown=${onKey}
      onPointerMove=${(/** @type {PointerEvent} */ event) => find && move(event)}
      onPointerLeave=${() => spot && onSpot?.(null)}
      onPointerDown=${(/** @type {PointerEvent} */ event) => (isMoved.current = !!onDrag?.(event, ...place(event)))}
      onClick=${(/** @type {PointerEvent} */ event) => {
        const found = !isMoved.current && find?.(...place(event));
        if (found) onPick?.(found);
      }}>
      <canvas ref=${base} aria-hidden="true" /><canvas ref=${top} aria-hidden="true" />
      ${spot && html`<${Tip} spot=${spot} />`}
      ${children}
    </div>
  </div>`;
}

/**
 * The text of a mark, beside it and inside of the window: the plot may be scrolled and clips its content.
 * @param {{spot: Spot}} props
 */
function Tip({ spot }) {
  const ref = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    const tip = ref.current;
    const plot = tip?.parentElement?.getBoundingClientRect();
    if (!tip || !plot) return;
    const { width, height } = tip.getBoundingClientRect();
    const [x, y] = [plot.left + spot.x, plot.top + spot.y];
    const right = x + 14 + width < innerWidth ? x + 14 : x - 14 - width;
    tip.style.left = `${Math.max(4, Math.min(innerWidth - width - 4, right))}px`;
    tip.style.top = `${Math.max(4, Math.min(innerHeight - height - 4, y + 10))}px`;
  });
  useEffect(() => {
    if (spot.row !== undefined) wantExact(table.value, spot.row);
  }, [spot.row]);
  return html`<div class="plot-tip" role="status" ref=${ref}>
    ${spot.lines().map((line, i) => html`<div class=${i ? "" : "plot-tip-head"} dir="auto">${line}</div>`)}
  </div>`;
}

/**
 * @param {{current: HTMLCanvasElement | null}} ref
 * @param {Frame} frame
 * @param {(ctx: CanvasRenderingContext2D) => void} draw
 * @param {unknown[]} deps
 */
function useCanvas(ref, frame, draw, deps) {
  const latest = useRef(draw);
  latest.current = draw;
  const [redraw] = useState(() => () => {
    const canvas = ref.current;
    const context = canvas?.getContext("2d");
    if (!canvas || !context) return;
    const { width, height, dpr } = sizes.current;
    if (canvas.width !== Math.round(width * dpr)) canvas.width = Math.round(width * dpr);
    if (canvas.height !== Math.round(height * dpr)) canvas.height = Math.round(height * dpr);
    context.setTransform(dpr, 0, 0, dpr, 0, 0);
    context.clearRect(0, 0, width, height);
    latest.current(context);
  });
  const sizes = useRef(frame);
  sizes.current = frame;
  useEffect(() => {
    if (!frame.width) return undefined;
    return onFrame(redraw);
  }, [frame.width, frame.height, frame.dpr, frame.dark, ...deps]);
}
