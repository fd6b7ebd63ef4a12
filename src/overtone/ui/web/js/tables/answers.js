/** An answer of the server that is asked for again when what it depends on changes. */

import { useEffect, useRef, useState } from "../html.js";

/** Between two questions of which the second one only brings news. */
const QUIET_MS = 1000;

/**
 * @template T
 * @typedef {{data: T | null, error: any, isLoading: boolean, reload: () => void}} Answer
 */

/**
 * Asks once for each subject, and again for news; an older answer stays until the newer one is there.
 * @template T
 * @param {() => Promise<T>} ask
 * @param {string} subject what is asked about: a change of it forgets the answer
 * @param {unknown} news a change of it asks again, at most once a second
 * @returns {Answer<T>}
 */
export function useAnswer(ask, subject, news) {
  const [answer, setAnswer] = useState({ subject: "", data: /** @type {T | null} */ (null), error: /** @type {any} */ (null) });
  const [wish, setWish] = useState(0);
  const state = useRef({ subject: "", at: 0, running: false, again: false, timer: 0 });

  useEffect(() => {
    const now = state.current;
    const isNew = now.subject !== subject;
    now.subject = subject;
    if (isNew) now.running = false;
    const start = () => {
      clearTimeout(now.timer);
      if (now.running) {
        now.again = true;
        return;
      }
      const wait = isNew ? 0 : Math.max(0, now.at + QUIET_MS - performance.now());
      now.timer = Number(setTimeout(run, wait));
    };
    const run = async () => {
      now.running = true;
      now.again = false;
      now.at = performance.now();
      const outcome = await ask().then((data) => ({ data, error: null }), (error) => ({ data: null, error })); // prettier-ignore
      if (now.subject !== subject) return;
      now.running = false;
      setAnswer((before) => ({ subject, ...outcome, data: outcome.data ?? (before.subject === subject ? before.data : null) }));
      if (now.again) start();
    };
    start();
  }, [subject, news, wish]);
  useEffect(() => () => {
    clearTimeout(state.current.timer);
    state.current.subject = "(closed)";
  }, []); // prettier-ignore

  const isOwn = answer.subject === subject;
  return {
    data: isOwn ? answer.data : null,
    error: isOwn ? answer.error : null,
    isLoading: !isOwn,
    reload: () => setWish((n) => n + 1),
  };
}
