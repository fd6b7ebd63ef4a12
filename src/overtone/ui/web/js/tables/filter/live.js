/** The filter that all views share: its text, and its mask, which follows the table. */

import { effect, untracked } from "../../html.js";
import { filter, table } from "../../state.js";
import { FilterError } from "./filter_error.js";
import { applyFilter, filterable } from "./filter.js";

/**
 * Filters the trials of all views.
 * @param {string} text
 * @throws {FilterError} and leaves the filter as it was
 */
export function setFilter(text) {
  filter.value = { text, ...applyFilter(text, filterable(table.value)) };
}

/**
 * Applies the filter again whenever the table changes.
 * @returns {() => void} ends that
 */
export function followFilter() {
  return effect(() => {
    table.value.version.value;
    const { text } = untracked(() => filter.value);
    try {
      setFilter(text);
    } catch (error) {
      if (!(error instanceof FilterError)) throw error;
      filter.value = { text, mask: null, count: table.value.length };
    }
  });
}
