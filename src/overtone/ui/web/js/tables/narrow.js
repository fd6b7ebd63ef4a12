/** Whether the window is too narrow for a table of many columns. */

import { useEffect, useState } from "../html.js";

/** @returns {boolean} */
export function useNarrow() {
  const [query] = useState(() => matchMedia("(max-width: 639px)"));
  const [isNarrow, setNarrow] = useState(query.matches);
  useEffect(() => {
    const follow = () => setNarrow(query.matches);
    query.addEventListener("change", follow);
    return () => query.removeEventListener("change", follow);
  }, []);
  return isNarrow;
}
