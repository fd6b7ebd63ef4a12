/** The one door to the vendored modules: everything else imports from here. */
import { h, render } from "preact";
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Signal, batch, computed, effect, signal, untracked } from "@preact/signals";
import htm from "htm";
import { printable } from "./format.js";

/** Attributes whose text is shown. */
const SHOWN = ["title", "aria-label"];

/**
 * Make an element whose texts neither turn the direction of what stands beside them nor hide anything: names,
 * values and output of users come by here, and nowhere else into the page.
 *
 * htm would keep elements without values for ever, and by their parents the page as it was when they were first drawn,
 * and with it each later one: a child that is kept from tree to tree refers to its parent in the last of them.
 *
 * @this {any[]} What htm knows of the element; a 3 at 0 says that it has values.
 * @param {any} type
 * @param {Record<string, any> | null} props
 * @param {any[]} children
 */
function element(type, props, ...children) {
  this[0] = 3;
  if (typeof type === "string" && props) {
    for (const name of SHOWN) if (typeof props[name] === "string") props[name] = printable(props[name]);
  }
  return h(type, props, ...children.map(inert));
}

/** @param {any} child @returns {any} */
function inert(child) {
  if (typeof child === "string") return printable(child);
  return Array.isArray(child) ? child.map(inert) : child;
}

/**
 * Tagged template for elements: html`<${Button} label="x" />`. Text becomes text nodes, never markup.
 * @type {(strings: TemplateStringsArray, ...values: any[]) => any}
 */
const html = htm.bind(/** @type {any} */ (element));

export { html, render };
export { useEffect, useId, useLayoutEffect, useMemo, useRef, useState };
export { Signal, batch, computed, effect, signal, untracked };
