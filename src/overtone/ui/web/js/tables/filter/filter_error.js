/** The only error of the filter: where it is, and what was expected there. */

export class FilterError extends Error {
  /**
   * @param {string} key name of the message below "tables.filter." in the dictionaries
   * @param {{start: number, end: number}} place in the expression, in UTF-16 units
   * @param {Record<string, string | number>} [values] of the message
   * @param {string} [nearest] what was probably meant, as it is written in an expression
   */
  constructor(key, place, values = {}, nearest = "") {
    super(`${key} at ${place.start}: ${JSON.stringify(values)}`);
    this.name = "FilterError";
    this.key = key;
    this.values = values;
    this.start = place.start;
    this.end = place.end;
    this.nearest = nearest;
  }
}
