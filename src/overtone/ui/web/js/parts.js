/** Scripts of the page that are fetched when they are first needed. */
import { signal } from "./html.js";

/** The guide of `overtone demo`, once its script has run. @type {import("./html.js").Signal<(() => any) | null>} */
export const guideView = signal(null);

/** @type {Map<string, Promise<void>>} */
const fetched = new Map();

/**
 * Fetch and run a script, once. Its modules see those of the page's own script.
 *
 * @param {string} path Such as "zh.js".
 * @returns {Promise<void>} Rejected if it cannot be had; the next call tries again.
 */
export function fetchPart(path) {
  const promise = fetched.get(path) ?? new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = path;
    script.onload = () => resolve(undefined);
    script.onerror = () => {
      script.remove();
      fetched.delete(path);
      reject(new Error(path));
    };
    document.head.append(script);
  });
  fetched.set(path, promise);
  return promise;
}
