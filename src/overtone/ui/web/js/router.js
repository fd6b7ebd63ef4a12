/** The address after "#", as data and back. */

/**
 * @typedef {{view: string, experiment: string, trial: string, query: Record<string, string>}} Route
 */

/** The views of an experiment, in the order of the navigation; "trial" is reached from the others. */
export const VIEWS = [
  "overview", "trials", "history", "parallel", "importance", "relations", "timeline", "rungs", "decisions",
  "machines", "compare", "trial",
];

/**
 * @param {string} hash Such as "#/e/digits/trial/00003?metric=loss".
 * @returns {Route} The list of experiments for an address that is none.
 */
export function parse(hash) {
  const [path, search = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [kind, experiment = "", view = "", trial = ""] = path.split("/").map(decoded);
  const query = Object.fromEntries(new URLSearchParams(search));
  if (kind !== "e" || !experiment) return { view: "experiments", experiment: "", trial: "", query };
  const known = VIEWS.includes(view) && (view !== "trial" || trial !== "");
  return { view: known ? view : "overview", experiment, trial: known ? trial : "", query };
}

/**
 * @param {Partial<Route>} route
 * @returns {string} The address, with "#".
 */
export function format({ view = "overview", experiment = "", trial = "", query = {} }) {
  const search = new URLSearchParams(query).toString();
  const parts = experiment ? ["e", experiment, view, ...(trial ? [trial] : [])] : [];
  return `#/${parts.map(encodeURIComponent).join("/")}${search ? `?${search}` : ""}`;
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // typed by hand, with a lone "%"
  }
}
