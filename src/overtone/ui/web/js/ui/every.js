/** Repeated work that rests while nobody looks. */
import { useEffect, useRef, useState } from "../html.js";

/**
 * Call `work` now and every `seconds` while the page is seen, one call at a time.
 *
 * @param {() => void | Promise<any>} work
 * @param {number} seconds 0 for never again.
 * @param {any[]} deps Values whose change begins anew.
 */
export function useEvery(work, seconds, deps) {
  const latest = useRef(work);
  latest.current = work;
  useEffect(() => {
    let isOver = false;
    /** @type {any} */
    let timer = 0;
    async function run() {
      clearTimeout(timer);
      if (!document.hidden) await latest.current();
      if (!isOver && seconds > 0) timer = setTimeout(run, seconds * 1000);
    }
    run();
    const onVisible = () => !document.hidden && seconds > 0 && run();
    document.addEventListener("visibilitychange", onVisible);
    return () => {
      isOver = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisible);
    };
  }, [seconds, ...deps]);
}

/** Draw the component again each second. @param {boolean} isOn */
export function useSeconds(isOn) {
  const [, tick] = useState(0);
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(() => tick((n) => n + 1), 1000);
    return () => clearInterval(timer);
  }, [isOn]);
}
