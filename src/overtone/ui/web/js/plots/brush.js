/** What was brushed, as a filter expression that the trials' table shows and can be edited. */

import { setFilter } from "../tables/filter/live.js";
import { brushText } from "./brush_text.js";

/**
 * @param {import("../data/table.js").Table} table
 * @param {import("./brush_text.js").Range[]} ranges
 */
export function brushTo(table, ranges) {
  setFilter(brushText(table, ranges));
}
